package feature

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Bumps is what [Radial] and [Sigmoid] share: k functions of the distance
// ‖(x - c_i)/ℓ‖ to a centre each, with ℓ one lengthscale or one for each input.
type Bumps struct {
	Name        string      `json:"name"` // as the formula writes it
	Inputs      []int       `json:"inputs"`
	Lengthscale Lengthscale `json:"lengthscale"`
	// Centres are the centres as the inputs enter the fit, k×d, for example rows of the data.
	Centres []float64 `json:"-" tensor:"centres,n,inputs"`
}

// Radial is Gaussian bumps, φ_i(x) = exp(-½‖(x-c_i)/ℓ‖²).
type Radial struct{ Bumps }

// Sigmoid is logistic functions of a distance, φ_i(x) = 1/(1+exp(-‖(x-c_i)/ℓ‖)),
// the sigmoidal basis of revrand: ½ at its centre and 1 far from it.
type Sigmoid struct{ Bumps }

// Kind implements [Term].
func (*Radial) Kind() string { return "radial" }

// Kind implements [Term].
func (*Sigmoid) Kind() string { return "sigmoid" }

// Label implements [Term].
func (t *Bumps) Label() string { return t.Name }

// TensorInputs implements [Tensored].
func (t *Bumps) TensorInputs(*Inputs) int { return len(t.Inputs) }

// Bind implements [Term].
func (t *Radial) Bind(in *Inputs) (Map, error) { return t.Bumps.bind(in, false) }

// Bind implements [Term].
func (t *Sigmoid) Bind(in *Inputs) (Map, error) { return t.Bumps.bind(in, true) }

func (t *Bumps) bind(in *Inputs, sigmoid bool) (Map, error) {
	m := &bumpMap{bumps: *t, sigmoid: sigmoid}
	var err error
	if m.reader, err = newReader(t.Name, in, t.Inputs, false, nil); err != nil {
		return nil, err
	}
	d := m.reader.d
	if len(t.Centres) == 0 || len(t.Centres)%d != 0 {
		return nil, fmt.Errorf("feature: %s has %d centre values for %d inputs: give rows of %d", t.Name, len(t.Centres), d, d)
	}
	if m.bumps.Lengthscale, err = t.Lengthscale.fill(t.Name, d); err != nil {
		return nil, err
	}
	m.reader.scaleBy(&m.bumps.Lengthscale)
	m.k = len(t.Centres) / d
	m.centres = make([]float64, len(t.Centres))
	for i, v := range t.Centres {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("feature: %s: value %d of centre %d is %g: give finite numbers", t.Name, i%d+1, i/d+1, v)
		}
		m.centres[i] = limit(v * m.reader.inverse[i%d])
	}
	return m, nil
}

type bumpMap struct {
	bumps   Bumps
	sigmoid bool
	reader  reader
	k       int
	centres []float64 // c/ℓ, k×d
	jobs    jobs
}

func (m *bumpMap) Columns() (dense, sparse int) { return m.k, 0 }

func (m *bumpMap) WeightName(j int) string { return fmt.Sprintf("centre %d", j+1) }

func (m *bumpMap) Hyper() []credence.Hyper {
	return m.bumps.Lengthscale.hyper(m.bumps.Name, m.reader.d, m.reader.name)
}

func (m *bumpMap) WithHyper(values []float64) Term {
	bumps := m.bumps
	bumps.Lengthscale = bumps.Lengthscale.with(values)
	if m.sigmoid {
		return &Sigmoid{bumps}
	}
	return &Radial{bumps}
}

// Fill sums squared differences rather than expanding the square into a product
// of matrices, which near a centre would lose the distance to rounding.
func (m *bumpMap) Fill(ws *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	mark := ws.Mark()
	job := m.jobs.take(m.work)
	job.x = ws.Floats(min(dst.Rows, credence.BlockRows) * m.reader.d)
	for first := range credence.Blocks(dst.Rows) {
		job.block(dst, first)
		m.reader.read(job.x, rows, first, job.rows)
		ws.Pool().Run(job.tasks(), job.forward)
	}
	m.jobs.give(job)
	ws.Release(mark)
}

// Pullback adds, with u = (x-c_i)/ℓ and r = ‖u‖,
//
//	radial:  ∂φ/∂log ℓ_j = φ u_j²
//	sigmoid: ∂φ/∂log ℓ_j = -φ(1-φ) u_j²/r
//
// in tasks of fixed rows, whose sums are added in order.
func (m *bumpMap) Pullback(ws *credence.Workspace, grad []float64, rows *credence.Batch, phi, dPhi linop.Dense) {
	mark := ws.Mark()
	d := m.reader.d
	block := min(phi.Rows, credence.BlockRows)
	job := m.jobs.take(m.work)
	job.x = ws.Floats(block * d)
	job.sums = ws.Floats((block + taskRows - 1) / taskRows * d)
	byInput := ws.Floats(d)
	clear(byInput)
	for first := range credence.Blocks(phi.Rows) {
		job.block(phi, first)
		job.dPhi = dPhi.Data[first*phi.Stride:]
		m.reader.read(job.x, rows, first, job.rows)
		ws.Pool().Run(job.tasks(), job.backward)
		for task := range job.tasks() {
			kernel.Axpy(1, job.sums[task*d:(task+1)*d], byInput)
		}
	}
	m.bumps.Lengthscale.addTo(grad, byInput)
	m.jobs.give(job)
	ws.Release(mark)
}

// work makes the closures of a job.
func (m *bumpMap) work(job *job) {
	d, k := m.reader.d, m.k
	job.forward = func(task, _ int) {
		for i := task * taskRows; i < min((task+1)*taskRows, job.rows); i++ {
			row, x := job.phi[i*job.stride:i*job.stride+k], job.x[i*d:(i+1)*d]
			for c := range row {
				row[c] = m.squaredDistance(x, c)
			}
			if m.sigmoid {
				for c, square := range row {
					row[c] = math.Sqrt(square)
				}
				kernel.Logistic(row, row)
				continue
			}
			kernel.Scale(-0.5, row)
			kernel.Exp(row, row)
		}
	}
	job.backward = func(task, _ int) {
		sums := job.sums[task*d : (task+1)*d]
		clear(sums)
		for i := task * taskRows; i < min((task+1)*taskRows, job.rows); i++ {
			row, change, x := job.phi[i*job.stride:], job.dPhi[i*job.stride:], job.x[i*d:(i+1)*d]
			for c := range k {
				h := change[c] * row[c]
				if m.sigmoid {
					r := math.Sqrt(m.squaredDistance(x, c))
					if r == 0 {
						continue // u_j²/r ≤ r, which vanishes
					}
					h *= (row[c] - 1) / r
				}
				if h == 0 {
					continue // far away, where u² may be huge
				}
				for j, centre := range m.centres[c*d : (c+1)*d] {
					u := x[j] - centre
					sums[j] += h * u * u
				}
			}
		}
	}
}

// squaredDistance returns ‖x - c/ℓ‖² for a row x already divided by ℓ.
func (m *bumpMap) squaredDistance(x []float64, c int) float64 {
	sum := 0.0
	for j, centre := range m.centres[c*len(x) : (c+1)*len(x)] {
		u := x[j] - centre
		sum += u * u
	}
	return sum
}
