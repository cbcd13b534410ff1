package convex

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// columns are the features of a table as an operator from (b̃, w), the intercept at the columns' means.
type columns struct {
	ws    *credence.Workspace
	phi   *credence.Design
	means []float64 // of the columns; nil without an intercept
	roots []float64 // √weight of every row, for normal targets; nil for none
}

// Dims implements linop.Matrix.
func (c *columns) Dims() (rows, cols int) { return c.phi.Dims() }

// MulVec implements linop.Matrix.
func (c *columns) MulVec(dst, u []float64) {
	if c.means != nil {
		u = append([]float64(nil), u...)
		blocks.Uncentre(c.means, u)
	}
	c.phi.Mul(c.ws, dst, u)
	for i, r := range c.roots {
		dst[i] *= r
	}
}

// MulVecTrans implements linop.Matrix.
func (c *columns) MulVecTrans(dst, v []float64) {
	if c.roots != nil {
		v = append([]float64(nil), v...)
		for i, r := range c.roots {
			v[i] *= r
		}
	}
	clear(dst)
	c.phi.AddMulTrans(c.ws, dst, v)
	if c.means != nil {
		first := dst[0]
		kernel.Axpy(-first, c.means, dst)
		dst[0] = first
	}
}

// MulBlock implements linop.Blocked.
func (c *columns) MulBlock(dst, x *linop.Dense) {
	c.phi.MulBlock(dst, x)
	var centre []float64
	if c.means != nil {
		centre = make([]float64, x.Cols)
		for j, mean := range c.means {
			kernel.Axpy(-mean, x.Row(j), centre)
		}
	}
	for i := range dst.Rows {
		row := dst.Row(i)
		kernel.Axpy(1, centre, row[:len(centre)])
		kernel.Scale(at(c.roots, i, 1), row)
	}
}

// MulBlockTrans implements linop.Blocked.
func (c *columns) MulBlockTrans(dst, v *linop.Dense) {
	if c.roots != nil {
		scaled := linop.NewDense(v.Rows, v.Cols)
		linop.Diagonal(c.roots).MulBlock(&scaled, v)
		v = &scaled
	}
	c.phi.MulBlockTrans(dst, v)
	for j, mean := range c.means {
		if mean != 0 {
			kernel.Axpy(-mean, dst.Row(0), dst.Row(j))
		}
	}
}

// offsets adds what rows have beside their features to the first sites.
type offsets struct{ values []float64 }

func (o *offsets) add(s []float64) {
	for i, v := range o.values {
		s[i] += v
	}
}

// exactTable is the system of a table of so few columns that A is formed and factored. The first sites are
// its rows, for classes; the last ones weights under a prior that is not normal.
type exactTable struct {
	measured
	offsets
	table   *columns
	classes bool
	normal  []float64 // what X has beside the rows: prior precisions of (b̃, w) times σ²
	sparse  int       // first weight that is a site of its own
	fixed   []float64 // ΦᵀWΦ, centred, for normal targets
	upper   []float64 // d×d
	inverse []float64 // U⁻¹
}

func (t *exactTable) sites(dst, u []float64) {
	t.measured.sites(dst, u)
	t.add(dst)
}

func (t *exactTable) gram(dst, weights []float64) {
	clear(dst)
	n, d := t.table.Dims()
	for first := 0; first < n; first += credence.BlockRows { // the order of additions of every engine
		count := min(credence.BlockRows, n-first)
		part := t.table.phi.Window(first, count)
		var of []float64
		if weights != nil {
			of = weights[first : first+count]
		}
		part.AddGram(t.table.ws, dst, of)
	}
	credence.LiftGram(dst, d, t.table.phi.Dense.Cols)
	if t.table.means != nil {
		blocks.CentreGram(dst, t.table.means)
	}
}

