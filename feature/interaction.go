package feature

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Interaction is the products of two or more inputs, numbers or categories: one
// weight for every combination of the levels of its categories, whose feature is the
// product of its numbers in rows of that combination and 0 elsewhere. The levels
// of the last category vary fastest.
type Interaction struct {
	Name   string `json:"name"` // as the formula writes it, for example "size:zip"
	Inputs []int  `json:"inputs"`
	// Uncentred says that the numbers are multiplied without centring, column/Scale, so that
	// the product is that of the data's own columns up to a factor: see [Set.Hierarchical].
	Uncentred bool `json:"uncentred,omitempty"`
}

// Kind implements [Term].
func (*Interaction) Kind() string { return "interaction" }

// Label implements [Term].
func (t *Interaction) Label() string { return t.Name }

// Bind implements [Term].
func (t *Interaction) Bind(in *Inputs) (Map, error) {
	if len(t.Inputs) < 2 {
		return nil, fmt.Errorf("feature: %s is a product of %d inputs: give at least two", t.Name, len(t.Inputs))
	}
	m := &interactionMap{combinations: 1, uncentred: t.Uncentred}
	seen := make(map[int]bool)
	for _, index := range t.Inputs {
		input, err := inputAt(in, t.Name, index)
		if err != nil {
			return nil, err
		}
		if seen[index] {
			return nil, fmt.Errorf("feature: %s has %s twice: name it once, or use poly(%s, 2)", t.Name, input.Name, input.Name)
		}
		seen[index] = true
		m.indices, m.inputs = append(m.indices, index), append(m.inputs, *input)
		if input.Kind != credence.Category {
			factor := scaledNumber{input: index}
			if t.Uncentred {
				factor.origin = input.Center * (1 / scaleOf(input))
			}
			m.numbers = append(m.numbers, factor)
			continue
		}
		m.categories = append(m.categories, category{index: index, input: *input})
		if len(input.Levels) == 0 {
			return nil, fmt.Errorf("feature: %s: %s has no levels: leave the term out", t.Name, input.Name)
		}
		if m.combinations > math.MaxInt32/len(input.Levels) {
			return nil, fmt.Errorf("feature: %s has more than %d combinations of levels: use hash(...)", t.Name, math.MaxInt32)
		}
		m.combinations *= len(input.Levels)
	}
	if len(m.categories) == 0 {
		return &productMap{m}, nil
	}
	return m, nil
}

// interactionMap has a category among its inputs.
type interactionMap struct {
	indices      []int // all inputs, as the formula orders them
	inputs       []Input
	numbers      []scaledNumber
	categories   []category
	combinations int
	uncentred    bool
}

// scaledNumber is a factor of a product: the input, plus what takes its centring back.
type scaledNumber struct {
	input  int
	origin float64
}

func (m *interactionMap) Columns() (dense, sparse int) { return 0, m.combinations }

func (m *interactionMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

func (m *interactionMap) Ones(*credence.Batch) bool { return len(m.numbers) == 0 }

func (m *interactionMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	x := rows.X.Row(i)
	combination := 0
	for k := range m.categories {
		c := &m.categories[k]
		level := code(x[c.index], len(c.input.Levels))
		if level < 0 {
			return
		}
		combination = combination*len(c.input.Levels) + level
	}
	value := m.product(x)
	if value == 0 {
		return
	}
	dst.Index = append(dst.Index, first+int32(combination))
	if !ones {
		dst.Value = append(dst.Value, value)
	}
}

func (m *interactionMap) groups() []group {
	g := group{uncentred: m.uncentred}
	for _, factor := range m.numbers {
		g.numbers = append(g.numbers, power{factor.input, 1})
	}
	for _, c := range m.categories {
		g.categories = append(g.categories, c.index)
	}
	return []group{g}
}

// product multiplies the numbers of a row.
func (m *interactionMap) product(x []float64) float64 {
	value := 1.0
	for _, factor := range m.numbers {
		value = saturate(value * (x[factor.input] + factor.origin))
	}
	return value
}

// WeightName joins the inputs in the order of the formula: "size:zip=94110".
func (m *interactionMap) WeightName(j int) string {
	parts := make([]string, len(m.inputs))
	for k := len(m.inputs) - 1; k >= 0; k-- {
		input := &m.inputs[k]
		if input.Kind != credence.Category {
			parts[k] = input.Name
			continue
		}
		parts[k] = levelName(input, j%len(input.Levels))
		j /= len(input.Levels)
	}
	return strings.Join(parts, ":")
}

// productMap is an interaction of numbers alone: one dense column.
type productMap struct{ *interactionMap }

func (m *productMap) Columns() (dense, sparse int) { return 1, 0 }

func (m *productMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range dst.Rows {
		dst.Row(i)[0] = m.product(rows.X.Row(i))
	}
}
