package convex

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dualTable is the system of a table of fewer rows than weights, by them: see [gauss.Dual]. G are the precisions of the sites of
// classes.
type dualTable struct {
	diagonal
	columns  *problem.Columns // Φ, centred
	system   *gauss.Dual
	kernel   []float64 // ΦΛΦᵀ, n×n, upper
	of       []float64 // λ that the kernel is of
	roots    []float64 // of G
	inverse  []float64 // T
	inverted bool
}

func newDual(d diagonal, c *problem.Columns) *dualTable {
	n := c.Rows
	return &dualTable{
		diagonal: d, columns: c, system: gauss.NewDual(d.table.ws, n), roots: make([]float64, n),
		kernel: make([]float64, n*n), inverse: make([]float64, n*n),
	}
}

func (t *dualTable) factor(_ context.Context, precision []float64) error {
	t.setLambda(precision)
	if !slices.Equal(t.lambda, t.of) {
		t.columns.Outer(t.table.ws, t.kernel, t.lambda)
		t.of = append(t.of[:0], t.lambda...)
	}
	weights := t.rowWeights(precision)
	for i := range t.roots {
		t.roots[i] = math.Sqrt(at(weights, i, 1))
	}
	t.inverted = false
	return t.system.Set(t.kernel, t.roots)
}

func (t *dualTable) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	for j, l := range t.lambda {
		dst[j] *= l
	}
	rows, back := make([]float64, len(t.roots)), make([]float64, len(dst))
	t.columns.Mul(t.table.ws, rows, dst)
	t.system.Solve(rows, rows)
	t.columns.MulTrans(t.table.ws, back, rows)
	for j, l := range t.lambda {
		dst[j] -= l * back[j]
	}
	return nil
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
		copy(z[rows:], all[t.first:])
	}
	return nil
}

// weightVariances stores λ − λ² φᵀTφ of every centred column φ.
func (t *dualTable) weightVariances(dst []float64) {
	t.invert()
	t.columns.Quadratics(t.table.ws, dst, t.system, t.inverse)
	for j, l := range t.lambda {
		dst[j] = math.Max(l-l*l*dst[j], 1e-12*l)
	}
}

func (t *dualTable) covariance(dst []float64, scale float64) {
	n, d := len(t.roots), len(t.lambda)
	columns := make([]float64, d*n) // of ΦΛ, one behind the other
	for j, l := range t.lambda {
		t.columns.Column(columns[j*n:(j+1)*n], j)
		kernel.Scale(l, columns[j*n:(j+1)*n])
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
