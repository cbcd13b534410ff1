package feature

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// proportionedMap is a map whose columns are fixed functions of the inputs, each times a prior deviation that depends on the
// lengthscales: those of Hilbert-space Gaussian processes and of periodic kernels.
type proportionedMap struct {
	label       string
	lengthscale Lengthscale
	inputs      []int
	names       []string
	deviation   []float64 // of every column
	slopes      []float64 // ∂ log deviation/∂ log ℓ, columns × inputs
	fill        func(dst, x []float64)
	weightName  func(j int) string
	with        func(l Lengthscale) Term
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

func (m *proportionedMap) Columns() (dense, sparse int) { return len(m.deviation), 0 }

func (m *proportionedMap) WeightName(j int) string { return m.weightName(j) }

func (m *proportionedMap) Hyper() []credence.Hyper {
	return m.lengthscale.hyper(m.label, len(m.inputs), func(j int) string { return m.names[j] })
}

func (m *proportionedMap) WithHyper(values []float64) Term { return m.with(m.lengthscale.with(values)) }

func (m *proportionedMap) Fill(ws *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	mark := ws.Mark()
	x := ws.Floats(len(m.inputs))
	for i := range dst.Rows {
		for k, index := range m.inputs {
			x[k] = limit(rows.X.Row(i)[index])
		}
		row := dst.Row(i)
		m.fill(row, x)
		for j, v := range m.deviation {
			row[j] *= v
		}
	}
	ws.Release(mark)
}

// Pullback adds Σ_j (Σ_i dPhi_ij φ_ij) ∂ log deviation_j/∂ log ℓ.
func (m *proportionedMap) Pullback(ws *credence.Workspace, grad []float64, _ *credence.Batch, phi, dPhi linop.Dense) {
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
