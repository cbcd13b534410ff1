package problem

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Columns are the d columns of a design of n rows, one after the other, so that all of them are gone through with a
// vector of the rows. Under an intercept they are centred at their weighted means: dense columns where they lie; sparse
// ones stay as they are, with their means beside them. A row is multiplied by √v, v its weight and its precision in
// units of the mean one, so that sums of squares count it v times. The intercept is a column of ones.
//
// Memory: n·d numbers for dense columns, twelve bytes for an entry of a sparse one.
type Columns struct {
	Rows      int
	Intercept int // its column, or -1
	// weighted means x̄ of the columns as the features give them, 0 where they are not centred, length d
	Means []float64

	dense  linop.Dense // one column a row
	sparse linop.CSR   // one column a row, not centred
	unit   []float64   // √v of every row, which centring takes off
}

// ByColumn returns the columns of the design, which is gone from the rows.
func (h *Held) ByColumn() *Columns {
	intercept, means := -1, make([]float64, len(h.Sums.Totals))
	for _, b := range h.rows.model.Features.Blocks() {
		if b.Intercept {
			intercept = b.First
		}
	}
	for j := range means {
		if intercept >= 0 && j != intercept {
			means[j] = h.Sums.Totals[j] / h.Sums.Square
		}
	}
	c := NewColumns(&h.Design, means, h.Roots())
	c.Intercept, h.Design = intercept, credence.Design{}
	return c
}

// NewColumns returns the columns of a design less means, nil for none, whose rows are multiplied by roots, nil for
// ones.
func NewColumns(all *credence.Design, means, roots []float64) *Columns {
	n, dense := all.Dense.Rows, all.Dense.Cols
	c := &Columns{Rows: n, Intercept: -1, unit: roots, dense: linop.NewDense(dense, n), sparse: all.Sparse.Transpose(), Means: means}
	if roots == nil {
		c.unit = slices.Repeat([]float64{1}, n)
	}
	if means == nil {
		c.Means = make([]float64, c.Count())
	}
	for j := range dense {
		row := c.dense.Row(j)
		for i, u := range c.unit {
			row[i] = (all.Dense.Row(i)[j] - c.Means[j]) * u
		}
	}
	if roots != nil {
		if c.sparse.Value == nil {
			c.sparse.Value = slices.Repeat([]float64{1}, len(c.sparse.Index))
		}
		for k, i := range c.sparse.Index {
			c.sparse.Value[k] *= roots[i]
		}
	}
	return c
}

// With returns columns that are the rows of a matrix d×n, of which means were taken off, and of which the last is the
// intercept where there is one; their rows have the weights of these.
func (c *Columns) With(columns linop.Dense, means []float64, intercept int) Columns {
	return Columns{Rows: columns.Cols, Intercept: intercept, Means: means, dense: columns, unit: c.unit}
}

// Unit returns √v of every row.
func (c *Columns) Unit() []float64 { return c.unit }

// Count returns d.
func (c *Columns) Count() int { return c.dense.Rows + c.sparse.Rows }

// Column stores column j in dst, length n.
func (c *Columns) Column(dst []float64, j int) {
	if j < c.dense.Rows {
		copy(dst, c.dense.Row(j))
		return
	}
	clear(dst)
	c.sparse.AddRow(dst, j-c.dense.Rows, 1)
	kernel.Axpy(-c.Means[j], c.unit, dst)
}

// MulTrans stores Xᵀv in dst, length d.
func (c *Columns) MulTrans(ws *credence.Workspace, dst, v []float64) {
	n, dense := c.Rows, c.dense.Rows
	if dense > 0 {
		ws.Pool().Gemv(false, dense, n, 1, c.dense.Data, n, v, 0, dst[:dense])
	}
	if c.sparse.Rows == 0 {
		return
	}
	total := kernel.Dot(c.unit, v)
	ws.Each(c.sparse.Rows, func(j int) {
		dst[dense+j] = c.sparse.AddRowDot(0, j, v) - c.Means[dense+j]*total
	})
}

// Mul stores Xw in dst, length n.
func (c *Columns) Mul(ws *credence.Workspace, dst, w []float64) {
	n, dense := c.Rows, c.dense.Rows
	clear(dst)
	if dense > 0 {
		ws.Pool().Gemv(true, dense, n, 1, c.dense.Data, n, w[:dense], 0, dst)
	}
	shift := 0.0
	for j := range c.sparse.Rows {
		if v := w[dense+j]; v != 0 {
			c.sparse.AddRow(dst, j, v)
			shift += v * c.Means[dense+j]
		}
	}
	if shift != 0 {
		kernel.Axpy(-shift, c.unit, dst)
	}
}

// Outer stores the upper triangle of X diag(scales) Xᵀ, n×n, in dst.
func (c *Columns) Outer(ws *credence.Workspace, dst, scales []float64) {
	n, dense := c.Rows, c.dense.Rows
	clear(dst)
	if dense > 0 {
		ws.Pool().Gram(dense, n, c.dense.Data, n, scales[:dense], dst, n)
	}
	if c.sparse.Rows > 0 {
		AddOuter(ws, dst, &c.sparse, c.Means[dense:], scales[dense:], c.unit)
	}
}

