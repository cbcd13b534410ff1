package feature

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence/ability"
)

// part is what a fitted weight adds to a weight in the units of the data's own columns.
type part struct {
	weight int
	factor float64
}

// ownMap is the map from fitted weights to those of the data's own columns, as it is made.
type ownMap struct {
	*products
	rows    [][]part // of every column; nil for one that enters the fit as it stands, and for bases
	names   []string // of the columns beyond the fitted weights
	blocks  []string
	bases   map[int]bool // columns that are bases
	entries int
}

// OwnUnits implements [ability.Rescaled]. Weights of random features, bumps, keys without numbers and the sparse
// segment are as they were fitted.
func (s *Set) OwnUnits(bases ...string) (*ability.OwnUnits, error) {
	m := &ownMap{products: s.products(), rows: make([][]part, s.Weights()), bases: map[int]bool{}}
	for _, g := range slices.Clone(m.all) {
		m.expand(g)
	}
	s.expandKeys(m)
	s.expandLevels(m.rows)
	if err := m.compare(bases); err != nil {
		return nil, err
	}
	own := &ability.OwnUnits{Columns: make([]ability.OwnColumn, 0, len(m.rows))}
	for k := range s.terms {
		block := s.block(&s.terms[k])
		_, random := s.terms[k].mapped.(RandomMap)
		for j := block.First; j < block.First+block.Count; j++ {
			own.Columns = append(own.Columns, ability.OwnColumn{
				Block: block.Name, Name: s.terms[k].mapped.WeightName(j - block.First), Intercept: block.Intercept,
				Base: m.bases[j], Varies: random || s.terms[k].hypers > 0,
			})
		}
	}
	for k, name := range m.names {
		own.Columns = append(own.Columns, ability.OwnColumn{
			Block: m.blocks[k], Name: name, Intercept: name == constant, Base: m.bases[s.Weights()+k],
		})
	}
	own.Map.Reset(s.Weights())
	var columns []int32
	var values []float64
	for j, row := range m.rows {
		columns, values = columns[:0], values[:0]
		if row == nil && !m.bases[j] { // a column that nothing was done to
			columns, values = append(columns, int32(j)), append(values, 1)
		}
		for _, p := range sum(row) {
			columns, values = append(columns, int32(p.weight)), append(values, p.factor)
		}
		own.Map.AppendRow(columns, values)
	}
	return own, nil
}

// expandKeys takes the scales of numbers back that keys are multiplied by, and their centring where that is: then the
// levels alone have keys too, (x − m)/s·[g] = x·[g]/s − m/s·[g].
func (s *Set) expandKeys(m *ownMap) {
	for k := range s.terms {
		h, ok := s.terms[k].mapped.(*hashMap)
		if !ok || len(h.crosses) != 1 || len(h.crosses[0].numbers) == 0 {
			continue
		}
		scale, cross := 1.0, &h.crosses[0]
		for _, n := range cross.numbers {
			scale *= scaleOf(&h.inputs[n.input])
		}
		first := s.first(&s.terms[k])
		levels, centre := s.levelKeys(cross), h.inputs[cross.numbers[0].input].Center
		for j, name := range h.term.Names {
			m.rows[first+j] = append(m.rows[first+j], part{first + j, saturate(1 / scale)})
			if h.term.Uncentred || levels == nil || centre == 0 {
				continue
			}
			if at := slices.Index(levels.mapped.(*hashMap).term.Names, cross.levelsOf(name, h.inputs)); at >= 0 {
				at += s.first(levels)
				if m.rows[at] == nil {
					m.rows[at] = []part{{at, 1}}
				}
				m.rows[at] = append(m.rows[at], part{first + j, saturate(-centre / scale)})
			}
		}
	}
}

// constant is the name of the constant where the set has no intercept.
const constant = "(intercept)"

// sum returns a row with one part for each weight, in their order.
func sum(row []part) []part {
	slices.SortStableFunc(row, func(a, b part) int { return cmp.Compare(a.weight, b.weight) })
	kept := row[:0]
	for _, p := range row {
		if last := len(kept) - 1; last >= 0 && kept[last].weight == p.weight {
			kept[last].factor = saturate(kept[last].factor + p.factor)
		} else {
			kept = append(kept, p)
		}
	}
	return slices.DeleteFunc(kept, func(p part) bool { return p.factor == 0 })
}

// expand multiplies out a product of centred and scaled columns,
//
//	Π ((x − m)/s)^p = Σ Π binomial(p, q) (−m/s)^(p−q) s^(−q) x^q,
//
// and gives each summand to the columns of its own product.
func (m *ownMap) expand(g *group) {
	columns := m.columns(g)
	var levels []int
	var visit func(k int, kept []power, factor float64)
	visit = func(k int, kept []power, factor float64) {
		if k < len(g.numbers) {
			n, in := g.numbers[k], &m.inputs[g.numbers[k].input]
			scale, centre := scaleOf(in), in.Center
			if g.uncentred {
				centre = 0
			}
			binomial := 1.0
			for q := n.degree; q >= 0; q-- {
				f := saturate(factor * binomial * saturate(math.Pow(-centre/scale, float64(n.degree-q))) * saturate(math.Pow(scale, -float64(q))))
				if q > 0 {
					visit(k+1, append(kept[:len(kept):len(kept)], power{n.input, q}), f)
				} else if centre != 0 {
					visit(k+1, kept, f)
				}
				if centre == 0 {
					return
				}
				binomial *= float64(q) / float64(n.degree-q+1)
			}
			return
		}
		own := g
		if len(kept) < len(g.numbers) || !slices.Equal(kept, g.numbers) {
			own = m.find(&group{numbers: kept, categories: g.categories, block: g.block})
		}
		for j := range columns {
			at := own.first + j
			if own != g && len(g.categories) > 1 {
				levels = m.levels(levels, g, j)
				at = m.place(own, g.categories, levels)
			}
			m.rows[at] = append(m.rows[at], part{g.first + j, factor})
		}
	}
	visit(0, nil, 1)
}

// find returns the columns of a product, which it adds where the set has none.
func (m *ownMap) find(g *group) *group {
	if known := m.index[g.key()]; known != nil {
		return known
	}
	g.first = len(m.rows)
	for j := range m.columns(g) {
		name := m.name(g, j)
		if name == "" {
			name, g.block = constant, constant
		}
		m.rows, m.names, m.blocks = append(m.rows, nil), append(m.names, name), append(m.blocks, g.block)
	}
	m.add(g)
	return g
}
