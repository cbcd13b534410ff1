package online

import (
	"math"

	"github.com/credence-ml/credence"
)

// row is one row of a batch.
type row struct {
	columns []int32
	values  []float64 // nil where all are 1
	target  float64   // 1, 0 or NaN
	weight  float64
	offset  float64
}

// rowOf returns row i of a batch.
func rowOf(b *credence.Batch, i int) row {
	columns, values := b.Sparse.Row(i)
	return row{columns, values, b.Target[i], b.WeightOf(i), b.OffsetOf(i)}
}

// counts says whether there is anything to learn from the row.
func (r *row) counts() bool { return r.weight > 0 && !math.IsNaN(r.target) }

// grown returns work with room for n numbers, one an entry.
func grown[T any](work []T, n int) []T {
	if cap(work) < n {
		return make([]T, 2*n)[:n]
	}
	return work[:n]
}
