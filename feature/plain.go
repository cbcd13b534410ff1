package feature

import (
	"fmt"

	"github.com/credence-ml/credence"
)

// Plain is a bound term as data, by which a program that is not written in Go makes the same columns of the inputs as
// they enter the fit. What it is made of depends on its kind:
//
//	numbers    the inputs as they are
//	powers     x, …, x^Degree of each input in turn
//	levels     weight First + group·Width + column, the columns those of Columns
//	keys       weight First + place of the key, of the products of Columns, among Keys
//	waves      a cos z, then a sin z, z of the rows of "rows" times the inputs times "inverse"
//	radial     exp(−d²/2), and sigmoid 1/(1 + e^−d), d from the rows of "rows" to the inputs times "inverse"
//	spline     cubics between "knots" of given "values" and second derivatives "bends", and lines beyond
//	cyclic     "deviation" times cosines and sines of 2π(centre + scale·x)/period; periodic has a constant before
//	box        "deviation" times products of sines on boxes of "middle" and "half", "functions" a side
type Plain struct {
	Kind   string `json:"kind"`
	First  int    `json:"first"`            // weight
	Inputs []int  `json:"inputs,omitempty"` // dense inputs
	Degree int    `json:"degree,omitempty"`
	// Groups of rows are the combinations of the levels of Key, the last fastest, or those of them that Met lists.
	// Width columns vary by group.
	Key     []Leveled      `json:"key,omitempty"`
	Met     []int32        `json:"met,omitempty"`
	Width   int            `json:"width,omitempty"`
	Columns []PlainColumns `json:"columns,omitempty"`
	Bits    int            `json:"bits,omitempty"` // of keys, 0 means 64
	Keys    []string       `json:"keys,omitempty"` // in hexadecimal digits, in the order of the weights
	// Numbers are those that the kind has, by their names.
	Numbers map[string][]float64 `json:"-"`
	// Unseen is the block of weights whose law groups have that training did not have, of levels and keys.
	Unseen credence.Block `json:"-"`
}

// Leveled is an input whose levels are counted. Of a product that is a key it has the keys of the levels; one key
// without levels is a number's.
type Leveled struct {
	Input  int      `json:"input"`
	Levels int      `json:"levels"`
	Keys   []string `json:"keys,omitempty"`
}

// PlainColumns are the products of numbers, x of an input plus an origin each, in a column for each combination of
// levels; Part picks one, from 1.
type PlainColumns struct {
	First   int          `json:"first"`
	Key     []Leveled    `json:"key,omitempty"`
	Factors [][2]float64 `json:"factors,omitempty"` // input, origin
	Part    int          `json:"part,omitempty"`
}

// Plain returns the terms as data, in the order of their weights. It refuses terms that read a sparse segment, which
// has no inputs of its own.
func (s *Set) Plain() (terms []Plain, err error) {
	if s.segment {
		return nil, fmt.Errorf("rows are sparse, and its %d columns have no names of their own", s.inputs.Segment)
	}
	for k := range s.terms {
		b := &s.terms[k]
		p := Plain{First: s.first(b), Numbers: map[string][]float64{}, Unseen: s.block(b)}
		switch m := b.mapped.(type) {
		case interceptMap:
			p.Kind, p.Width, p.Columns = "levels", 1, []PlainColumns{{}}
		case interface{ plain(p Plain) []Plain }: // tells it in its own file
			terms = append(terms, m.plain(p)...)
			continue
		case *polynomialMap:
			p.Kind, p.Inputs, p.Degree = "powers", m.reader.dense, m.degree
		case *productMap:
			p.ofLevels(nil, nil, m.interactionMap)
		case *interactionMap:
			p.ofLevels(m, nil, &interactionMap{numbers: m.numbers})
		case *metMap:
			p.ofLevels(m.all, m.met, &interactionMap{})
		case *multilevelMap:
			if m.term.Off {
				continue
			}
			for _, c := range m.columns {
				p.ofLevels(m.key, m.term.Met, c.interactionMap)
				last := &p.Columns[len(p.Columns)-1]
				last.First, last.Part = c.first, m.term.Part
			}
			p.Width = m.count
		case *bumpMap:
			p.Kind, p.Inputs = b.term.Kind(), m.reader.dense
			p.Numbers["inverse"], p.Numbers["rows"] = m.reader.inverse, m.centres
		case *periodicMap:
			t := b.term.(*Periodic)
			p.ofCycle(&Cyclic{t.Name, t.Input, t.Period, t.Harmonics}, &s.inputs.Dense[t.Input])
			p.Kind, p.Numbers["deviation"] = "periodic", m.columnDeviations()
		case *proportionedMap:
			t := b.term.(*HSGP)
			p.Kind, p.Inputs = "box", t.Inputs
			for k := range t.Inputs {
				p.Numbers["functions"] = append(p.Numbers["functions"], float64(t.Functions[k]))
				p.Numbers["half"] = append(p.Numbers["half"], t.Reach[k]*t.Boundary[k])
			}
			p.Numbers["middle"], p.Numbers["deviation"] = t.Middle, m.columnDeviations()
		default:
			return nil, fmt.Errorf("the columns of %s are not told as data", b.term.Label())
		}
		terms = append(terms, p)
	}
	return terms, nil
}

// leveled are the categories of a product.
func (m *interactionMap) leveled() (list []Leveled) {
	for _, c := range m.categories {
		list = append(list, Leveled{Input: c.index, Levels: len(c.input.Levels)})
	}
	return list
}

// ofLevels adds the columns of a product that vary by the levels of a key.
func (p *Plain) ofLevels(key *interactionMap, met []int32, product *interactionMap) {
	p.Kind, p.Width, p.Met = "levels", 1, met
	if key != nil {
		p.Key = key.leveled()
	}
	columns := PlainColumns{Key: product.leveled()}
	for _, n := range product.numbers {
		columns.Factors = append(columns.Factors, [2]float64{float64(n.input), n.origin})
	}
	p.Columns = append(p.Columns, columns)
}

func (p *Plain) ofCycle(t *Cyclic, input *Input) {
	p.Kind, p.Inputs = "cyclic", []int{t.Input}
	p.Numbers["cycle"] = []float64{input.Center, scaleOf(input), t.Period}
}

// columnDeviations are what the functions are multiplied by in the columns.
func (m *proportionedMap) columnDeviations() []float64 {
	list := make([]float64, len(m.deviation))
	for j, v := range m.deviation {
		if list[j] = v; m.apart {
			list[j] = 1
		}
	}
	return list
}
