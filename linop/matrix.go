package linop

import (
	"fmt"

	"github.com/credence-ml/credence/internal/kernel"
)

// Pool is the workers of a computation, with the products of dense matrices that they share: see
// credence.Workspace. Results never depend on their number.
type Pool = kernel.Pool

// Matrix is a linear operator from vectors of length cols to vectors of length
// rows.
type Matrix interface {
	// Dims returns the number of rows and of columns.
	Dims() (rows, cols int)
	// MulVec stores A x in dst (length rows); x has length cols.
	MulVec(dst, x []float64)
	// MulVecTrans stores Aᵀ x in dst (length cols); x has length rows.
	MulVecTrans(dst, x []float64)
}

// checkMulVec panics unless dst and x have the lengths that a product with a
// rows×cols matrix asks for.
func checkMulVec(operation string, rows, cols int, dst, x []float64) {
	if len(dst) != rows || len(x) != cols {
		panic(fmt.Sprintf("linop: %s of a %d×%d matrix with vectors of length %d and %d",
			operation, rows, cols, len(dst), len(x)))
	}
}

// Blocked is a Matrix that multiplies several vectors, the columns of a matrix, in one pass over what
// it holds.
type Blocked interface {
	Matrix
	// MulBlock stores A X in dst (rows×k); X is cols×k.
	MulBlock(dst, x *Dense)
	// MulBlockTrans stores Aᵀ X in dst (cols×k); X is rows×k.
	MulBlockTrans(dst, x *Dense)
}

// MulBlock stores A X in dst, in one pass where A is Blocked, and else column by column.
func MulBlock(a Matrix, dst, x *Dense) {
	if many, ok := a.(Blocked); ok && x.Cols > 1 {
		many.MulBlock(dst, x)
		return
	}
	eachColumn(dst, x, a.MulVec)
}

// MulBlockTrans stores Aᵀ X in dst, as [MulBlock].
func MulBlockTrans(a Matrix, dst, x *Dense) {
	if many, ok := a.(Blocked); ok && x.Cols > 1 {
		many.MulBlockTrans(dst, x)
		return
	}
	eachColumn(dst, x, a.MulVecTrans)
}

func eachColumn(dst, x *Dense, mul func(dst, x []float64)) {
	if x.Cols == 1 && x.Stride == 1 && dst.Stride == 1 {
		mul(dst.Data[:dst.Rows], x.Data[:x.Rows])
		return
	}
	from, to := make([]float64, x.Rows), make([]float64, dst.Rows)
	for c := range x.Cols {
		for i := range from {
			from[i] = x.Data[i*x.Stride+c]
		}
		mul(to, from)
		for i, v := range to {
			dst.Data[i*dst.Stride+c] = v
		}
	}
}

// Column returns x as a matrix of one column, sharing memory.
func Column(x []float64) *Dense { return &Dense{Rows: len(x), Cols: 1, Stride: 1, Data: x} }

// checkBlock panics unless a product of a rows×cols matrix with x fits dst.
func checkBlock(operation string, rows, cols int, dst, x *Dense) {
	if dst.Cols != x.Cols {
		checkMulVec(operation, rows, cols, nil, nil)
	}
	if dst.Rows != rows || x.Rows != cols {
		checkMulVec(operation, rows, cols, make([]float64, dst.Rows), make([]float64, x.Rows))
	}
}

// Clear makes all elements 0.
func (a *Dense) Clear() {
	for i := range a.Rows {
		clear(a.Row(i))
	}
}

func (a *Dense) copyOf(x *Dense) {
	for i := range a.Rows {
		copy(a.Row(i), x.Row(i))
	}
}
