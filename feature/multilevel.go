package feature

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

// Multilevel is a term such as (1 + x | g): for every level of a group of rows a weight for each of k columns, whose
// covariance over the levels is learned. Weights stand level by level. A level that training did not have
// has weights of that law.
type Multilevel struct {
	Name string `json:"name"` // as formulas write it, "(1 + x | g:h)"
	// Key are categories: their levels, or the combinations of their levels, are the groups.
	Key []int `json:"key"`
	// Columns are the columns that vary by group: products of inputs, none being 1. One with a category is a column for
	// each of its levels.
	Columns [][]int `json:"columns"`
	// Part says which of the columns of the one product the term has, from 1; 0 means all.
	Part int `json:"part,omitempty"`
	// Met are the combinations of several categories that training has, increasing.
	Met []int32 `json:"met,omitempty"`
	// SD, Held and Correlations are those of [ability.Covariance].
	SD           []float64 `json:"sd,omitempty"`
	Held         bool      `json:"held,omitempty"`
	Correlations []float64 `json:"correlations,omitempty"`
	// Off leaves the effects of all groups at 0, without a variance: rows are those of a typical group.
	Off bool `json:"-"`
}

// MostColumns is the largest number of columns that vary together.
const MostColumns = 8

// Kind implements [Term].
func (*Multilevel) Kind() string { return "multilevel" }

// Label implements [Term].
func (t *Multilevel) Label() string { return t.Name }

// Bind implements [Term].
func (t *Multilevel) Bind(in *Inputs) (Map, error) {
	m, err := t.bind(in)
	if err != nil {
		return nil, err
	}
	if len(t.Key) > 1 && (len(t.Met) == 0 || t.Met[0] < 0 || int(t.Met[len(t.Met)-1]) >= m.key.combinations || !increasing(t.Met)) {
		return nil, fmt.Errorf("feature: %s lists %d combinations, which are not increasing numbers below %d", t.Name, len(t.Met), m.key.combinations)
	}
	return m, nil
}

func (t *Multilevel) bind(in *Inputs) (*multilevelMap, error) {
	m := &multilevelMap{term: t}
	key, err := interactionOf(in, t.Name, t.Key, true)
	if err != nil {
		return nil, err
	}
	if m.key = key; len(key.numbers) > 0 || len(key.categories) == 0 {
		return nil, fmt.Errorf("feature: %s: groups are levels of categories: declare them", t.Name)
	}
	constant := slices.ContainsFunc(t.Columns, func(c []int) bool { return len(c) == 0 })
	for _, inputs := range t.Columns {
		// With a constant beside it a column may be centred: the covariances are the same family.
		product, err := interactionOf(in, t.Name, inputs, !constant || len(inputs) > 1)
		if err != nil {
			return nil, err
		}
		m.columns = append(m.columns, varyingColumns{product, m.count})
		m.count += product.combinations
	}
	if t.Part != 0 {
		if len(t.Columns) > 1 || t.Part < 0 || t.Part > m.count {
			return nil, fmt.Errorf("feature: %s is column %d of %d", t.Name, t.Part, m.count)
		}
		m.count = 1
	}
	if m.count == 0 || m.count > MostColumns {
		return nil, fmt.Errorf("%s: %d columns vary together by group, and up to %d can: write || in the place of |, or the levels of a category as groups, (1 | g:f)", t.Name, m.count, MostColumns)
	}
	return m, nil
}

// Split returns a term for each level of the category that varies, or the term itself where none does.
func (t *Multilevel) Split(in *Inputs) (parts []*Multilevel) {
	m, err := interactionOf(in, t.Name, t.Columns[0], true)
	if err != nil || len(m.categories) == 0 {
		return []*Multilevel{t}
	}
	_, group, _ := strings.Cut(t.Name, " | ")
	for at := range m.combinations {
		part := *t
		part.Part = at + 1
		part.Name = "(0 + " + m.WeightName(at) + " | " + group
		parts = append(parts, &part)
	}
	return parts
}

// OfRows returns the term with the combinations of categories that the batches have. One group is refused.
func (t *Multilevel) OfRows(in *Inputs, batches iter.Seq2[*credence.Batch, error]) (*Multilevel, error) {
	m, err := t.bind(in)
	if err != nil {
		return nil, err
	}
	of := *t
	if m.term = &of; len(t.Key) > 1 {
		if of.Met, err = m.key.met(batches); err != nil {
			return nil, err
		}
	}
	if m.levels() == 1 {
		return nil, fmt.Errorf("%s: %s has one level in training, %s: leave the term out", t.Name, m.key.key(), m.levelName(0))
	}
	return &of, nil
}

// multilevelMap is a bound term of groups.
type multilevelMap struct {
	term    *Multilevel
	key     *interactionMap
	columns []varyingColumns
	count   int // of columns
}

// varyingColumns are a product that varies by group: a column, or one for each combination of levels.
type varyingColumns struct {
	*interactionMap
	first int
}

// levels is the number of groups.
func (m *multilevelMap) levels() int {
	if len(m.term.Key) > 1 {
		return len(m.term.Met)
	}
	return m.key.combinations
}

// level is the group of a row, -1 of one that training did not have.
func (m *multilevelMap) level(x []float64) int {
	level := m.key.combination(x)
	if len(m.term.Key) > 1 {
		at, met := slices.BinarySearch(m.term.Met, level)
		if level = int32(at); !met {
			level = -1
		}
	}
	return int(level)
}

