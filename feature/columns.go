package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

// Kept is a block of columns that no engine selects among: their weights are normal under every prior,
// with a variance of their own.
type Kept struct {
	Name   string `json:"name"`   // as the formula writes it
	Inputs []int  `json:"inputs"` // numbers and categories
}

// Group is a block of columns that are in a model or out of it together, under a prior that selects.
type Group struct {
	Name   string `json:"name"`   // as the formula writes it
	Inputs []int  `json:"inputs"` // numbers and categories
}

// Kind implements [Term].
func (*Kept) Kind() string { return "kept" }

// Label implements [Term].
func (t *Kept) Label() string { return t.Name }

// Bind implements [Term].
func (t *Kept) Bind(in *Inputs) (Map, error) { return bindColumns(in, t.Name, t.Inputs) }

// Kind implements [Term].
func (*Group) Kind() string { return "group" }

// Label implements [Term].
func (t *Group) Label() string { return t.Name }

// Bind implements [Term].
func (t *Group) Bind(in *Inputs) (Map, error) { return bindColumns(in, t.Name, t.Inputs) }

// bindColumns is a map of plain columns. Numbers beside categories are stored among the sparse columns,
// since one term of a set alone may have both sorts.
func bindColumns(in *Inputs, label string, inputs []int) (Map, error) {
	m := &linearMap{}
	if err := m.take(in, label, inputs); err != nil {
		return nil, err
	}
	if len(m.numbers)+m.levels == 0 {
		return nil, fmt.Errorf("feature: %s has no columns: leave the term out", label)
	}
	m.mixed = len(m.numbers) > 0 && m.levels > 0
	return m, nil
}

// Groups implements [credence.Grouped]: the weights of a group, and those of the levels of a category
// or of a product with one, and those of a spline, wherever they are not kept.
func (s *Set) Groups() []credence.Block {
	var list []credence.Block
	for k := range s.terms {
		b := &s.terms[k]
		block := s.block(b)
		switch m := b.mapped.(type) {
		case *interactionMap, *splineMap, *cyclicMap:
			list = append(list, block)
		case *linearMap:
			switch b.term.(type) {
			case *Group, *OneHot:
				list = append(list, block)
			case *Linear:
				for _, c := range m.categories {
					list = append(list, credence.Block{Name: c.input.Name, First: block.First + len(m.numbers) + c.first, Count: len(c.input.Levels)})
				}
			}
		}
	}
	return list
}

var _ credence.Grouped = (*Set)(nil)

// met tells the combinations of levels that training has from all of them, whose numbers are others.
const met = " that are met"

// LevelRuns implements [ability.Keyed]: of the levels of a category, of the products of levels, and of the keys of one
// of either, a row has one at most.
func (s *Set) LevelRuns() (runs []ability.LevelRun) {
	for k := range s.terms {
		b := &s.terms[k]
		run := ability.LevelRun{First: s.first(b) + b.dense, Levels: b.sparse, Columns: 1}
		switch m := b.mapped.(type) {
		case *interactionMap:
			run.Key = m.key()
			runs = append(runs, run)
		case *metMap:
			run.Key = m.all.key() + met
			runs = append(runs, run)
		case *multilevelMap:
			run.Key, run.Levels, run.Columns = m.key.key(), m.levels(), m.count
			if len(m.term.Key) > 1 {
				run.Key += met
			}
			runs = append(runs, run)
		case *linearMap:
			for _, c := range m.categories {
				runs = append(runs, ability.LevelRun{Key: c.input.Name, First: s.first(b) + len(m.numbers) + c.first, Levels: len(c.input.Levels), Columns: 1})
			}
		case *hashMap:
			if run.Key = b.term.Label(); !m.term.Segment && len(m.crosses) == 1 {
				runs = append(runs, run)
			}
		}
	}
	return runs
}

// Intercept is the constant feature 1.
type Intercept struct{}

// Kind implements [Term].
func (*Intercept) Kind() string { return "intercept" }

// Label implements [Term].
func (*Intercept) Label() string { return "(intercept)" }

// Bind implements [Term].
func (*Intercept) Bind(*Inputs) (Map, error) { return interceptMap{}, nil }

type interceptMap struct{}

func (interceptMap) Columns() (dense, sparse int) { return 1, 0 }

func (interceptMap) Fill(_ *credence.Workspace, dst linop.Dense, _ *credence.Batch) {
	for i := range dst.Rows {
		dst.Row(i)[0] = 1
	}
}

func (interceptMap) WeightName(int) string { return "(intercept)" }

func (interceptMap) groups() []group { return []group{{}} }

// OneHot is one weight for every level of a category, as a block of its own.
type OneHot struct {
	Name  string `json:"name"` // as the formula writes it
	Input int    `json:"input"`
}

// Kind implements [Term].
func (*OneHot) Kind() string { return "onehot" }

// Label implements [Term].
func (t *OneHot) Label() string { return t.Name }

// Bind implements [Term].
func (t *OneHot) Bind(in *Inputs) (Map, error) {
	input, err := inputAt(in, t.Name, t.Input)
	if err != nil {
		return nil, err
	}
	if input.Kind != credence.Category {
		return nil, fmt.Errorf("feature: %s: %s is a %s: declare it a category", t.Name, input.Name, input.Kind)
	}
	if len(input.Levels) == 0 {
		return nil, fmt.Errorf("feature: %s: %s has no levels: leave the term out", t.Name, input.Name)
	}
	levels := len(input.Levels)
	return &linearMap{categories: []category{{index: t.Input, input: *input}}, levels: levels}, nil
}
