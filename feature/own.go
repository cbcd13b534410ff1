package feature

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
)

// part is what a fitted weight adds to a weight in the units of the data's own columns.
type part struct {
	weight int
	factor float64
}

// ownMap is the map from fitted weights to those of the data's own columns, as it is made.
type ownMap struct {
	*products
	rows    [][]part // of every column
	names   []string // of the columns beyond the fitted weights
	blocks  []string
	bases   map[int]bool // columns that are bases
	entries int
}

// mostEntries bounds the map: a difference from the mean of L levels takes L² numbers.
const mostEntries = 1 << 24

// OwnUnits implements [credence.Rescaled]. Weights of random features, bumps, keys and the sparse
// segment are as they were fitted.
func (s *Set) OwnUnits(bases ...string) (*credence.OwnUnits, error) {
	m := &ownMap{products: s.products(), rows: make([][]part, s.Weights()), bases: map[int]bool{}}
	for _, g := range slices.Clone(m.all) {
		m.expand(g)
	}
	for j, row := range m.rows {
		if row == nil {
			m.rows[j] = []part{{j, 1}}
		}
	}
	if err := m.compare(bases); err != nil {
		return nil, err
	}
	own := &credence.OwnUnits{Columns: make([]credence.OwnColumn, 0, len(m.rows))}
	for k := range s.terms {
		block := s.block(&s.terms[k])
		_, random := s.terms[k].mapped.(RandomMap)
		for j := block.First; j < block.First+block.Count; j++ {
			own.Columns = append(own.Columns, credence.OwnColumn{
				Block: block.Name, Name: s.terms[k].mapped.WeightName(j - block.First), Intercept: block.Intercept,
				Base: m.bases[j], Varies: random || s.terms[k].hypers > 0,
			})
		}
	}
	for k, name := range m.names {
		own.Columns = append(own.Columns, credence.OwnColumn{
			Block: m.blocks[k], Name: name, Intercept: name == constant, Base: m.bases[s.Weights()+k],
		})
	}
	own.Map.Reset(s.Weights())
	var columns []int32
	var values []float64
	for _, row := range m.rows {
		columns, values = columns[:0], values[:0]
		for _, p := range sum(row) {
			columns, values = append(columns, int32(p.weight)), append(values, p.factor)
		}
		own.Map.AppendRow(columns, values)
	}
	return own, nil
}

// constant is the name of the constant where the set has no intercept.
const constant = "(intercept)"

