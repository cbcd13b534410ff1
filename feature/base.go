package feature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// mostEntries bounds the map: a difference from the mean of L levels takes L² numbers.
const mostEntries = 1 << 24

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
		if first, next, several := strings.Cut(text, ","); several && strings.Contains(next, "=") {
			if _, ok := m.base(i, first); ok {
				return fmt.Errorf("base %s: it holds several: write --base %s --base %s", text, first, strings.TrimSpace(next))
			}
		}
		if strings.HasPrefix(text, in.Name+"=") {
			return fmt.Errorf("base %s: %s has no such level: the levels are %s", text, in.Name, cell.List(in.Levels))
		}
		names = append(names, in.Name)
	}
	if names == nil {
		return fmt.Errorf("base %s: the model has no categories: leave the base out", text)
	}
	return fmt.Errorf("base %s is no level: write %s=LEVEL, or mean; the categories are %s", text, names[0], cell.List(names))
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
