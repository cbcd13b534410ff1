package linop

import (
	"fmt"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// Dense is a row-major matrix: element (i, j) is Data[i*Stride+j]. A Dense whose
// Stride exceeds Cols is a window on a wider matrix. The zero value is 0×0.
type Dense struct {
	Rows, Cols, Stride int
	Data               []float64
}

// NewDense returns a rows×cols matrix of zeros.
func NewDense(rows, cols int) Dense {
	return Dense{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// Dims returns the number of rows and of columns.
func (a *Dense) Dims() (rows, cols int) { return a.Rows, a.Cols }

// Row returns row i, sharing memory with a.
func (a *Dense) Row(i int) []float64 {
	return a.Data[i*a.Stride : i*a.Stride+a.Cols : i*a.Stride+a.Cols]
}

// Columns returns the window on columns [first, first+count), sharing memory.
func (a *Dense) Columns(first, count int) Dense {
	if first < 0 || count < 0 || first+count > a.Cols {
		panic(fmt.Sprintf("linop: columns [%d, %d) of a matrix with %d", first, first+count, a.Cols))
	}
	window := Dense{Rows: a.Rows, Cols: count, Stride: a.Stride}
	if a.Rows > 0 && count > 0 {
		window.Data = a.Data[first : (a.Rows-1)*a.Stride+first+count]
	}
	return window
}

// Window returns the rows [first, first+count), sharing memory.
func (a *Dense) Window(first, count int) Dense {
	if first < 0 || count < 0 || first+count > a.Rows {
		panic(fmt.Sprintf("linop: rows [%d, %d) of a matrix with %d", first, first+count, a.Rows))
	}
	window := Dense{Rows: count, Cols: a.Cols, Stride: a.Stride}
	if count > 0 && a.Cols > 0 {
		window.Data = a.Data[first*a.Stride : (first+count-1)*a.Stride+a.Cols]
	}
	return window
}

// Reshape makes a a rows×cols matrix with Stride cols, reusing its memory where
// that suffices. The contents are undefined afterwards.
func (a *Dense) Reshape(rows, cols int) {
	a.Rows, a.Cols, a.Stride = rows, cols, cols
	a.Data = order.Resized(a.Data, rows*cols)
}

// MulVec stores A x in dst.
func (a *Dense) MulVec(dst, x []float64) {
	checkMulVec("MulVec", a.Rows, a.Cols, dst, x)
	i := 0
	for ; i+4 <= len(dst); i += 4 { // four sums that do not wait for each other, each in the order of a row's
		a0, a1, a2, a3 := a.Row(i)[:len(x)], a.Row(i + 1)[:len(x)], a.Row(i + 2)[:len(x)], a.Row(i + 3)[:len(x)]
		var s0, s1, s2, s3 float64
		for j, v := range x {
			s0 += a0[j] * v
			s1 += a1[j] * v
			s2 += a2[j] * v
			s3 += a3[j] * v
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = s0, s1, s2, s3
	}
	for ; i < len(dst); i++ {
		sum := 0.0
		for j, v := range a.Row(i) {
			sum += v * x[j]
		}
		dst[i] = sum
	}
}

// MulVecTrans stores Aᵀ x in dst.
func (a *Dense) MulVecTrans(dst, x []float64) {
	checkMulVec("MulVecTrans", a.Cols, a.Rows, dst, x)
	clear(dst)
	for i, xi := range x {
		for j, v := range a.Row(i) {
			dst[j] += v * xi
		}
	}
}

// MulBlock implements [Blocked].
func (a *Dense) MulBlock(dst, x *Dense) {
	checkBlock("MulBlock", a.Rows, a.Cols, dst, x)
	dst.Clear()
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			kernel.Axpy(v, x.Row(j), dst.Row(i))
		}
	}
}

// MulBlockTrans implements [Blocked].
func (a *Dense) MulBlockTrans(dst, x *Dense) {
	checkBlock("MulBlockTrans", a.Cols, a.Rows, dst, x)
	dst.Clear()
	for i := range a.Rows {
		for j, v := range a.Row(i) {
			kernel.Axpy(v, x.Row(i), dst.Row(j))
		}
	}
}
