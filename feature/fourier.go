package feature

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// RandomFourier are random Fourier features of a stationary kernel: 2n weights,
// first those of the n cosines, then those of the n sines.
type RandomFourier struct {
	Name        string      `json:"name"` // as the formula writes it
	Kernel      Kernel      `json:"kernel"`
	Sampling    Sampling    `json:"sampling,omitempty"` // empty means the kernel's default
	Inputs      []int       `json:"inputs,omitempty"`   // dense inputs, numbers
	Segment     bool        `json:"segment,omitempty"`  // whether the sparse segment takes part, after Inputs
	Without     []int32     `json:"without,omitempty"`  // columns of the segment left out, increasing from 0
	Lengthscale Lengthscale `json:"lengthscale"`
	// Times are further kernels, by which the first is multiplied: a frequency is one of each.
	Times []Factor `json:"times,omitempty"`
	// Given says that the user gave the frequencies, so that they are never redrawn.
	Given bool `json:"given,omitempty"`
	// Frequencies are the standard frequencies ω, before division by the
	// lengthscale: n×d, d the number of inputs. [RandomFourier.Draw] draws them.
	Frequencies []float64 `json:"-" tensor:"frequencies,n,inputs,optional"`
	// Fastfood has the numbers of Count frequencies under [Fastfood], in place of Frequencies.
	Fastfood []float64 `json:"-" tensor:"fastfood,numbers,optional"`
	Count    int       `json:"count,omitempty"`
	// Amplitudes are what cosines and sines of every frequency are multiplied by, whose squares add up to 1; nil means
	// 1/√n.
	Amplitudes []float64 `json:"-" tensor:"amplitudes,n,optional"`
}

// Kind implements [Term].
func (*RandomFourier) Kind() string { return "fourier" }

// Label implements [Term].
func (t *RandomFourier) Label() string { return t.Name }

// TensorInputs implements [Tensored].
func (t *RandomFourier) TensorInputs(in *Inputs) int {
	if !t.Segment {
		return len(t.all())
	}
	return len(t.Inputs) + in.Segment - len(t.Without)
}

// ReadsSegment implements [SegmentReader].
func (t *RandomFourier) ReadsSegment() bool { return t.Segment }

// Draw returns the term with n frequencies drawn from rng.
func (t *RandomFourier) Draw(in *Inputs, n int, rng *rand.Rand) (*RandomFourier, error) {
	r, err := newReader(t.Name, in, t.all(), t.Segment, t.Without)
	if err != nil {
		return nil, err
	}
	drawn := *t
	drawn.Given = false
	if t.Times == nil {
		drawn.Sampling = cmp.Or(t.Sampling, t.Kernel.DefaultSampling(r.d))
	}
	return &drawn, drawn.draw(n, r.d, rng)
}

// Bind implements [Term].
func (t *RandomFourier) Bind(in *Inputs) (Map, error) {
	m := &fourierMap{term: *t}
	var err error
	if m.reader, err = newReader(t.Name, in, t.all(), t.Segment, t.Without); err != nil {
		return nil, err
	}
	d := m.reader.d
	if err := m.bindFactors(in); err != nil {
		return nil, err
	}
	if t.Sampling == Fastfood {
		if m.fast, err = newFast(t, d); err != nil {
			return nil, err
		}
		m.n = t.Count
	} else if m.n = len(t.Frequencies) / d; m.n == 0 || len(t.Frequencies)%d != 0 {
		return nil, fmt.Errorf("feature: %s has %d frequency values for %d inputs: give rows of %d, or draw them", t.Name, len(t.Frequencies), d, d)
	}
	for i, v := range t.Frequencies {
		if !(math.Abs(v) <= farthest) {
			return nil, fmt.Errorf("feature: %s: value %d of frequency %d is %g: give finite numbers", t.Name, i%d+1, i/d+1, v)
		}
	}
	if m.term.Amplitudes != nil && len(m.term.Amplitudes) != m.n {
		return nil, fmt.Errorf("feature: %s has %d amplitudes for %d frequencies: give one each, or none", t.Name, len(t.Amplitudes), m.n)
	}
	for i, v := range m.term.Amplitudes {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("feature: %s: amplitude %d is %g: give numbers whose squares add up to 1", t.Name, i+1, v)
		}
	}
	if t.Given {
		return m, nil
	}
	return &redrawable{m}, nil
}

// fourierMap computes Z = (X/ℓ) Ωᵀ and φ = [a cos Z, a sin Z], a the amplitudes.
type fourierMap struct {
	term    RandomFourier
	factors []factor
	reader  reader
	n       int
	fast    *fast // nil where frequencies are numbers of their own
	jobs    jobs
}

// redrawable adds Redraw and Thin to maps whose frequencies the user did not give.
type redrawable struct{ *fourierMap }

func (m *redrawable) Redraw(rng *rand.Rand) Term {
	term := m.term
	if err := term.draw(m.n, m.reader.d, rng); err != nil {
		panic(err.Error())
	}
	return &term
}

func (m *redrawable) Thin(parts int) Term {
	term := m.term
	n := max(1, m.n/parts)
	if m.fast != nil {
		term.Count, term.Fastfood = n, slices.Clip(term.Fastfood[:m.fast.numbers(n)])
		return &term
	}
	term.Frequencies = slices.Clip(term.Frequencies[:n*m.reader.d])
	if term.Amplitudes != nil && n < m.n {
		term.Amplitudes = normalised(slices.Clone(term.Amplitudes[:n]))
	}
	return &term
}

