package conform

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// Memory is one batch as data.
type Memory struct{ All *credence.Batch }

// Rows implements credence.Data.
func (m Memory) Rows() int { return m.All.Rows() }

// Read implements credence.Data.
func (m Memory) Read(dst *credence.Batch, first, count int) error {
	*dst = *Rows(m.All, first, count)
	return nil
}

// Rows returns count rows from first on.
func Rows(rows *credence.Batch, first, count int) *credence.Batch {
	part := &credence.Batch{First: rows.First + first}
	part.Append(rows, first, count)
	return part
}

// Opened opens a batch as the rows of a fit.
func Opened(t testing.TB, l credence.Likelihood, all *credence.Batch) *problem.Rows {
	t.Helper()
	r, err := problem.Open("test", credence.Model{Likelihood: l}, Memory{all}, problem.AllRoles)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Regression returns n rows of p normal inputs, neighbours with a correlation of 0.6, and targets
// drawn from a family at normal weights.
func Regression(family likelihood.Sampler, n, p int, seed uint64) *credence.Batch {
	rng := rand.New(rand.NewPCG(seed, 1))
	rows := &credence.Batch{X: linop.NewDense(n, p), Target: make([]float64, n)}
	w := make([]float64, p)
	for j := range w {
		w[j] = 0.7 * rng.NormFloat64()
	}
	for i := range n {
		f, row := 0.3, rows.X.Row(i)
		for j := range p {
			row[j] = rng.NormFloat64()
			if j > 0 {
				row[j] = 0.6*row[j-1] + 0.8*row[j]
			}
			f += row[j] * w[j]
		}
		rows.Target[i] = family.Sample(rng, f)
	}
	return rows
}

// Columns are inputs as they are: an intercept if wanted, then the dense inputs, of which the last
// Sparse are stored sparse without their zeros.
type Columns struct {
	Dense, Sparse int
	Intercept     bool
	Kept          int              // the first columns, a block that is never selected
	Together      []credence.Block // runs of columns selected together, by their first column
}

func (f Columns) extra() int {
	if f.Intercept {
		return 1
	}
	return 0
}

// Weights implements credence.Features.
func (f Columns) Weights() int { return f.extra() + f.Dense + f.Sparse }

// Blocks implements credence.Features.
func (f Columns) Blocks() []credence.Block {
	var list []credence.Block
	if f.Intercept {
		list = append(list, credence.Block{Name: "(intercept)", Count: 1, Intercept: true})
	}
	if f.Kept > 0 {
		list = append(list, credence.Block{Name: "kept", First: f.extra(), Count: f.Kept, Kept: true})
	}
	return append(list, credence.Block{Name: "linear", First: f.extra() + f.Kept, Count: f.Dense + f.Sparse - f.Kept})
}

// Groups implements credence.Grouped.
func (f Columns) Groups() []credence.Block {
	var list []credence.Block
	for _, b := range f.Together {
		b.First += f.extra()
		list = append(list, b)
	}
	return list
}

// Transform implements credence.Features.
func (f Columns) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense.Reshape(rows.Rows(), f.extra()+f.Dense)
	phi.Sparse.Reset(f.Sparse)
	for i := range rows.Rows() {
		row, x := phi.Dense.Row(i), rows.X.Row(i)
		if f.Intercept {
			row[0] = 1
		}
		copy(row[f.extra():], x[:f.Dense])
		columns, values := []int32{}, []float64{}
		for j, v := range x[f.Dense:] {
			if v != 0 {
				columns, values = append(columns, int32(j)), append(values, v)
			}
		}
		phi.Sparse.AppendRow(columns, values)
	}
}

// Gradient compares a gradient with central differences: to 1e-6 of the largest slope, which is above
// the rounding of the value over the step, 1e-13·10³/1e-5, and the curvature's share.
func Gradient(t *testing.T, x, gradient []float64, value func(x []float64) float64) {
	t.Helper()
	largest := floats.Norm(gradient, math.Inf(1))
	for i, at := range x {
		const h = 1e-5
		x[i] = at + h
		up := value(x)
		x[i] = at - h
		down := value(x)
		x[i] = at
		if want := (up - down) / (2 * h); math.Abs(gradient[i]-want) > 1e-6*largest+1e-6 {
			t.Errorf("slope in variable %d of %d is %.9g, by differences %.9g", i, len(x), gradient[i], want)
		}
	}
}