// entries visits the columns of a row that are not 0.
func (m *multilevelMap) entries(x []float64, visit func(column int, value float64)) {
	for _, c := range m.columns {
		if at := c.combination(x); at >= 0 && (m.term.Part == 0 || int(at) == m.term.Part-1) {
			if m.term.Part != 0 {
				at = 0
			}
			if value := productOf(c.numbers, x); value != 0 {
				visit(c.first+int(at), value)
			}
		}
	}
}

func (m *multilevelMap) Columns() (dense, sparse int) { return 0, m.levels() * m.count }

func (m *multilevelMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

func (m *multilevelMap) Ones(*credence.Batch) bool {
	return !slices.ContainsFunc(m.columns, func(c varyingColumns) bool { return len(c.numbers) > 0 })
}

func (m *multilevelMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	x := rows.X.Row(i)
	level := m.level(x)
	if level < 0 || m.term.Off {
		return
	}
	m.entries(x, func(column int, value float64) {
		dst.Index = append(dst.Index, first+int32(level*m.count+column))
		if !ones {
			dst.Value = append(dst.Value, value)
		}
	})
}

// unseen is the sum of squares of a row whose group training did not have.
func (m *multilevelMap) unseen(rows *credence.Batch, i int) (sum float64) {
	x := rows.X.Row(i)
	if m.term.Off || m.level(x) >= 0 {
		return 0
	}
	m.entries(x, func(_ int, value float64) { sum = saturate(sum + saturate(value*value)) })
	return sum
}

// addUnseen adds the variance of the effects of groups that training did not have, by the law of all groups.
func (m *multilevelMap) addUnseen(variance []float64, rows *credence.Batch, prior credence.UnseenPrior, block credence.Block) {
	law, ok := prior.(ability.UnseenLevels)
	if m.count == 1 || !ok {
		ability.AddUnseenSquares(variance, func(i int) float64 { return m.unseen(rows, i) }, prior, block)
		return
	}
	z := make([]float64, m.count)
	for i := range variance {
		if x := rows.X.Row(i); !m.term.Off && m.level(x) < 0 {
			clear(z)
			m.entries(x, func(column int, value float64) { z[column] = value })
			variance[i] = math.Min(variance[i]+law.UnseenForm(block, z), math.MaxFloat64)
		}
	}
}

// levelName names a group, "g=a:h=b".
func (m *multilevelMap) levelName(level int) string {
	if len(m.term.Key) > 1 {
		level = int(m.term.Met[level])
	}
	return m.key.WeightName(level)
}

// column returns the product that a column is of, and its place within it.
func (m *multilevelMap) column(j int) (of *varyingColumns, at int) {
	k := len(m.columns) - 1
	for m.columns[k].first > j {
		k--
	}
	return &m.columns[k], j - m.columns[k].first
}

// columnName names a column that varies by group, "" for the constant.
func (m *multilevelMap) columnName(j int) string {
	of, at := m.column(j)
	return of.WeightName(at + max(0, m.term.Part-1))
}

// WeightName is the group with the column before it: "x:g=a".
func (m *multilevelMap) WeightName(j int) string {
	name, column := m.levelName(j/m.count), m.columnName(j%m.count)
	if column == "" {
		return name
	}
	return column + ":" + name
}

// own returns the k×k matrix by which weights of a level, in the units of the data's own columns, are made of fitted
// ones: (x − m)/s·b = x·b/s − m/s·b, of which the last is the constant's.
func (m *multilevelMap) own() []float64 {
	own := make([]float64, m.count*m.count)
	constant := slices.IndexFunc(m.columns, func(c varyingColumns) bool { return len(c.inputs) == 0 })
	for j := range m.count {
		of, _ := m.column(j)
		scale := 1.0
		for _, n := range of.numbers {
			scale *= n.scale
		}
		own[j*m.count+j] = saturate(1 / scale)
		if !of.uncentred && len(of.numbers) == 1 && len(of.categories) == 0 {
			own[m.columns[constant].first*m.count+j] = saturate(-of.numbers[0].center / scale)
		}
	}
	return own
}

// expandLevels takes centring and scaling of columns that vary by group back.
func (s *Set) expandLevels(rows [][]part) {
	for k := range s.terms {
		m, ok := s.terms[k].mapped.(*multilevelMap)
		if !ok {
			continue
		}
		own, first := m.own(), s.first(&s.terms[k])
		for at := range m.levels() * m.count {
			level, i := at-at%m.count, at%m.count
			for j, factor := range own[i*m.count : (i+1)*m.count] {
				if factor != 0 {
					rows[first+at] = append(rows[first+at], part{first + level + j, factor})
				}
			}
		}
	}
}

// Covariances implements [ability.Covaried].
func (s *Set) Covariances() (list []ability.Covariance) {
	for k := range s.terms {
		m, ok := s.terms[k].mapped.(*multilevelMap)
		if !ok {
			continue
		}
		t := m.term
		c := ability.Covariance{Block: k, Key: m.key.key(), Levels: m.levels(), SD: t.SD, Held: t.Held, Correlations: t.Correlations, Own: m.own()}
		for j := range m.count {
			c.Columns = append(c.Columns, cmp.Or(m.columnName(j), constant))
		}
		list = append(list, c)
	}
	return list
}

var _ ability.Covaried = (*Set)(nil)