func (m *fourierMap) Columns() (dense, sparse int) { return 2 * m.n, 0 }

func (m *fourierMap) WeightName(j int) string {
	if j < m.n {
		return fmt.Sprintf("cos %d", j+1)
	}
	return fmt.Sprintf("sin %d", j-m.n+1)
}

// Fill goes by blocks of BlockRows rows: the product lands in the cosine columns of
// dst, where sines and cosines then take its place, so Z needs no memory of its own.
func (m *fourierMap) Fill(ws *credence.Workspace, dst linop.Dense, rows *credence.Batch) {
	mark := ws.Mark()
	d, n := m.reader.d, m.n
	x := ws.Floats(min(dst.Rows, credence.BlockRows) * d)
	job := m.jobs.take(m.work)
	job.x, job.scratch = x, ws.Floats(m.fast.scratch(ws))
	for first := range credence.Blocks(dst.Rows) {
		job.block(dst, first)
		m.reader.read(x, rows, first, job.rows)
		if m.fast == nil {
			ws.Pool().Gemm(false, true, job.rows, n, d, 1, x, d, m.term.Frequencies, d, 0, job.phi, dst.Stride)
		}
		ws.Pool().Run(job.tasks(), job.forward)
	}
	m.jobs.give(job)
	ws.Release(mark)
}

// Pullback uses that the derivatives of cosine and sine are already in phi:
//
//	dZ = -dC ⊙ φ_S + dS ⊙ φ_C,   ∂L/∂log ℓ_j = -Σ_i ω_ij (dZᵀ X/ℓ)_ij,
//
// where C and S are the cosine and sine columns. One product of n×rows by rows×d
// serves all d lengthscales.
func (m *fourierMap) Pullback(ws *credence.Workspace, grad []float64, rows *credence.Batch, phi, dPhi linop.Dense) {
	mark := ws.Mark()
	d, n := m.reader.d, m.n
	block := min(phi.Rows, credence.BlockRows)
	x := ws.Floats(block * d)
	z := ws.Floats(block * n)
	byInput := ws.Floats(d)
	clear(byInput)
	job := m.jobs.take(m.work)
	job.x, job.z, job.scratch = x, z, ws.Floats(m.fast.scratch(ws))
	var product []float64
	if m.fast == nil {
		product = ws.Floats(n * d)
	} else {
		job.sums = ws.Floats((block + taskRows - 1) / taskRows * d)
	}
	beta := 0.0
	for first := range credence.Blocks(phi.Rows) {
		job.block(phi, first)
		job.dPhi = dPhi.Data[first*phi.Stride:]
		m.reader.read(x, rows, first, job.rows)
		ws.Pool().Run(job.tasks(), job.backward)
		if m.fast != nil {
			for task := range job.tasks() {
				kernel.Axpy(-1, job.sums[task*d:(task+1)*d], byInput)
			}
			continue
		}
		ws.Pool().Gemm(true, false, d, n, job.rows, 1, x, d, z, n, beta, product, n)
		beta = 1
	}
	m.jobs.give(job)

	for j := range d {
		for i := 0; m.fast == nil && i < n; i++ {
			byInput[j] -= m.term.Frequencies[i*d+j] * product[j*n+i]
		}
	}
	for k := range m.factors {
		f := &m.factors[k]
		f.lengthscale.addTo(grad[f.hyper:], byInput[f.first:f.first+f.count])
	}
	ws.Release(mark)
}

// work makes the closures of a job.
func (m *fourierMap) work(job *job) {
	n := m.n
	scale, amplitudes := 1/math.Sqrt(float64(n)), m.term.Amplitudes
	job.forward = func(task, worker int) {
		if m.fast != nil {
			m.fast.forward(job, task, worker)
		}
		for i := task * taskRows; i < min((task+1)*taskRows, job.rows); i++ {
			row := job.phi[i*job.stride : i*job.stride+2*n]
			cos, sin := row[:n], row[n:]
			kernel.SinCos(sin, cos, cos)
			if amplitudes == nil {
				kernel.Scale(scale, row)
				continue
			}
			for k, a := range amplitudes {
				cos[k] *= a
				sin[k] *= a
			}
		}
	}
	job.backward = func(task, worker int) {
		for i := task * taskRows; i < min((task+1)*taskRows, job.rows); i++ {
			row := job.phi[i*job.stride : i*job.stride+2*n]
			change := job.dPhi[i*job.stride : i*job.stride+2*n]
			z := job.z[i*n : (i+1)*n]
			cos, sin := row[:len(z)], row[n:n+len(z)]
			dCos, dSin := change[:len(z)], change[n:n+len(z)]
			for k := range z {
				z[k] = dSin[k]*cos[k] - dCos[k]*sin[k]
			}
		}
		if m.fast != nil {
			m.fast.backward(job, task, worker)
		}
	}
}

// plain are the frequencies, and what cosines and sines are multiplied by.
func (m *fourierMap) plain(p Plain) []Plain {
	p.Kind, p.Inputs = "waves", m.reader.dense
	p.Numbers["inverse"], p.Numbers["rows"], p.Numbers["deviation"] = m.reader.inverse, m.term.Frequencies, m.term.Amplitudes
	for k := 0; m.term.Amplitudes == nil && k < m.n; k++ {
		p.Numbers["deviation"] = append(p.Numbers["deviation"], 1/math.Sqrt(float64(m.n)))
	}
	return []Plain{p}
}
