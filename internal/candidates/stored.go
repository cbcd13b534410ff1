package candidates

import "github.com/credence-ml/credence/internal/kernel"

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
