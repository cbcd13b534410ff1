package convex

import (
	"context"
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
	phi   *credence.Design
	means []float64 // of the columns; nil without an intercept
	roots []float64 // √weight of every row, for normal targets; nil for none
	// byColumn is the sparse columns as rows: sums over rows of a block of vectors then stay in registers. Nil where no
	// system is solved by products.
	byColumn *linop.CSR
}

// Dims implements linop.Matrix.
func (c *columns) Dims() (rows, cols int) { return c.phi.Dims() }

// project stores Φu of (b̃, w).
func (c *columns) project(dst, u []float64) {
	if c.means != nil {
		u = append([]float64(nil), u...)
		problem.Uncentre(c.means, u)
	}
	c.phi.Mul(c.ws, dst, u)
}

// projectTrans stores Φᵀv.
func (c *columns) projectTrans(dst, v []float64) {
	clear(dst)
	c.phi.AddMulTrans(c.ws, dst, v)
	if c.means != nil {
		first := dst[0]
		kernel.Axpy(-first, c.means, dst)
		dst[0] = first
	}
}

// MulVec implements linop.Matrix.
func (c *columns) MulVec(dst, u []float64) {
	c.project(dst, u)
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
	c.projectTrans(dst, v)
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

// offsets adds what rows have beside their features to the first sites.
type offsets struct{ values []float64 }

func (o *offsets) add(s []float64) {
	for i, v := range o.values {
		s[i] += v
	}
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

// tableOf is a table with variances found in another way.
type tableOf struct {
	*freeTable
	by system
}

func (t *tableOf) variances(ctx context.Context, z []float64) error { return t.by.variances(ctx, z) }

// preconditioner is that of the leading columns of A: of ΦᵀPΦ and of what A has beside the rows.
func (t *freeTable) preconditioner(a *normal) linop.Matrix {
	rest, n := a.precision, 0
	if t.classes {
		n, _ = t.table.Dims()
		rest = rest[n:]
	}
	weights := t.table.weights(a.precision[:n])
	part := t.table.squares(weights)
	diagonal := slices.Clone(part)
	kernel.Axpy(1, t.normal, diagonal)
	for k, v := range rest {
		diagonal[t.sparse+k] += v
	}
	return t.table.newLeading(diagonal, part, weights, leadingColumns)
}

// weights are those of the rows in A for their precisions, or for none, the roots included.
func (c *columns) weights(rows []float64) []float64 {
	n, _ := c.Dims()
	weights := make([]float64, n)
	for i := range weights {
		if weights[i] = 1; len(rows) > 0 {
			weights[i] = rows[i]
		}
		if c.roots != nil {
			weights[i] *= c.roots[i] * c.roots[i]
		}
	}
	return weights
}

// squares returns the diagonal of ΦᵀWΦ.
func (c *columns) squares(weights []float64) []float64 {
	_, d := c.Dims()
	out, sums, total := make([]float64, d), make([]float64, d), kernel.Sum(weights)
	c.phi.AddMulSquaresTrans(c.ws, out, weights)
	if c.means != nil {
		c.phi.AddMulTrans(c.ws, sums, weights)
	}
	for j, mean := range c.means {
		out[j] = math.Max(0, out[j]+mean*(mean*total-2*sums[j]))
	}
	return out
}
