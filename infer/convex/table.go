package convex

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// columns are the features of a table as an operator from (b̃, w), the intercept at the columns' means.
type columns struct {
	ws    *credence.Workspace
	phi   *credence.Design // for normal targets times the roots of the rows' weights, the intercept's column too
	means []float64        // of the columns; nil without an intercept
	// byColumn is the sparse columns as rows: sums over rows of a block of vectors then stay in registers. Nil where no
	// system is solved by products.
	byColumn *linop.CSR
}

// Dims implements linop.Matrix.
func (c *columns) Dims() (rows, cols int) { return c.phi.Dims() }

// MulVec implements linop.Matrix.
func (c *columns) MulVec(dst, u []float64) {
	if c.means != nil {
		u = slices.Clone(u)
		problem.Uncentre(c.means, u)
	}
	c.phi.Mul(c.ws, dst, u)
}

// MulVecTrans implements linop.Matrix.
func (c *columns) MulVecTrans(dst, v []float64) {
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
	if c.means == nil {
		return
	}
	centre := make([]float64, x.Cols)
	for j, mean := range c.means {
		kernel.Axpy(-mean, x.Row(j), centre)
	}
	for i := range dst.Rows {
		kernel.Axpy(c.phi.Dense.Row(i)[0], centre, dst.Row(i))
	}
}

// MulBlockTrans implements linop.Blocked.
func (c *columns) MulBlockTrans(dst, v *linop.Dense) {
	if c.byColumn != nil {
		dense := c.phi.Dense.Cols
		above, below := dst.Window(0, dense), dst.Window(dense, c.byColumn.Rows)
		c.phi.Dense.MulBlockTrans(&above, v)
		c.byColumn.MulBlock(&below, v)
	} else {
		c.phi.MulBlockTrans(dst, v)
	}
	for j, mean := range c.means {
		if mean != 0 {
			kernel.Axpy(-mean, dst.Row(0), dst.Row(j))
		}
	}
}

// preconditioner is that of the leading columns of A: of ΦᵀPΦ and of what A has beside the rows.
func (t *beside) preconditioner(precision []float64) linop.Matrix {
	weights := t.rowWeights(precision)
	if weights == nil {
		n, _ := t.table.Dims()
		weights = slices.Repeat([]float64{1}, n)
	}
	part, diagonal := t.table.squares(weights), t.rest(precision)
	kernel.Axpy(1, part, diagonal)
	return t.table.newLeading(diagonal, part, weights, leadingColumns)
}

// squares returns the diagonal of ΦᵀWΦ.
func (c *columns) squares(weights []float64) []float64 {
	_, d := c.Dims()
	out := make([]float64, d)
	c.phi.AddMulSquaresTrans(c.ws, out, weights)
	if c.means == nil {
		return out
	}
	first, sums := slices.Clone(weights), make([]float64, d)
	for i := range first {
		first[i] *= c.phi.Dense.Row(i)[0]
	}
	c.phi.AddMulTrans(c.ws, sums, first)
	for j, mean := range c.means {
		out[j] = math.Max(0, out[j]+mean*(mean*sums[0]-2*sums[j]))
	}
	return out
}
