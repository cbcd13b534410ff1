package linop

import "fmt"

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
