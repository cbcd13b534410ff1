package feature

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// proportionedMap is a map whose columns are fixed functions of the inputs, each times a prior deviation that depends
// on the lengthscales: those of Hilbert-space Gaussian processes and of periodic kernels.
type proportionedMap struct {
	label       string
	lengthscale Lengthscale
	inputs      []int
	names       []string
	deviation   []float64 // of every column
	slopes      []float64 // ∂ log deviation/∂ log ℓ, columns × inputs
	fill        func(dst, x []float64)
	weightName  func(j int) string
	term        Term
	apart       bool // the deviations are those of the prior alone, and columns are without them
}

// bindProportioned binds the inputs and lengthscales of a term.
func bindProportioned(label string, in *Inputs, inputs []int, l Lengthscale) (*proportionedMap, error) {
	r, err := newReader(label, in, inputs, false, nil)
	if err != nil {
		return nil, err
	}
	m := &proportionedMap{label: label, inputs: r.dense, names: r.names}
	m.lengthscale, err = l.fill(label, r.d)
	return m, err
}

// proportioned returns the map, also of those that have one.
func (m *proportionedMap) proportioned() *proportionedMap { return m }

func (m *proportionedMap) Columns() (dense, sparse int) { return len(m.deviation), 0 }

func (m *proportionedMap) WeightName(j int) string { return m.weightName(j) }

func (m *proportionedMap) Hyper() []credence.Hyper {
	return m.lengthscale.hyper(m.label, len(m.inputs), func(j int) string { return m.names[j] })
}

func (m *proportionedMap) WithHyper(values []float64) Term {
	return changed(m.term, func(l *Lengthscale, _ *bool) { *l = m.lengthscale.with(values) })
}

func (m *proportionedMap) Fill(ws *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	mark := ws.Mark()
	x := ws.Floats(len(m.inputs))
	for i := range dst.Rows {
		for k, index := range m.inputs {
			x[k] = limit(rows.X.Row(i)[index])
		}
		row := dst.Row(i)
		m.fill(row, x)
		if m.apart {
			continue
		}
		for j, v := range m.deviation {
			row[j] *= v
		}
	}
	ws.Release(mark)
}

// Pullback adds Σ_j (Σ_i dPhi_ij φ_ij) ∂ log deviation_j/∂ log ℓ.
func (m *proportionedMap) Pullback(ws *credence.Workspace, grad []float64, _ *credence.Batch, phi, dPhi linop.Dense) {
	if m.apart {
		return
	}
	mark := ws.Mark()
	sums, byInput := ws.Floats(len(m.deviation)), ws.Floats(len(m.inputs))
	clear(sums)
	clear(byInput)
	for i := range phi.Rows {
		change := dPhi.Row(i)
		for j, v := range phi.Row(i) {
			sums[j] += v * change[j]
		}
	}
	for j, sum := range sums {
		for k := range byInput {
			byInput[k] += sum * m.slopes[j*len(byInput)+k]
		}
	}
	m.lengthscale.addTo(grad, byInput)
	ws.Release(mark)
}

// Apart implements [credence.Proportioned].
func (s *Set) Apart() (credence.Features, bool) {
	learned := func(h credence.Hyper) bool { return !h.Held }
	any := false
	for k := range s.terms {
		if b := &s.terms[k]; b.tunable != nil && slices.ContainsFunc(b.tunable.Hyper(), learned) {
			if _, ok := b.mapped.(interface{ proportioned() *proportionedMap }); !ok {
				return nil, false
			}
			any = true
		}
	}
	if !any {
		return nil, false
	}
	return s.replace(func(b *bound) Term {
		if b.tunable == nil || !slices.ContainsFunc(b.tunable.Hyper(), learned) {
			return nil
		}
		return changed(b.term, func(_ *Lengthscale, apart *bool) { *apart = true })
	}), true
}

// changed returns a term of this kind with other lengthscales, or with its deviations apart or not, and others as they
// are.
func changed(term Term, change func(l *Lengthscale, apart *bool)) Term {
	switch t := term.(type) {
	case *HSGP:
		other := *t
		change(&other.Lengthscale, &other.Apart)
		return &other
	case *Periodic:
		other := *t
		change(&other.Lengthscale, &other.Apart)
		return &other
	}
	return term
}

// Deviations implements [credence.Proportioned].
func (s *Set) Deviations(deviation, slopes []float64) {
	d := s.Weights()
	for j := range d {
		deviation[j] = 1
	}
	clear(slopes)
	for k := range s.terms {
		b := &s.terms[k]
		p, ok := b.mapped.(interface{ proportioned() *proportionedMap })
		if !ok || !p.proportioned().apart {
			continue
		}
		m := p.proportioned()
		copy(deviation[b.firstDense:], m.deviation)
		if slopes == nil {
			continue
		}
		inputs, byHyper := len(m.inputs), make([]float64, b.hypers)
		for j := range m.deviation {
			clear(byHyper)
			m.lengthscale.addTo(byHyper, m.slopes[j*inputs:(j+1)*inputs])
			for h, v := range byHyper {
				slopes[(b.firstHyper+h)*d+b.firstDense+j] = v
			}
		}
	}
}

var _ credence.Proportioned = (*Set)(nil)