// AddOuter adds Σ_j scales_j (φ_j − x̄_j u)(φ_j − x̄_j u)ᵀ to the upper triangle of dst, n×n, for sparse columns φ that
// are the rows of a matrix d×n. Nil scales are ones; nil means x̄ are those of columns that are not centred.
func AddOuter(ws *credence.Workspace, dst []float64, columns *linop.CSR, means, scales, unit []float64) {
	n := columns.Cols
	columns.AddGram(ws.Pool(), &linop.Dense{Rows: n, Cols: n, Stride: n, Data: dst}, scales)
	if means == nil {
		return
	}
	// (φ − x̄u)(φ − x̄u)ᵀ = φφᵀ − x̄(φuᵀ + uφᵀ) + x̄²uuᵀ
	cross, mass := make([]float64, n), 0.0
	for j := range columns.Rows {
		scaled := means[j] * linop.At(scales, j)
		columns.AddRow(cross, j, -scaled)
		mass += scaled * means[j]
	}
	kernel.Axpy(mass/2, unit, cross)
	ws.Each(n, func(i int) {
		kernel.Axpy(cross[i], unit[i:n], dst[i*n+i:(i+1)*n])
		kernel.Axpy(unit[i], cross[i:], dst[i*n+i:(i+1)*n])
	})
}

// Quadratics stores x_jᵀTx_j of every column in dst, for T whose Squares are those of vectors. It takes n² operations a
// dense column, and for sparse ones T itself, n×n, which is found where inverse is nil, and the square of the entries a
// column.
func (c *Columns) Quadratics(ws *credence.Workspace, dst []float64, t interface {
	Squares(dst, vectors []float64, count int)
	Inverse(dst []float64)
}, inverse []float64) {
	n, dense := c.Rows, c.dense.Rows
	t.Squares(dst, c.dense.Data, dense)
	if c.sparse.Rows == 0 {
		return
	}
	if inverse == nil {
		inverse = make([]float64, n*n)
		t.Inverse(inverse)
	}
	c.sparseQuadratics(ws, dst[dense:], inverse)
}

func (c *Columns) sparseQuadratics(ws *credence.Workspace, dst, inverse []float64) {
	n := c.Rows
	product := make([]float64, n)
	for i := range n {
		product[i] = kernel.Dot(inverse[i*n:(i+1)*n], c.unit)
	}
	mass := kernel.Dot(c.unit, product)
	ws.Each(c.sparse.Rows, func(j int) {
		square, mean := 0.0, c.Means[c.dense.Rows+j]
		for i, v := range c.sparse.Each(j) {
			square += v * c.sparse.AddRowDot(0, j, inverse[i*n:(i+1)*n])
		}
		dst[j] = square - 2*mean*c.sparse.AddRowDot(0, j, product) + mean*mean*mass
	})
}

// Products stores the upper triangle of X diag(weights) Xᵀ over rows, d×d, in dst: for columns fewer
// than rows. Nil weights are ones.
func (c *Columns) Products(ws *credence.Workspace, dst, weights []float64) {
	n, d, dense := c.Rows, c.Count(), c.dense.Rows
	clear(dst)
	if dense > 0 && weights == nil {
		ws.Pool().Syrk(dense, n, 1, c.dense.Data, n, 0, dst, d)
	} else if dense > 0 {
		ws.Pool().SyrkWeighted(dense, n, 1, c.dense.Data, n, weights, 0, dst, d)
	}
	if c.sparse.Rows == 0 {
		return
	}
	ws.InRuns(c.sparse.Rows, func(from, to int) {
		column := make([]float64, n)
		for j := from; j < to; j++ {
			c.Column(column, dense+j)
			for i, w := range weights {
				column[i] *= w
			}
			total := kernel.Dot(c.unit, column)
			for i := range dense {
				dst[i*d+dense+j] = kernel.Dot(c.dense.Row(i), column)
			}
			for i := range j + 1 {
				dst[(dense+i)*d+dense+j] = c.sparse.AddRowDot(0, i, column) - c.Means[dense+i]*total
			}
		}
	})
}

// panel is the number of rows whose quadratic forms are taken at once.
const panel = 512

// RowQuadratics stores x_iᵀCx_i of every row i of d numbers in dst, for C = RRᵀ of which Half stores Rᵀx of count
// vectors x in their place.
func (c *Columns) RowQuadratics(ws *credence.Workspace, dst []float64, f interface{ Half(x []float64, count int) }) {
	n, d := c.Rows, c.Count()
	clear(dst)
	defer ws.Release(ws.Mark())
	scratch, column := ws.Floats(d*min(n, panel)), make([]float64, n)
	for first := 0; first < n; first += panel {
		count := min(panel, n-first)
		for j := range d {
			c.Column(column, j)
			copy(scratch[j*count:(j+1)*count], column[first:first+count])
		}
		f.Half(scratch, count)
		for j := range d {
			for i, v := range scratch[j*count : (j+1)*count] {
				dst[first+i] += v * v
			}
		}
	}
}