func (t *exactTable) factor(_ context.Context, precision []float64) error {
	d := len(t.normal)
	rows := 0
	if t.classes {
		rows, _ = t.table.Dims()
		t.gram(t.upper, precision[:rows])
	} else {
		if t.fixed == nil {
			t.fixed = make([]float64, d*d)
			var weights []float64
			for _, r := range t.table.roots {
				weights = append(weights, r*r)
			}
			t.gram(t.fixed, weights)
		}
		copy(t.upper, t.fixed)
	}
	for j, v := range t.normal {
		t.upper[j*d+j] += v
	}
	for k, v := range precision[rows:] {
		j := t.sparse + k
		t.upper[j*d+j] += v
	}
	return factorise(t.table.ws, d, t.upper)
}

func (t *exactTable) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	solveUpper(t.table.ws, len(v), t.upper, dst)
	return nil
}

func (t *exactTable) logDet() (float64, bool) { return logDet(len(t.normal), t.upper), true }

// invert makes inverse the factor F of A⁻¹ = FFᵀ of (b̃, w).
func (t *exactTable) invert() {
	d := len(t.normal)
	if t.inverse == nil {
		t.inverse = make([]float64, d*d)
	}
	clear(t.inverse)
	for j := range d {
		t.inverse[j*d+j] = 1
	}
	t.table.ws.Pool().TrsmRight(false, d, d, t.upper, d, t.inverse, d)
}

func (t *exactTable) variances(_ context.Context, z []float64) error {
	d := len(t.normal)
	t.invert()
	rows := 0
	if t.classes {
		rows, _ = t.table.Dims()
	}
	for k := range z[rows:] {
		row := t.inverse[(t.sparse+k)*d : (t.sparse+k+1)*d]
		z[rows+k] = kernel.Dot(row, row)
	}
	if !t.classes {
		return nil
	}
	if t.table.means != nil {
		blocks.UncentreFactor(t.table.means, t.inverse)
	}
	q := posterior.Full{Mean: make([]float64, d), Factor: t.inverse}
	mean := make([]float64, rows)
	q.Latent(t.table.ws, mean, z[:rows], t.table.phi)
	return nil
}

// rowTrace returns tr XᵀX A⁻¹ over the rows, for normal targets with the precisions of the sites.
func (t *exactTable) rowTrace(precision []float64) float64 {
	d := len(t.normal)
	t.invert()
	sum := float64(d) // tr A⁻¹A, less the other parts of A
	for j, v := range t.normal {
		row := t.inverse[j*d : (j+1)*d]
		sum -= v * kernel.Dot(row, row)
	}
	for k, v := range precision {
		row := t.inverse[(t.sparse+k)*d : (t.sparse+k+1)*d]
		sum -= v * kernel.Dot(row, row)
	}
	return sum
}

// freeTable is the system of a table of many columns.
type freeTable struct {
	free
	offsets
	table   *columns
	classes bool
	normal  []float64 // as in exactTable
	sparse  int
}

func (t *freeTable) sites(dst, u []float64) {
	t.free.sites(dst, u)
	t.add(dst)
}

// jacobi is the inverse of the diagonal of A: that of ΦᵀPΦ and of what A has beside the rows.
func (t *freeTable) jacobi(a *normal) linop.Matrix {
	rest, n := a.precision, 0
	if t.classes {
		n, _ = t.table.Dims()
		rest = rest[n:]
	}
	inverse := t.table.squares(a.precision[:n])
	kernel.Axpy(1, t.normal, inverse)
	for k, v := range rest {
		inverse[t.sparse+k] += v
	}
	for j, v := range inverse {
		inverse[j] = 1 / v
	}
	return inverse
}

// squares returns the diagonal of ΦᵀPΦ, Φ with the roots; without weights P is the identity.
func (c *columns) squares(rows []float64) linop.Diagonal {
	n, d := c.Dims()
	weights := make([]float64, n)
	for i := range weights {
		if weights[i] = 1; len(rows) > 0 {
			weights[i] = rows[i]
		}
		if c.roots != nil {
			weights[i] *= c.roots[i] * c.roots[i]
		}
	}
	out, total := make(linop.Diagonal, d), kernel.Sum(weights)
	c.phi.AddMulSquaresTrans(c.ws, out, weights)
	for j, mean := range c.means {
		out[j] = math.Max(0, out[j]-total*mean*mean)
	}
	return out
}
