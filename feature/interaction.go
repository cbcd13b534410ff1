package feature

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
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
	// Met are the combinations that have a weight, increasing, where those that no training row has have
	// none; nil means all of them. Another combination has a weight of the prior, as a key of [Hash] has
	// that training did not meet.
	Met []int32 `json:"met,omitempty"`
}

// allCombinations is the largest number of combinations of levels that all have a weight, in training
// or not. Of more, most are in no row: their weights are their prior, and would cost as much as others.
const allCombinations = 4096

// Kind implements [Term].
func (*Interaction) Kind() string { return "interaction" }

// Label implements [Term].
func (t *Interaction) Label() string { return t.Name }

// Bind implements [Term].
func (t *Interaction) Bind(in *Inputs) (Map, error) {
	if len(t.Inputs) < 2 {
		return nil, fmt.Errorf("feature: %s is a product of %d inputs: give at least two", t.Name, len(t.Inputs))
	}
	m, err := interactionOf(in, t.Name, t.Inputs, t.Uncentred)
	if err != nil {
		return nil, err
	}
	if len(m.categories) == 0 {
		return &productMap{m}, nil
	}
	if last := len(t.Met) - 1; last < 0 {
		return m, nil
	} else if len(m.numbers) > 0 || t.Met[0] < 0 || int(t.Met[last]) >= m.combinations || !increasing(t.Met) {
		return nil, fmt.Errorf("feature: %s lists %d combinations, which are not increasing numbers below %d of categories alone", t.Name, last+1, m.combinations)
	}
	return &metMap{m, t.Met}, nil
}

// interactionOf is the product of inputs for the term of a label; of none it is 1.
func interactionOf(in *Inputs, label string, inputs []int, uncentred bool) (*interactionMap, error) {
	m := &interactionMap{combinations: 1, uncentred: uncentred}
	seen := make(map[int]bool)
	for _, index := range inputs {
		input, err := inputAt(in, label, index)
		if err != nil {
			return nil, err
		}
		if seen[index] {
			return nil, fmt.Errorf("feature: %s has %s twice: name it once, or use poly(%s, 2)", label, input.Name, input.Name)
		}
		seen[index] = true
		m.indices, m.inputs = append(m.indices, index), append(m.inputs, *input)
		if input.Kind != credence.Category {
			m.numbers = append(m.numbers, factorOf(input, index, uncentred))
			continue
		}
		m.categories = append(m.categories, category{index: index, input: *input})
		if len(input.Levels) == 0 {
			return nil, fmt.Errorf("feature: %s: %s has no levels: leave the term out", label, input.Name)
		}
		if m.combinations > math.MaxInt32/len(input.Levels) {
			return nil, fmt.Errorf("feature: %s has more than %d combinations of levels: use hash(...)", label, math.MaxInt32)
		}
		m.combinations *= len(input.Levels)
	}
	return m, nil
}

func increasing(x []int32) bool {
	for i := 1; i < len(x); i++ {
		if x[i] <= x[i-1] {
			return false
		}
	}
	return true
}

// OfRows returns the term with weights for the combinations alone that the batches have, if it is a product of
// categories with more than [allCombinations]; else the term itself.
func (t *Interaction) OfRows(in *Inputs, batches iter.Seq2[*credence.Batch, error]) (*Interaction, error) {
	bound, err := t.Bind(in)
	if err != nil {
		return nil, err
	}
	m, ok := bound.(*interactionMap)
	if !ok || len(m.numbers) > 0 || m.combinations <= allCombinations {
		return t, nil
	}
	of := *t
	of.Met, err = m.met(batches)
	return &of, err
}

// met returns the combinations that the batches have, increasing; nil where there are none.
func (m *interactionMap) met(batches iter.Seq2[*credence.Batch, error]) ([]int32, error) {
	met := map[int32]bool{}
	for rows, err := range batches {
		if err != nil {
			return nil, err
		}
		for i := range rows.Rows() {
			if combination := m.combination(rows.X.Row(i)); combination >= 0 {
				met[combination] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(met)), nil
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
	input         int
	origin        float64
	center, scale float64 // of the input
}

// factorOf is the factor that an input of numbers is.
func factorOf(input *Input, index int, uncentred bool) scaledNumber {
	factor := scaledNumber{input: index, center: input.Center, scale: scaleOf(input)}
	if uncentred {
		factor.origin = input.Center * (1 / scaleOf(input))
	}
	return factor
}

func (m *interactionMap) Columns() (dense, sparse int) { return 0, m.combinations }

func (m *interactionMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

func (m *interactionMap) Ones(*credence.Batch) bool { return len(m.numbers) == 0 }

func (m *interactionMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	x := rows.X.Row(i)
	combination := m.combination(x)
	if combination < 0 {
		return
	}
	value := productOf(m.numbers, x)
	if value == 0 {
		return
	}
	dst.Index = append(dst.Index, first+combination)
	if !ones {
		dst.Value = append(dst.Value, value)
	}
}

// combination is that of the levels of a row, -1 where training did not have one of them.
func (m *interactionMap) combination(x []float64) int32 {
	combination := 0
	for k := range m.categories {
		c := &m.categories[k]
		level := code(x[c.index], len(c.input.Levels))
		if level < 0 {
			return -1
		}
		combination = combination*len(c.input.Levels) + level
	}
	return int32(combination)
}

// key names what tells a row's combination: its categories, in their order.
func (m *interactionMap) key() string {
	names := make([]string, len(m.categories))
	for k := range m.categories {
		names[k] = m.categories[k].input.Name
	}
	return strings.Join(names, ":")
}

// unseen is the square of the product of a row's numbers where training did not have one of its levels.
func (m *interactionMap) unseen(rows *credence.Batch, i int) float64 {
	x := rows.X.Row(i)
	if m.combination(x) >= 0 {
		return 0
	}
	value := productOf(m.numbers, x)
	return saturate(value * value)
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

// productOf multiplies the numbers of a row.
func productOf(numbers []scaledNumber, x []float64) float64 {
	value := 1.0
	for _, factor := range numbers {
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

// metMap is a product of categories of which some combinations have a weight. To weights in the units
// of the data it is keys: there is not a weight for every level that could be told against a base.
type metMap struct {
	all *interactionMap
	met []int32
}

func (m *metMap) Columns() (dense, sparse int) { return 0, len(m.met) }

func (m *metMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

func (m *metMap) Ones(*credence.Batch) bool { return true }

func (m *metMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	combination := m.all.combination(rows.X.Row(i))
	if j, met := slices.BinarySearch(m.met, combination); met {
		dst.Index = append(dst.Index, first+int32(j))
		if !ones {
			dst.Value = append(dst.Value, 1)
		}
	}
}

// unseen is 1 where a row has a combination without a weight.
func (m *metMap) unseen(rows *credence.Batch, i int) float64 {
	if _, met := slices.BinarySearch(m.met, m.all.combination(rows.X.Row(i))); met {
		return 0
	}
	return 1
}

func (m *metMap) WeightName(j int) string { return m.all.WeightName(int(m.met[j])) }

// productMap is an interaction of numbers alone: one dense column.
type productMap struct{ *interactionMap }

func (m *productMap) Columns() (dense, sparse int) { return 1, 0 }

func (m *productMap) Fill(_ *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	for i := range dst.Rows {
		dst.Row(i)[0] = productOf(m.numbers, rows.X.Row(i))
	}
}
