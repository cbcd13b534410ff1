package problem

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Coordinate descent touches one column at a time. A column is what is stored, less Mean(j)·√v: the
// part that would fill a sparse column is left to the caller, who keeps it as one number.

// Sparse says whether any column is sparse.
func (c *Columns) Sparse() bool { return c.sparse.Rows > 0 }

// Mean returns what centring takes off the stored column j, 0 where that is already done.
func (c *Columns) Mean(j int) float64 {
	if j < c.dense.Rows {
		return 0
	}
	return c.Means[j]
}

// StoredDot returns s_jᵀv of the stored column.
func (c *Columns) StoredDot(j int, v []float64) float64 {
	if j < c.dense.Rows {
		return kernel.Dot(c.dense.Row(j), v)
	}
	return c.sparse.AddRowDot(0, j-c.dense.Rows, v)
}

// StoredSquare returns Σ by·s_j² of the stored column.
func (c *Columns) StoredSquare(j int, by []float64) float64 {
	if j >= c.dense.Rows {
		return c.sparse.AddRowSquareDot(0, j-c.dense.Rows, by)
	}
	sum := 0.0
	for i, v := range c.dense.Row(j) {
		sum += by[i] * v * v
	}
	return sum
}

// AddStored adds scale·by⊙s_j of the stored column to dst. A nil by is ones.
func (c *Columns) AddStored(dst []float64, j int, scale float64, by []float64) {
	switch {
	case j < c.dense.Rows && by == nil:
		kernel.Axpy(scale, c.dense.Row(j), dst)
	case j < c.dense.Rows:
		for i, v := range c.dense.Row(j) {
			dst[i] += scale * by[i] * v
		}
	case by == nil:
		c.sparse.AddRow(dst, j-c.dense.Rows, scale)
	default:
		for i, v := range c.sparse.Each(j - c.dense.Rows) {
			dst[i] += scale * by[i] * v
		}
	}
}

// Squares stores Σ_i weights_i x_ij² of every column in dst, length d. Nil weights are ones.
func (c *Columns) Squares(dst, weights []float64) {
	if weights == nil {
		weights = slices.Repeat([]float64{1}, c.Rows)
	}
	all := make([]float64, c.Rows) // weights times the roots of the rows' own
	for i, w := range weights {
		all[i] = w * c.unit[i]
	}
	mass := kernel.Dot(all, c.unit[:c.Rows])
	for j := range dst {
		dst[j] = c.StoredSquare(j, weights)
		if mean := c.Mean(j); mean != 0 {
			dst[j] += mean * (mean*mass - 2*c.StoredDot(j, all))
		}
	}
}

// RowSquares stores Σ_j scales_j x_ij² of every row in dst, length n.
func (c *Columns) RowSquares(dst, scales []float64) {
	clear(dst)
	mass := 0.0
	for j, v := range scales {
		if mean := c.Mean(j); mean != 0 {
			mass += v * mean * mean
			c.AddStored(dst, j, -2*v*mean, c.unit)
		}
		if j >= c.dense.Rows {
			c.sparse.AddRowSquares(dst, j-c.dense.Rows, v)
			continue
		}
		for i, x := range c.dense.Row(j) {
			dst[i] += v * x * x
		}
	}
	for i, u := range c.unit[:c.Rows] {
		dst[i] = math.Max(0, dst[i]+mass*u*u)
	}
}

// Stored returns how many entries of a column are stored.
func (c *Columns) Stored(j int) int {
	if j < c.dense.Rows {
		return c.Rows
	}
	rows, _ := c.sparse.Row(j - c.dense.Rows)
	return len(rows)
}

// Entries goes through the rows in which a column is stored, with the column's centred values there.
func (c *Columns) Entries(j int, do func(i int, x float64)) {
	if j < c.dense.Rows {
		for i, x := range c.dense.Row(j) {
			do(i, x)
		}
		return
	}
	mean := c.Mean(j)
	for i, x := range c.sparse.Each(j - c.dense.Rows) {
		do(i, x-mean*c.unit[i])
	}
}

// Design returns the columns as the features give them, not centred, with rows multiplied by the roots
// of their weights. Columns are those of the model in their order.
func (c *Columns) Design() credence.Design {
	n, dense := c.Rows, c.dense.Rows
	var out credence.Design
	out.Dense = linop.NewDense(n, dense)
	for j := range dense {
		for i, v := range c.dense.Row(j) {
			out.Dense.Row(i)[j] = v + c.Means[j]*c.unit[i]
		}
	}
	out.Sparse = c.sparse.Transpose()
	return out
}
