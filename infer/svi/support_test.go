package svi

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// table data in memory.
type memory struct {
	x                         linop.Dense
	y, offset, weight, trials []float64
	precision                 []float64
	reads                     int
}

func (m *memory) Rows() int { return m.x.Rows }

func (m *memory) Read(dst *credence.Batch, first, count int) error {
	m.reads++
	dst.First = first
	dst.X = linop.Dense{Rows: count, Cols: m.x.Cols, Stride: m.x.Stride}
	if count > 0 && m.x.Cols > 0 {
		dst.X.Data = m.x.Data[first*m.x.Stride : (first+count)*m.x.Stride]
	}
	dst.Sparse.Reset(0)
	for range count {
		dst.Sparse.AppendRow(nil, nil)
	}
	dst.Target = rowsOf(m.y, first, first+count)
	dst.Offset = rowsOf(m.offset, first, first+count)
	dst.Weight = rowsOf(m.weight, first, first+count)
	dst.Trials = rowsOf(m.trials, first, first+count)
	dst.Precision = rowsOf(m.precision, first, first+count)
	return nil
}

// plain are the inputs themselves: an intercept if wanted, then p columns, of
// which the last sparse are stored sparse.
type plain struct {
	p, sparse int
	intercept bool
}

func (f plain) Weights() int {
	if f.intercept {
		return f.p + 1
	}
	return f.p
}

func (f plain) Blocks() []credence.Block {
	if f.intercept {
		return []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "linear", First: 1, Count: f.p}}
	}
	return []credence.Block{{Name: "linear", Count: f.p}}
}

func (f plain) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	n := rows.Rows()
	extra := f.Weights() - f.p
	dense := f.p - f.sparse
	phi.Dense.Reshape(n, extra+dense)
	phi.Sparse.Reset(f.sparse)
	for i := range n {
		row := phi.Dense.Row(i)
		if f.intercept {
			row[0] = 1
		}
		x := rows.X.Row(i)
		copy(row[extra:], x[:dense])
		var columns []int32
		values := []float64{}
		for j, v := range x[dense:] {
			if v != 0 {
				columns = append(columns, int32(j))
				values = append(values, v)
			}
		}
		phi.Sparse.AppendRow(columns, values)
	}
}

// normal learns a prior variance for each block.
var normal = prior.Normal{}

func held(v float64) prior.Normal {
	return prior.Normal{Variance: param.Parameter{Value: v, State: param.Held}}
}

// problem of a family: rows drawn from it with normal inputs and weights.
func draw(t testing.TB, lik credence.Likelihood, n, p int, seed uint64) *memory {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	m := &memory{x: linop.NewDense(n, p), y: make([]float64, n)}
	w := make([]float64, p)
	for j := range w {
		w[j] = 0.7 * rng.NormFloat64()
	}
	for i := range n {
		f := 0.3
		for j := range p {
			v := rng.NormFloat64()
			if j > 0 {
				v = 0.6*m.x.Row(i)[j-1] + 0.8*v
			}
			m.x.Row(i)[j] = v
			f += v * w[j]
		}
		m.y[i] = lik.(likelihood.Sampler).Sample(rng, f)
	}
	return m
}

// newFit is a fit before its first step.
func newFit(t testing.TB, model credence.Model, cfg Config, data credence.Data) *fit {
	t.Helper()
	cfg.Hyper = cmp.Or(cfg.Hyper, param.MaximumLikelihood)
	e := must.Value(New(model, cfg))(t)
	return must.Value(e.newFit(data))(t)
}

// fitted is a fit by type-II maximum likelihood unless the config says otherwise.
func fitted(t testing.TB, model credence.Model, cfg Config, data credence.Data) *credence.Fitted {
	t.Helper()
	cfg.Hyper = cmp.Or(cfg.Hyper, param.MaximumLikelihood)
	e := must.Value(New(model, cfg))(t)
	return must.Value(e.Fit(context.Background(), data))(t)
}

func closeTo(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %.12g, want %.12g (off by %.2g, allowed %.2g)", what, got, want, got-want, tolerance)
	}
}

// boundOf is the bound of a fit, at the mode of the hyper-parameters where that alone is known.
func boundOf(f *credence.Fitted) float64 {
	if f.Report.ELBO == nil {
		return *f.Report.ELBOMode
	}
	return *f.Report.ELBO
}

// rowsOf returns rows [from, to) of a slice that may be nil.
func rowsOf(x []float64, from, to int) []float64 {
	if x == nil {
		return nil
	}
	return x[from:to]
}

// inputsOf are p numeric inputs.
func inputsOf(p int) feature.Inputs {
	var in feature.Inputs
	for j := range p {
		in.Dense = append(in.Dense, feature.Input{Column: credence.Column{Name: string(rune('a' + j))}})
	}
	return in
}

// fourier is an intercept and n random frequencies of p inputs with lengthscales to learn.
func fourier(t testing.TB, p, n int, ard bool) *feature.Set {
	t.Helper()
	in := inputsOf(p)
	term := &feature.RandomFourier{Name: "rbf(.)", Kernel: feature.RBF}
	for j := range p {
		term.Inputs = append(term.Inputs, j)
	}
	term.Lengthscale.Shared = !ard
	drawn := must.Value(term.Draw(&in, n, rand.New(rand.NewPCG(7, 7))))(t)
	return must.Value(feature.New(in, &feature.Intercept{}, drawn))(t)
}