// sum returns a row with one part for each weight, in their order.
func sum(row []part) []part {
	slices.SortStableFunc(row, func(a, b part) int { return cmp.Compare(a.weight, b.weight) })
	kept := row[:0]
	for _, p := range row {
		if last := len(kept) - 1; last >= 0 && kept[last].weight == p.weight {
			kept[last].factor += p.factor
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
				f := factor * binomial * math.Pow(-centre/scale, float64(n.degree-q)) * math.Pow(scale, -float64(q))
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

// compare tells the levels of categories against bases.
func (m *ownMap) compare(bases []string) error {
	named := slices.DeleteFunc(slices.Clone(bases), func(text string) bool { return text == mean })
	if len(named) < len(bases) {
		named = append(named, mean) // of the categories that are left
	}
	done := map[int]bool{}
	for _, text := range named {
		found := false
		for i := range m.inputs {
			base, ok := m.base(i, text)
			if !ok {
				continue
			}
			if done[i] && text != mean {
				return fmt.Errorf("the base of %s is given twice: leave out %s", m.inputs[i].Name, text)
			}
			if done[i] {
				continue
			}
			done[i] = true
			changed, err := m.compareLevels(i, base)
			if err != nil {
				return err
			}
			found = found || changed
		}
		if !found {
			return m.noBase(text)
		}
	}
	return nil
}

// mean is the base that is no level.
const mean = "mean"

// base returns the level of an input that a text names, -1 for the mean of its levels.
func (m *ownMap) base(input int, text string) (level int, ok bool) {
	in := &m.inputs[input]
	if in.Kind != credence.Category {
		return 0, false
	}
	if name, found := strings.CutPrefix(text, in.Name+"="); found {
		level = slices.Index(in.Levels, name)
		return level, level >= 0 || name == mean
	}
	return -1, text == mean
}

// noBase says what may stand in place of a text that names no base.
func (m *ownMap) noBase(text string) error {
	var names []string
	for i := range m.inputs {
		in := &m.inputs[i]
		if in.Kind != credence.Category {
			continue
		}
		if _, ok := m.base(i, text); ok {
			return m.noLower(i, text)
		}
		if strings.HasPrefix(text, in.Name+"=") {
			return fmt.Errorf("base %s: %s has no such level: the levels are %s", text, in.Name, shorten(in.Levels))
		}
		names = append(names, in.Name)
	}
	if names == nil {
		return fmt.Errorf("base %s: the model has no categories: leave the base out", text)
	}
	return fmt.Errorf("base %s is no level: write %s=LEVEL, or mean; the categories are %s", text, names[0], shorten(names))
}

// noLower says why the levels of a category are told against no base.
func (m *ownMap) noLower(category int, text string) error {
	for _, g := range m.all {
		if slices.Contains(g.categories, category) {
			rest := g.without(category)
			return fmt.Errorf("base %s: %s has one weight for each level, and %s, the other factor, is no term of its own: add it to the formula or leave the base out",
				text, g.block, m.name(&rest, -1))
		}
	}
	return fmt.Errorf("base %s: %s has no weights for its levels: leave the base out", text, m.inputs[category].Name)
}

// shorten lists the first few of many names.
func shorten(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(names[:most], ", "), len(names))
}

// compareLevels subtracts the weight of the base of a category from those of its levels, and adds the
// base to the weight of the product without the category: that weight is then that of rows of the base.
// Products without such a lower product keep their levels.
func (m *ownMap) compareLevels(category, base int) (changed bool, err error) {
	for _, g := range slices.Clone(m.all) {
		if !slices.Contains(g.categories, category) {
			continue
		}
		rest := g.without(category)
		if m.index[rest.key()] == nil && len(rest.numbers)+len(rest.categories) > 0 {
			continue
		}
		lower := m.find(&rest)
		changed = true
		sets := map[int][]int{} // the columns that differ in the level alone, by that of the lower product
		var order, levels []int
		for j := range m.columns(g) {
			levels = m.levels(levels, g, j)
			at := m.place(lower, g.categories, levels)
			if sets[at] == nil {
				order = append(order, at)
			}
			sets[at] = append(sets[at], g.first+j)
		}
		for _, at := range order {
			if err := m.subtract(sets[at], at, base, m.inputs[category].Name); err != nil {
				return true, err
			}
		}
	}
	return changed, nil
}

// subtract takes the base away from the columns of the levels, and adds it to the lower column.
func (m *ownMap) subtract(columns []int, lower, base int, name string) error {
	var from []part
	if base >= 0 {
		from = slices.Clone(m.rows[columns[base]])
	} else {
		for _, at := range columns {
			for _, p := range m.rows[at] {
				from = append(from, part{p.weight, p.factor / float64(len(columns))})
			}
		}
	}
	from = sum(from)
	if m.entries += len(from) * len(columns); m.entries > mostEntries {
		return fmt.Errorf("the mean of the %d levels of %s is too large a sum: name a level in its place, as in %s=LEVEL", len(columns), name, name)
	}
	m.rows[lower] = append(m.rows[lower], from...)
	for level, at := range columns {
		if level == base {
			m.rows[at], m.bases[at] = nil, true
			continue
		}
		for _, p := range from {
			m.rows[at] = append(m.rows[at], part{p.weight, -p.factor})
		}
	}
	return nil
}
