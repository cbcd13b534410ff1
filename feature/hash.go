package feature

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/linop"
)

// Hash is one weight for every key that training met: the levels of categories, products of levels, with numbers
// too, and the columns of the sparse segment. Keys are those of package keyed. A key that training did not
// meet has a weight of the prior, as a sparse column has that training did not have.
type Hash struct {
	Name    string  `json:"name"`              // as the formula writes it
	Crosses [][]int `json:"crosses,omitempty"` // the inputs of each product, as written
	Segment bool    `json:"segment,omitempty"` // whether the sparse segment takes part
	Without []int32 `json:"without,omitempty"` // columns of the segment left out, increasing from 0
	Bits    int     `json:"bits,omitempty"`    // of the keys; 0 means all 64
	// Uncentred says that numbers are multiplied without centring, as in [Interaction].
	Uncentred bool `json:"uncentred,omitempty"`
	// Keys are those of training, increasing, and Names the names of what each was first met as.
	Keys  []uint64 `json:"keys"`
	Names []string `json:"names"`
}

// Kind implements [Term].
func (*Hash) Kind() string { return "hash" }

// Label implements [Term].
func (t *Hash) Label() string { return t.Name }

// ReadsSegment implements [SegmentReader].
func (t *Hash) ReadsSegment() bool { return t.Segment }

// Bind implements [Term].
func (t *Hash) Bind(in *Inputs) (Map, error) {
	m, err := t.bind(in)
	if err != nil {
		return nil, err
	}
	if len(t.Keys) == 0 || len(t.Keys) != len(t.Names) || !slices.IsSorted(t.Keys) {
		return nil, fmt.Errorf("feature: %s has %d keys with %d names: leave the term out", t.Name, len(t.Keys), len(t.Names))
	}
	return m, nil
}

// Met returns the term with the keys of the batches; the term needs none before.
func (t *Hash) Met(in *Inputs, batches iter.Seq2[*credence.Batch, error]) (*Hash, error) {
	m, err := t.bind(in)
	if err != nil {
		return nil, err
	}
	names := map[uint64]string{}
	for rows, err := range batches {
		if err != nil {
			return nil, err
		}
		for i := range rows.Rows() {
			m.each(rows, i, func(key uint64, _ float64, name func() string) {
				if _, known := names[key]; !known { // a product that centring makes 0 may be another without it
					names[key] = name()
				}
			})
		}
	}
	met := *t
	met.Keys, met.Names = nil, nil
	for key := range names {
		met.Keys = append(met.Keys, key)
	}
	slices.Sort(met.Keys)
	for _, key := range met.Keys {
		met.Names = append(met.Names, names[key])
	}
	return &met, nil
}

func (t *Hash) bind(in *Inputs) (*hashMap, error) {
	m := &hashMap{term: t, inputs: in.Dense}
	for _, cross := range t.Crosses {
		c := hashCross{inputs: cross, order: slices.Clone(cross), keys: make([][]uint64, len(cross))}
		for _, index := range cross {
			input, err := inputAt(in, t.Name, index)
			if err != nil {
				return nil, err
			}
			if input.Kind != credence.Category {
				c.numbers = append(c.numbers, factorOf(input, index, t.Uncentred))
			}
			if len(c.numbers) == len(cross) {
				return nil, fmt.Errorf("feature: %s: %s is a %s: read its texts", t.Name, input.Name, input.Kind)
			}
		}
		slices.SortStableFunc(c.order, func(a, b int) int { return strings.Compare(in.Dense[a].Name, in.Dense[b].Name) })
		for k, index := range c.order {
			space := keyhash.Space(in.Dense[index].Name)
			if in.Dense[index].Kind != credence.Category {
				c.keys[k] = []uint64{keyhash.Number(space)}
			}
			for _, level := range in.Dense[index].Levels {
				c.keys[k] = append(c.keys[k], keyhash.Text(space, []byte(level)))
			}
		}
		m.crosses = append(m.crosses, c)
	}
	var err error
	m.segment, err = newSegment(t.Name, in, t.Segment, t.Without)
	return m, err
}

// hashCross is a product of levels, and of numbers.
type hashCross struct {
	inputs  []int          // as written
	order   []int          // as crossed
	keys    [][]uint64     // of the levels of each input, or the one of a number, beside order
	numbers []scaledNumber // among the inputs
}

type hashMap struct {
	term    *Hash
	inputs  []Input
	crosses []hashCross
	segment segment
}

func (m *hashMap) Columns() (dense, sparse int) { return 0, len(m.term.Keys) }

func (m *hashMap) Fill(*credence.Workspace, linop.Dense, *credence.Batch) {}

// Ones is false where keys are short: what falls together adds up.
func (m *hashMap) Ones(rows *credence.Batch) bool {
	return m.term.Bits == 0 && !m.hasNumbers() && (!m.term.Segment || rows.Sparse.Value == nil)
}

