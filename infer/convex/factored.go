package convex

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// factored is the system of a table whose A is factored, so that variances are exact.
type factored interface {
	system
	// weightVariances stores diag A⁻¹ of (b̃, w).
	weightVariances(dst []float64)
	// covariance stores the upper triangle of scale A⁻¹ of (b̃, w), d×d.
	covariance(dst []float64, scale float64)
	// posterior is N(mean, root² A⁻¹) of the weights at zero of the columns.
	posterior(mean []float64, root float64) credence.Posterior
}

// beside is a table and the diagonal that A has beside its rows.
type beside struct {
	table   *columns
	classes bool
	normal  []float64 // prior precisions of (b̃, w) times σ²
	first   int       // first weight that is no intercept
	heavy   bool      // weights are sites of their own
}

// operators are X and B: the table with its prior, and rows and weights that are sites. A selection of nothing stands
// for none.
func (t *beside) operators() measured {
	_, d := t.table.Dims()
	roots, weights := make(linop.Diagonal, d), &linop.Selection{Cols: d}
	for j, v := range t.normal {
		if roots[j] = math.Sqrt(v); t.heavy && j >= t.first {
			weights.Places = append(weights.Places, j)
		}
	}
	switch {
	case !t.classes:
		return measured{x: linop.NewStack(t.table, roots), b: weights}
	case !t.heavy:
		return measured{x: roots, b: t.table}
	}
	return measured{x: roots, b: linop.NewStack(t.table, weights)}
}

// diagonal is what forms of a factored table share.
type diagonal struct {
	*measured
	*beside
	lambda []float64 // inverse of A beside the rows, at the last factor
}

// leastPrecision keeps Λ finite.
const leastPrecision = 1e-12

func (t *diagonal) setLambda(precision []float64) {
	t.lambda = t.rest(precision)
	for j, v := range t.lambda {
		t.lambda[j] = 1 / math.Max(v, leastPrecision)
	}
}

// logDetBeside is what log|A| has beside log|ΛA|.
func (t *diagonal) logDetBeside() (sum float64) {
	for _, l := range t.lambda {
		sum -= math.Log(l)
	}
	return sum
}

// rowSites is the number of rows that are sites; weights that are follow them.
func (t *beside) rowSites() int {
	if !t.classes {
		return 0
	}
	rows, _ := t.table.Dims()
	return rows
}

// rowWeights returns the weights of the rows in A, nil where all are 1.
func (t *beside) rowWeights(precision []float64) []float64 {
	if !t.classes {
		return nil
	}
	return precision[:t.rowSites()]
}

// rest returns the diagonal.
func (t *beside) rest(precision []float64) []float64 {
	out := slices.Clone(t.normal)
	for k, v := range precision[t.rowSites():] {
		out[t.first+k] += v
	}
	return out
}

// exactTable is the system of a table of so few columns that A is formed and factored, with S² = Λ. The first sites are
// its rows, for classes; the last ones weights under a prior that is not normal.
type exactTable struct {
	diagonal
	layout     gauss.Dense
	system     gauss.Factor
	h          []float64 // ΦᵀWΦ, centred; nil before the first
	deviations []float64 // S
}

func newExact(d diagonal) *exactTable {
	_, p := d.table.Dims()
	t := &exactTable{diagonal: d, layout: gauss.Dense{Weights: p, Definite: true}, deviations: make([]float64, p)}
	t.system = t.layout.Factor(d.table.ws)
	return t
}

func (t *exactTable) setGram(weights []float64) {
	t.h = append(t.h[:0], make([]float64, t.layout.Len())...)
	n, _ := t.table.Dims()
	for first, count := range credence.Blocks(n) { // the order of additions of every engine
		part := t.table.phi.Window(first, count)
		var of []float64
		if weights != nil {
			of = weights[first : first+count]
		}
		t.layout.AddRows(t.table.ws, t.h, &part, of)
	}
	t.layout.Close(t.h, t.table.phi.Dense.Cols)
	if t.table.means != nil {
		t.layout.Centre(t.h, t.table.means)
	}
}

func (t *exactTable) factor(_ context.Context, precision []float64) error {
	if t.classes || t.h == nil {
		t.setGram(t.rowWeights(precision))
	}
	t.setLambda(precision)
	for j, l := range t.lambda {
		t.deviations[j] = math.Sqrt(l)
	}
	return t.system.Set(t.h, 1, t.deviations)
}

func (t *exactTable) solve(_ context.Context, dst, v []float64) error {
	t.system.Solve(dst, v)
	return nil
}

func (t *exactTable) logDet() (float64, bool) { return t.system.LogDet() + t.logDetBeside(), true }

func (t *exactTable) variances(_ context.Context, z []float64) error {
	rows := t.rowSites()
	all := make([]float64, len(t.normal))
	t.weightVariances(all)
	copy(z[rows:], all[t.first:])
	if t.classes {
		t.root().RowVariances(t.table.ws, z[:rows], t.table.phi)
	}
	return nil
}

func (t *exactTable) weightVariances(dst []float64) { t.system.Variances(dst) }

func (t *exactTable) covariance(dst []float64, scale float64) {
	t.system.Covariance(dst)
	kernel.Scale(scale, dst)
}

// root is that of the covariance of the weights at zero of the columns.
func (t *exactTable) root() gauss.Root {
	root := slices.Clone(t.system.Root())
	problem.UncentreFactor(t.table.means, root)
	return root
}

func (t *exactTable) posterior(mean []float64, root float64) credence.Posterior {
	factor := t.root()
	kernel.Scale(root, factor)
	return &posterior.Full{Mean: mean, Factor: factor}
}

// dualTable is the system of a table of fewer rows than weights, by them: see [gauss.Dual]. G are the precisions of the
// sites of classes.
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
	floats.Mul(dst, t.lambda)
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
