package convex

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dualTable is the system of a table of fewer rows than weights, by them: see [gauss.Dual]. G are the weights of the rows,
// and Φ is centred.
type dualTable struct {
	diagonal
	byColumn linop.CSR // the sparse columns
	system   *gauss.Dual
	kernel   []float64 // ΦΛΦᵀ, n×n, upper
	of       []float64 // λ that the kernel is of
	roots    []float64 // of G
	inverse  []float64 // T
	inverted bool
}

func newDual(d diagonal) *dualTable {
	n, _ := d.table.Dims()
	return &dualTable{
		diagonal: d, byColumn: d.table.phi.Sparse.Transpose(), system: gauss.NewDual(d.table.ws, n), roots: make([]float64, n),
		kernel: make([]float64, n*n), inverse: make([]float64, n*n),
	}
}

func (t *dualTable) factor(_ context.Context, precision []float64) error {
	t.setLambda(precision)
	if !slices.Equal(t.lambda, t.of) {
		t.setKernel()
		t.of = append(t.of[:0], t.lambda...)
	}
	weights := t.rowWeights(precision)
	for i := range t.roots {
		t.roots[i] = math.Sqrt(at(weights, i, 1))
	}
	t.inverted = false
	return t.system.Set(t.kernel, t.roots)
}

// setKernel forms ΦΛΦᵀ.
func (t *dualTable) setKernel() {
	n, ws, phi := len(t.roots), t.table.ws, t.table.phi
	dense := phi.Dense.Cols
	ws.Pool().SyrkWeighted(n, dense, 1, phi.Dense.Data, max(1, phi.Dense.Stride), t.lambda[:dense], 0, t.kernel, n)
	if t.byColumn.Rows > 0 {
		t.byColumn.AddGram(ws.Pool(), &linop.Dense{Rows: n, Cols: n, Stride: n, Data: t.kernel}, t.lambda[dense:])
	}
	if t.table.means == nil {
		return
	}
	// (φ − φ₀c)ᵀΛ(φ' − φ'₀c) for the intercept's own column φ₀ = 1 and c with c₀ = 0.
	scaled, of := append([]float64(nil), t.table.means...), make([]float64, n)
	for j := range scaled {
		scaled[j] *= t.lambda[j]
	}
	phi.Mul(ws, of, scaled)
	mass := kernel.Dot(scaled, t.table.means)
	for i := range n {
		for k := i; k < n; k++ {
			t.kernel[i*n+k] += mass - of[i] - of[k]
		}
	}
}

func (t *dualTable) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	for j, l := range t.lambda {
		dst[j] *= l
	}
	rows := make([]float64, len(t.roots))
	t.table.project(rows, dst)
	t.system.Solve(rows, rows)
	back := make([]float64, len(dst))
	t.table.projectTrans(back, rows)
	for j, l := range t.lambda {
		dst[j] -= l * back[j]
	}
	return nil
}

func (t *dualTable) mul(dst, x []float64) {
	rows := make([]float64, len(t.roots))
	t.table.project(rows, x)
	for i, r := range t.roots {
		rows[i] *= r * r
	}
	t.table.projectTrans(dst, rows)
	for j, l := range t.lambda {
		dst[j] += x[j] / l
	}
}

func (t *dualTable) logDet() (float64, bool) { return t.system.LogDet() + t.logDetBeside(), true }

func (t *dualTable) invert() {
	if !t.inverted {
		t.system.Inverse(t.inverse)
		t.inverted = true
	}
}

func (t *dualTable) variances(_ context.Context, z []float64) error {
	t.invert()
	rows := t.rowSites()
	if rows > 0 {
		t.system.RowVariances(z[:rows], t.inverse)
	}
	if len(z) > rows {
		all := make([]float64, len(t.lambda))
		t.weightVariances(all)
		copy(z[rows:], all[t.sparse:])
	}
	return nil
}

// weightVariances stores λ − λ² φᵀTφ of every centred column φ.
func (t *dualTable) weightVariances(dst []float64) {
	t.invert()
	n, ws, phi := len(t.roots), t.table.ws, t.table.phi
	sums := make([]float64, n) // T1
	for i := range sums {
		sums[i] = kernel.Sum(t.inverse[i*n : (i+1)*n])
	}
	all, dense := kernel.Sum(sums), phi.Dense.Cols
	product := make([]float64, n*dense)
	ws.Pool().Gemm(false, false, n, dense, n, 1, t.inverse, n, phi.Dense.Data, max(1, phi.Dense.Stride), 0, product, dense)
	ws.InRuns(len(dst), func(from, to int) {
		for j := from; j < to; j++ {
			square, cross := 0.0, 0.0
			if j < dense {
				for i := range n {
					v := phi.Dense.Row(i)[j]
					square += v * product[i*dense+j]
					cross += v * sums[i]
				}
			} else {
				for i, v := range t.byColumn.Each(j - dense) {
					square += v * t.byColumn.AddRowDot(0, j-dense, t.inverse[i*n:(i+1)*n])
					cross += v * sums[i]
				}
			}
			if mean := at(t.table.means, j, 0); mean != 0 {
				square += mean * (mean*all - 2*cross)
			}
			l := t.lambda[j]
			dst[j] = math.Max(l-l*l*square, 1e-12*l)
		}
	})
}

func (t *dualTable) covariance(dst []float64, scale float64) {
	n, d, phi := len(t.roots), len(t.lambda), t.table.phi
	columns := make([]float64, d*n) // of ΦΛ, one behind the other
	for i := range n {
		phi.Each(i, func(j int, v float64) { columns[j*n+i] += v * t.lambda[j] })
		for j, mean := range t.table.means {
			columns[j*n+i] -= mean * t.lambda[j]
		}
	}
	t.system.Half(columns, d)
	t.table.ws.Pool().Syrk(d, n, -scale, columns, n, 0, dst, d)
	for j, l := range t.lambda {
		dst[j*d+j] += scale * l
	}
}

func (t *dualTable) posterior(mean []float64, root float64) credence.Posterior {
	q := &posterior.Dual{
		Mean: mean, PriorVariance: slices.Clone(t.lambda), Centre: slices.Clone(t.table.means),
		Factor: slices.Clone(t.system.Upper()), Scale: root,
	}
	n, _ := t.table.Dims()
	q.Design.Dense = linop.NewDense(n, t.table.phi.Dense.Cols)
	for i, r := range t.roots {
		kernel.Axpy(r, t.table.phi.Dense.Row(i), q.Design.Dense.Row(i))
	}
	q.Design.Sparse = t.table.phi.Sparse.ScaleRows(t.roots)
	return q
}