// each visits the keys of row i: none for a product with a level that training did not have.
func (m *hashMap) each(rows *credence.Batch, i int, visit func(key uint64, value float64, name func() string)) {
	x := rows.X.Row(i)
	for k := range m.crosses {
		c := &m.crosses[k]
		if key, ok := c.key(m.inputs, x); ok {
			visit(keyhash.Shorten(key, m.term.Bits), productOf(c.numbers, x), func() string { return c.name(m.inputs, x) })
		}
	}
	if !m.term.Segment {
		return
	}
	for column, value := range rows.Sparse.Each(i) {
		if m.segment.place(int32(column)) >= 0 && value != 0 {
			key := keyhash.Shorten(m.segment.names.SparseKey(column), m.term.Bits)
			visit(key, value, func() string { return m.segment.names.SparseName(column) })
		}
	}
}

// key returns the key of a row's levels; false where training did not have one of them.
func (c *hashCross) key(inputs []Input, x []float64) (key uint64, ok bool) {
	for k, index := range c.order {
		level := 0
		if inputs[index].Kind == credence.Category {
			level = code(x[index], len(c.keys[k]))
		}
		if level < 0 {
			return 0, false
		}
		if part := c.keys[k][level]; k == 0 {
			key = part
		} else {
			key = keyhash.Cross(key, part)
		}
	}
	return key, true
}

// levelKeys returns the term that has keys for the levels alone of a product with one number; nil without such a term.
func (s *Set) levelKeys(c *hashCross) *bound {
	if len(c.numbers) != 1 {
		return nil
	}
	levels := slices.DeleteFunc(slices.Clone(c.inputs), func(index int) bool { return index == c.numbers[0].input })
	for k := range s.terms {
		m, ok := s.terms[k].mapped.(*hashMap)
		if ok && m.term.Bits == 0 && slices.ContainsFunc(m.crosses, func(other hashCross) bool { return slices.Equal(other.inputs, levels) }) {
			return &s.terms[k]
		}
	}
	return nil
}

// levelsOf is the name of the levels alone, of the name of a product with one number.
func (c *hashCross) levelsOf(name string, inputs []Input) string {
	number := inputs[c.numbers[0].input].Name
	switch slices.Index(c.inputs, c.numbers[0].input) {
	case 0:
		return strings.TrimPrefix(name, number+":")
	case len(c.inputs) - 1:
		return strings.TrimSuffix(name, ":"+number)
	}
	return strings.Replace(name, ":"+number+":", ":", 1)
}

// hasNumbers says whether keys are multiplied by numbers.
func (m *hashMap) hasNumbers() bool {
	return slices.ContainsFunc(m.crosses, func(c hashCross) bool { return len(c.numbers) > 0 })
}

// name is that of a row's levels, as the formula writes the product.
func (c *hashCross) name(inputs []Input, x []float64) string {
	names := make([]string, len(c.inputs))
	for k, index := range c.inputs {
		if names[k] = inputs[index].Name; inputs[index].Kind == credence.Category {
			names[k] = levelName(&inputs[index], int(x[index]))
		}
	}
	return strings.Join(names, ":")
}

func (m *hashMap) AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool) {
	begin := len(dst.Index)
	m.each(rows, i, func(key uint64, value float64, _ func() string) {
		j, known := slices.BinarySearch(m.term.Keys, key)
		if !known || value == 0 {
			return
		}
		column := first + int32(j)
		// In their place among the columns of the row, which are few; equal ones add up.
		k, same := slices.BinarySearch(dst.Index[begin:], column)
		switch k += begin; {
		case same && !ones:
			dst.Value[k] += value
		case !same:
			dst.Index = slices.Insert(dst.Index, k, column)
			if !ones {
				dst.Value = slices.Insert(dst.Value, k, value)
			}
		}
	})
}

// unseen adds up the squares of the entries whose keys training did not meet.
func (m *hashMap) unseen(rows *credence.Batch, i int) float64 {
	sum, x := 0.0, rows.X.Row(i)
	for k := range m.crosses {
		if _, ok := m.crosses[k].key(m.inputs, x); !ok {
			value := productOf(m.crosses[k].numbers, x)
			sum = saturate(sum + saturate(value*value))
		}
	}
	m.each(rows, i, func(key uint64, value float64, _ func() string) {
		if _, known := slices.BinarySearch(m.term.Keys, key); !known {
			sum += value * value
		}
	})
	if m.term.Segment {
		sum += rows.UnseenOf(i)
	}
	return sum
}

func (m *hashMap) WeightName(j int) string { return m.term.Names[j] }

// plain are the products and the keys that have a weight.
func (m *hashMap) plain(p Plain) []Plain {
	hex := func(key uint64) string { return strconv.FormatUint(key, 16) }
	p.Kind, p.Bits = "keys", m.term.Bits
	for _, key := range m.term.Keys {
		p.Keys = append(p.Keys, hex(key))
	}
	for i := range m.crosses {
		cross, columns := &m.crosses[i], PlainColumns{}
		for k, index := range cross.order {
			of := Leveled{Input: index, Levels: len(m.inputs[index].Levels)}
			for _, key := range cross.keys[k] {
				of.Keys = append(of.Keys, hex(key))
			}
			columns.Key = append(columns.Key, of)
		}
		for _, n := range cross.numbers {
			columns.Factors = append(columns.Factors, [2]float64{float64(n.input), n.origin})
		}
		p.Columns = append(p.Columns, columns)
	}
	return []Plain{p}
}
