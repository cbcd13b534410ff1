package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Linear is the block of plain columns: numbers as they are, categories with one
// weight for every level (the prior makes the redundant one proper), and the
// columns of the sparse segment. Its weights stand in this order, whatever the
// order of Inputs.
type Linear struct {
	Inputs  []int   `json:"inputs,omitempty"`  // dense inputs, numbers and categories
	Segment bool    `json:"segment,omitempty"` // whether the sparse segment takes part
	Without []int32 `json:"without,omitempty"` // columns of the segment left out, increasing from 0
}

// Kind implements [Term].
func (*Linear) Kind() string { return "linear" }

// Label implements [Term].
func (*Linear) Label() string { return "linear" }

// ReadsSegment implements [SegmentReader].
func (t *Linear) ReadsSegment() bool { return t.Segment }

// Bind implements [Term].
func (t *Linear) Bind(in *Inputs) (Map, error) {
	m := &linearMap{}
	if err := m.take(in, "linear", t.Inputs); err != nil {
		return nil, err
	}
	var err error
	if m.segment, err = newSegment("linear", in, t.Segment, t.Without); err != nil {
		return nil, err
	}
	if dense, sparse := m.Columns(); dense+sparse == 0 {
		return nil, fmt.Errorf("feature: linear has no columns: leave the term out")
	}
	return m, nil
}

// take sorts inputs into numbers and categories.
func (m *linearMap) take(in *Inputs, label string, inputs []int) error {
	for _, index := range inputs {
		input, err := inputAt(in, label, index)
		if err != nil {
			return err
		}
		if input.Kind == credence.Category {
			m.categories = append(m.categories, category{index, m.levels, *input})
			m.levels += len(input.Levels)
			continue
		}
		m.numbers = append(m.numbers, index)
		m.inputs = append(m.inputs, *input)
	}
	return nil
}

type category struct {
	index int // input
	first int // place of its first level among the category columns
	input Input
}

// unseen is 1 where a row has a level that training did not have, which would be a column of its own, and 0 elsewhere.
func (c *category) unseen(x []float64) float64 {
	if code(x[c.index], len(c.input.Levels)) < 0 {
		return 1
	}
	return 0
}

type linearMap struct {
	numbers    []int // inputs that are numbers
	inputs     []Input
	categories []category
	levels     int // of all categories together
	segment    segment
	mixed      bool // the numbers are stored as the first of the sparse columns
}

func (m *linearMap) Columns() (dense, sparse int) {
	if m.mixed {
		return 0, len(m.numbers) + m.levels
	}
	return len(m.numbers), m.levels + m.segment.columns
}

func (m *linearMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range dst.Rows {
		row, x := dst.Row(i), rows.X.Row(i)
		for j, index := range m.numbers {
			row[j] = x[index]
		}
	}
}

func (m *linearMap) Ones(rows *credence.Batch) bool {
	return !m.mixed && (m.segment.columns == 0 || rows.Sparse.Value == nil)
}

func (m *linearMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	if len(m.categories) > 0 {
		x := rows.X.Row(i)
		if m.mixed {
			for j, index := range m.numbers {
				if x[index] != 0 {
					dst.Index, dst.Value = append(dst.Index, first+int32(j)), append(dst.Value, x[index])
				}
			}
			first += int32(len(m.numbers))
		}
		for k := range m.categories {
			c := &m.categories[k]
			if level := code(x[c.index], len(c.input.Levels)); level >= 0 {
				dst.Index = append(dst.Index, first+int32(c.first+level))
				if !ones {
					dst.Value = append(dst.Value, 1)
				}
			}
		}
	}
	if m.segment.columns == 0 {
		return
	}
	first += int32(m.levels)
	for c, v := range rows.Sparse.Each(i) {
		j := m.segment.place(int32(c))
		if j < 0 {
			continue
		}
		dst.Index = append(dst.Index, first+j)
		if !ones {
			dst.Value = append(dst.Value, v)
		}
	}
}

// copies says whether the entries are those of the sparse segment as it stands.
func (m *linearMap) copies() bool {
	return m.segment.columns > 0 && len(m.categories) == 0 && len(m.segment.without) == 0
}

func (m *linearMap) WeightName(j int) string {
	if j < len(m.numbers) {
		return m.inputs[j].Name
	}
	j -= len(m.numbers)
	if j >= m.levels {
		return m.segment.name(j - m.levels)
	}
	k := len(m.categories) - 1
	for m.categories[k].first > j {
		k--
	}
	c := &m.categories[k]
	return levelName(&c.input, j-c.first)
}

// levelName is the name of a level's weight, for example "zip=94110".
func levelName(input *Input, level int) string { return input.Name + "=" + input.Levels[level] }

// groups are the numbers and the categories; columns of the segment are never scaled.
func (m *linearMap) groups() []group {
	var all []group
	for j, index := range m.numbers {
		all = append(all, group{numbers: []power{{index, 1}}, first: j})
	}
	for _, c := range m.categories {
		all = append(all, group{categories: []int{c.index}, first: len(m.numbers) + c.first})
	}
	return all
}

// plain are the numbers, and a term for each category, whose further levels have a block of their own.
func (m *linearMap) plain(p Plain) (terms []Plain) {
	if len(m.numbers) > 0 {
		terms = append(terms, Plain{Kind: "numbers", First: p.First, Inputs: m.numbers})
	}
	for _, c := range m.categories {
		of := p
		of.First += len(m.numbers) + c.first
		of.Unseen.First, of.Unseen.Count = of.First, len(c.input.Levels)
		of.ofLevels(&interactionMap{categories: []category{c}}, nil, &interactionMap{})
		terms = append(terms, of)
	}
	return terms
}
