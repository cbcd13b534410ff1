package feature

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
)

var (
	_ credence.Tunable   = (*Set)(nil)
	_ ability.Redrawable = (*Set)(nil)
	_ credence.Named     = (*Set)(nil)
	_ ability.Rescaled   = (*Set)(nil)
)

// Hyper implements [credence.Tunable].
func (s *Set) Hyper() []credence.Hyper {
	hypers := make([]credence.Hyper, 0, s.hypers)
	for k, b := range s.terms {
		if b.tunable == nil {
			continue
		}
		for _, h := range b.tunable.Hyper() {
			h.Block = k
			hypers = append(hypers, h)
		}
	}
	return hypers
}

// WithHyper implements [credence.Tunable]. The values must be positive and one
// for each of Hyper.
func (s *Set) WithHyper(values []float64) credence.Features {
	if len(values) != s.hypers {
		panic(fmt.Sprintf("feature: %d hyper-parameter values for %d", len(values), s.hypers))
	}
	for _, v := range values {
		if !(v > 0) {
			panic(fmt.Sprintf("feature: hyper-parameter value %g is not positive", v))
		}
	}
	return s.replace(func(b *bound) Term {
		if b.hypers == 0 {
			return nil
		}
		return b.tunable.WithHyper(values[b.firstHyper : b.firstHyper+b.hypers])
	})
}

// Redraw implements [ability.Redrawable]: terms draw in the order of their
// weights. A set without random parts is returned as it is.
func (s *Set) Redraw(seed uint64, start int) credence.Features {
	if start == 0 {
		return s
	}
	rng := credence.Rand(seed, credence.RedrawFeatures, uint64(start))
	return s.replace(func(b *bound) Term {
		if random, ok := b.mapped.(RandomMap); ok {
			return random.Redraw(rng)
		}
		return nil
	})
}

// Thin implements [ability.Redrawable]. Frequencies that the user gave stay.
func (s *Set) Thin(parts int) credence.Features {
	if parts < 1 {
		panic(fmt.Sprintf("feature: one in %d frequencies", parts))
	}
	return s.replace(func(b *bound) Term {
		if random, ok := b.mapped.(RandomMap); ok {
			return random.Thin(parts)
		}
		return nil
	})
}

// Random reports whether Redraw changes anything.
func (s *Set) Random() bool {
	return slices.ContainsFunc(s.terms, func(b bound) bool {
		_, random := b.mapped.(RandomMap)
		return random
	})
}

// Replace returns the set with terms replaced by others of the same label and inputs, where nil keeps a term. It panics
// where the inputs do not fit a term.
func (s *Set) Replace(by func(Term) Term) *Set {
	return s.replace(func(b *bound) Term { return by(b.term) })
}

// replace returns the set with terms replaced by others of the same kind, where
// nil keeps a term.
func (s *Set) replace(by func(b *bound) Term) *Set {
	changed := *s
	changed.terms = slices.Clone(s.terms)
	any := false
	for k := range changed.terms {
		b := &changed.terms[k]
		term := by(b)
		if term == nil {
			continue
		}
		fresh, err := bind(term, &s.inputs)
		if err != nil {
			panic(fmt.Sprintf("feature: a changed term no longer binds: %v", err))
		}
		*b, any = fresh, true
	}
	if !any {
		return s
	}
	changed.place()
	return &changed
}

// Pullback implements [credence.Tunable]. dPhi has the stride of phi.Dense.
func (s *Set) Pullback(ws *credence.Workspace, grad []float64, rows *credence.Batch, phi *credence.Design, dPhi []float64) {
	s.check(rows)
	if len(grad) != s.hypers {
		panic(fmt.Sprintf("feature: a gradient of length %d for %d hyper-parameters", len(grad), s.hypers))
	}
	if rows.Rows() == 0 {
		return
	}
	d := linop.Dense{Rows: phi.Dense.Rows, Cols: phi.Dense.Cols, Stride: phi.Dense.Stride, Data: dPhi}
	for _, b := range s.terms {
		if b.hypers > 0 {
			b.tunable.Pullback(ws, grad[b.firstHyper:b.firstHyper+b.hypers], rows,
				phi.Dense.Columns(b.firstDense, b.dense), d.Columns(b.firstDense, b.dense))
		}
	}
}

// HyperColumns returns the dense columns [first, end) outside of which no
// hyper-parameter acts: Pullback does not read dPhi there.
func (s *Set) HyperColumns() (first, end int) {
	for _, b := range s.terms {
		if b.hypers == 0 {
			continue
		}
		if end == 0 {
			first = b.firstDense
		}
		end = b.firstDense + b.dense
	}
	return first, end
}

// WeightName implements [credence.Named].
func (s *Set) WeightName(j int) string {
	b, local := s.locate(j)
	return b.mapped.WeightName(local)
}

// locate finds the term of weight j and the place of the weight within it.
func (s *Set) locate(j int) (*bound, int) {
	for k := range s.terms {
		b := &s.terms[k]
		if first := s.first(b); j >= first && j < first+b.dense+b.sparse {
			return b, j - first
		}
	}
	panic(fmt.Sprintf("feature: weight %d of %d", j, s.Weights()))
}

// WeightInputs returns the dense inputs that weight j is of: the factors of its product, or what its curve is a
// function of; none of an intercept, of a column of the sparse segment, and of a term that tells neither.
func (s *Set) WeightInputs(j int) (inputs []int) {
	b, local := s.locate(j)
	for _, smooth := range s.Smooths() {
		if j >= smooth.First && j < smooth.First+smooth.Count {
			return smooth.Inputs
		}
	}
	mapped := b.mapped
	if met, ok := mapped.(*metMap); ok { // some columns of one product
		mapped, local = met.all, int(met.met[local])
	}
	grouped, ok := mapped.(groupedMap)
	if !ok {
		return nil
	}
	p := products{inputs: s.inputs.Dense}
	for _, g := range grouped.groups() {
		if local < g.first || local >= g.first+p.columns(&g) {
			continue
		}
		for _, n := range g.numbers {
			inputs = append(inputs, n.input)
		}
		return append(inputs, g.categories...)
	}
	return nil
}

// Smooth is a term whose weights mean nothing one by one: those of splines, random features, bumps and sigmoids, which
// together are one function of its inputs.
type Smooth struct {
	Block        string
	First, Count int   // of its weights, all of them dense
	Inputs       []int // dense inputs that it is a function of
	Segment      bool  // it is a function of columns of the sparse segment too
	Straight     bool  // its straight part is a plain column's weight
}

// Smooths returns the smooth terms in the order of their weights.
func (s *Set) Smooths() (smooths []Smooth) {
	for k := range s.terms {
		block := s.block(&s.terms[k])
		smooth := Smooth{Block: block.Name, First: block.First, Count: block.Count}
		switch t := s.terms[k].term.(type) {
		case *RandomFourier:
			smooth.Inputs, smooth.Segment = t.all(), t.Segment
			slices.Sort(smooth.Inputs)
			smooth.Inputs = slices.Compact(smooth.Inputs)
		case *Spline:
			smooth.Inputs, smooth.Straight = []int{t.Input}, true
		case *Cyclic:
			smooth.Inputs = []int{t.Input}
		case *HSGP:
			smooth.Inputs = t.Inputs
		case *Periodic:
			smooth.Inputs = []int{t.Input}
		case *Radial:
			smooth.Inputs = t.Inputs
		case *Sigmoid:
			smooth.Inputs = t.Inputs
		default:
			continue
		}
		smooth.Inputs = slices.Clone(smooth.Inputs)
		smooths = append(smooths, smooth)
	}
	return smooths
}
