package feature

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// group is a run of columns that are one product of inputs: powers of numbers, times a combination
// of levels. No number and no category is the constant 1.
type group struct {
	numbers    []power
	categories []int // inputs; the levels of the last vary fastest
	first      int   // the first column, of the map or of all
	uncentred  bool
	block      string
}

// power is a power of the input of a number.
type power struct{ input, degree int }

// groupedMap is a map of which some columns are products of inputs. All others are columns of the data
// as they stand, or have no units of the data.
type groupedMap interface {
	Map
	groups() []group
}

// key is the same for products that differ in the order of their factors alone.
func (g *group) key() string {
	numbers, categories := slices.Clone(g.numbers), slices.Clone(g.categories)
	slices.SortFunc(numbers, func(a, b power) int { return a.input - b.input })
	slices.Sort(categories)
	var text []byte
	for _, n := range numbers {
		text = binary.AppendUvarint(binary.AppendUvarint(text, uint64(n.degree)), uint64(n.input))
	}
	for _, c := range categories {
		text = binary.AppendUvarint(append(text, 0), uint64(c))
	}
	return string(text)
}

// without returns the product without one of its categories.
func (g *group) without(category int) group {
	rest := slices.DeleteFunc(slices.Clone(g.categories), func(c int) bool { return c == category })
	return group{numbers: g.numbers, categories: rest}
}

// products are the groups of a set, by their keys too; of several with the same key, the first.
type products struct {
	inputs []Input
	all    []*group
	index  map[string]*group
}

func (s *Set) products() *products {
	p := &products{inputs: s.inputs.Dense, index: map[string]*group{}}
	for k := range s.terms {
		b := &s.terms[k]
		grouped, ok := b.mapped.(groupedMap)
		if !ok {
			continue
		}
		for _, g := range grouped.groups() {
			g.first += s.first(b)
			g.block = b.term.Label()
			p.add(&g)
		}
	}
	return p
}

func (p *products) add(g *group) {
	p.all = append(p.all, g)
	if key := g.key(); p.index[key] == nil {
		p.index[key] = g
	}
}

// columns is the number of combinations of levels.
func (p *products) columns(g *group) int {
	count := 1
	for _, c := range g.categories {
		count *= len(p.inputs[c].Levels)
	}
	return count
}

// levels stores the levels of combination j of a group in dst, one for each of its categories.
func (p *products) levels(dst []int, g *group, j int) []int {
	dst = append(dst[:0], g.categories...)
	for k := len(dst) - 1; k >= 0; k-- {
		count := len(p.inputs[g.categories[k]].Levels)
		dst[k] = j % count
		j /= count
	}
	return dst
}

// place returns the column of group g for the levels that the categories of another have.
func (p *products) place(g *group, categories, levels []int) int {
	j := 0
	for _, c := range g.categories {
		j = j*len(p.inputs[c].Levels) + levels[slices.Index(categories, c)]
	}
	return g.first + j
}

// name is that of column j of a group, as a formula writes the product; without levels for j < 0.
func (p *products) name(g *group, j int) string {
	var parts []string
	for _, n := range g.numbers {
		name := p.inputs[n.input].Name
		if n.degree > 1 {
			name = fmt.Sprintf("%s^%d", name, n.degree)
		}
		parts = append(parts, name)
	}
	for k, c := range g.categories {
		if j < 0 {
			parts = append(parts, p.inputs[c].Name)
		} else {
			parts = append(parts, levelName(&p.inputs[c], p.levels(nil, g, j)[k]))
		}
	}
	return strings.Join(parts, ":")
}

// Hierarchical returns the set in which products mean what they mean in R: a product of centred columns
// stands for lower products too, (x − m) g = x g − m g, so that it is a product of columns that are
// not centred where one of these is no term of the set. The lines of x:g then meet where x is 0.
// The constant is always there: a set without an intercept is centred all the same.
func (s *Set) Hierarchical() *Set {
	p := s.products()
	complete := map[string]bool{}
	return s.replace(func(b *bound) Term {
		if m, ok := b.mapped.(*hashMap); ok && m.hasNumbers() && (len(m.crosses) > 1 || s.levelKeys(&m.crosses[0]) == nil) {
			apart := *m.term
			apart.Uncentred = true
			return &apart
		}
		term, ok := b.term.(*Interaction)
		if !ok || term.Met != nil || term.Uncentred || p.complete(&b.mapped.(groupedMap).groups()[0], complete) {
			return nil
		}
		apart := *term
		apart.Uncentred = true
		return &apart
	})
}

// complete reports whether all products that undoing the centring of a product brings are there. known
// holds what has been found before.
func (p *products) complete(g *group, known map[string]bool) bool {
	key := g.key()
	if complete, found := known[key]; found {
		return complete
	}
	known[key] = true
	for k, n := range g.numbers {
		if p.inputs[n.input].Center == 0 {
			continue
		}
		lower := group{numbers: slices.Delete(slices.Clone(g.numbers), k, k+1), categories: g.categories}
		if len(lower.numbers)+len(lower.categories) > 0 && (p.index[lower.key()] == nil || !p.complete(&lower, known)) {
			known[key] = false
		}
	}
	return known[key]
}

// scaleOf is the scale of an input, of which 0 means 1.
func scaleOf(in *Input) float64 { return cmp.Or(in.Scale, 1) }
