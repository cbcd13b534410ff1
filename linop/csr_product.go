package linop

import (
	"fmt"

	"github.com/credence-ml/credence/internal/kernel"
)

// Products with a row are the only loops that know of left-out values. Every sum takes the rows in their order, and
// those over a row are of four parts that do not wait for each other.

// AddRowDot returns sum + aᵢᵀx.
func (a *CSR) AddRowDot(sum float64, i int, x []float64) float64 {
	columns, values := a.Row(i)
	if values == nil {
		return sum + GatherSum(x, columns)
	}
	return sum + GatherDot(x, columns, values)
}

// AddRow adds scale aᵢ to dst (length Cols).
func (a *CSR) AddRow(dst []float64, i int, scale float64) {
	columns, values := a.Row(i)
	if values == nil {
		for _, j := range columns {
			dst[j] += scale
		}
		return
	}
	values = values[:len(columns)]
	for k, j := range columns {
		dst[j] += values[k] * scale
	}
}

// AddRowSquareDot returns sum + (aᵢ⊙aᵢ)ᵀx.
func (a *CSR) AddRowSquareDot(sum float64, i int, x []float64) float64 {
	columns, values := a.Row(i)
	if values == nil {
		return sum + GatherSum(x, columns)
	}
	var s0, s1, s2, s3 float64
	for len(columns) >= 4 && len(values) >= 4 {
		s0 += values[0] * values[0] * x[columns[0]]
		s1 += values[1] * values[1] * x[columns[1]]
		s2 += values[2] * values[2] * x[columns[2]]
		s3 += values[3] * values[3] * x[columns[3]]
		columns, values = columns[4:], values[4:]
	}
	for k, j := range columns {
		s0 += values[k] * values[k] * x[j]
	}
	return sum + ((s0 + s1) + (s2 + s3))
}

// AddRowSquares adds scale aᵢ⊙aᵢ to dst (length Cols).
func (a *CSR) AddRowSquares(dst []float64, i int, scale float64) {
	columns, values := a.Row(i)
	if values == nil {
		a.AddRow(dst, i, scale)
		return
	}
	values = values[:len(columns)]
	for k, j := range columns {
		dst[j] += scale * values[k] * values[k]
	}
}

// AddRowMul adds scale aᵢᵀB to dst (length b.Cols). B may have fewer rows than A has
// columns: those it lacks count as zero.
func (a *CSR) AddRowMul(dst []float64, i int, scale float64, b *Dense) {
	columns, values := a.Row(i)
	for len(columns) > 0 && int(columns[len(columns)-1]) >= b.Rows { // columns increase
		columns = columns[:len(columns)-1]
	}
	if scale == 1 {
		kernel.AddRows(values[:min(len(values), len(columns))], columns, b.Data, b.Stride, dst)
		return
	}
	for k, j := range columns {
		kernel.Axpy(scale*At(values, k), b.Row(int(j)), dst)
	}
}

// AddRowMulUpper adds aᵢᵀB to dst, for columns [left, left+B.Cols) of an upper triangular matrix whose row
// first+j is row j of B.
func (a *CSR) AddRowMulUpper(dst []float64, i int, b *Dense, first, left int) {
	columns, values := a.Row(i)
	for k, j := range columns {
		if from := max(0, first+int(j)-left); from < b.Cols {
			kernel.Axpy(At(values, k), b.Row(int(j))[from:], dst[from:])
		}
	}
}

// MulVec stores A x in dst.
func (a *CSR) MulVec(dst, x []float64) {
	checkMulVec("MulVec", a.Rows, a.Cols, dst, x)
	for i := range dst {
		dst[i] = a.AddRowDot(0, i, x)
	}
}

// MulVecTrans stores Aᵀ x in dst.
func (a *CSR) MulVecTrans(dst, x []float64) {
	clear(dst)
	a.AddMulVecTrans(dst, x)
}

// AddMulVecTrans adds Aᵀ x to dst.
func (a *CSR) AddMulVecTrans(dst, x []float64) {
	checkMulVec("AddMulVecTrans", a.Cols, a.Rows, dst, x)
	for i, xi := range x {
		a.AddRow(dst, i, xi)
	}
}

// MulBlock implements [Blocked].
func (a *CSR) MulBlock(dst, x *Dense) {
	checkBlock("MulBlock", a.Rows, a.Cols, dst, x)
	dst.Clear()
	for i := range a.Rows {
		a.AddRowMul(dst.Row(i), i, 1, x)
	}
}

// MulBlockTrans implements [Blocked].
func (a *CSR) MulBlockTrans(dst, x *Dense) {
	checkBlock("MulBlockTrans", a.Cols, a.Rows, dst, x)
	dst.Clear()
	for i := range a.Rows {
		for j, v := range a.Each(i) {
			kernel.Axpy(v, x.Row(i), dst.Row(j))
		}
	}
}

// AddGram adds the upper triangle of Aᵀ diag(weights) A to dst; nil weights are ones. Every row of dst
// is one thread's, which adds to it in the order of the rows of A.
func (a *CSR) AddGram(pool *Pool, dst *Dense, weights []float64) {
	shares := sharesOf(pool, a.Entries()*a.Entries()/max(1, 2*a.Rows))
	pool.Run(shares, func(share, _ int) {
		for i := range a.Rows {
			w := weight(weights, i)
			columns, values := a.Row(i)
			for k, c := range columns {
				if foreign(c, share, shares) {
					continue
				}
				row := dst.Row(int(c))
				if values == nil {
					for _, j := range columns[k:] {
						row[j] += w
					}
					continue
				}
				v, rest := values[k]*w, values[k:]
				for l, j := range columns[k:] {
					row[j] += v * rest[l]
				}
			}
		}
	})
}

// fewColumns is the number of columns below which a loop beats the call of a kernel.
const fewColumns = 8

// AddTransMul adds Aᵀ diag(weights) B to dst, which is a.Cols×b.Cols, in the order of [CSR.AddGram].
func (a *CSR) AddTransMul(pool *Pool, dst *Dense, weights []float64, b *Dense) {
	shares := sharesOf(pool, a.Entries()*b.Cols)
	pool.Run(shares, func(share, _ int) {
		for i := range a.Rows {
			w, from := weight(weights, i), b.Row(i)
			columns, values := a.Row(i)
			for k, c := range columns {
				if foreign(c, share, shares) {
					continue
				}
				v, to := At(values, k)*w, dst.Row(int(c))
				if len(from) > fewColumns {
					kernel.Axpy(v, from, to)
					continue
				}
				for j, x := range from {
					to[j] += v * x
				}
			}
		}
	})
}

// leastShared is how many multiplications are worth the waking of a thread that has gone to sleep since its last task.
const leastShared = 1 << 17

// sharesOf returns among how many threads a sum of so many products of entries is shared.
func sharesOf(pool *Pool, products int) int {
	if products < leastShared {
		return 1
	}
	return pool.Threads()
}

// foreign says whether a row of a result belongs to another share.
func foreign(row int32, share, shares int) bool {
	return shares > 1 && int(uint32(row)%uint32(shares)) != share
}

func weight(weights []float64, i int) float64 {
	if weights == nil {
		return 1
	}
	return weights[i]
}

// AddTo adds A to the dense window dst, which has the same shape.
func (a *CSR) AddTo(dst *Dense) {
	if dst.Rows != a.Rows || dst.Cols != a.Cols {
		panic(fmt.Sprintf("linop: AddTo of a %d×%d matrix to a %d×%d one", a.Rows, a.Cols, dst.Rows, dst.Cols))
	}
	for i := range a.Rows {
		a.AddRow(dst.Row(i), i, 1)
	}
}

// Transpose returns Aᵀ, whose rows are the columns of a, in memory of its own.
func (a *CSR) Transpose() CSR {
	t := CSR{Rows: a.Cols, Cols: a.Rows, Start: make([]int, a.Cols+1), Index: make([]int32, a.Entries())}
	if a.Value != nil {
		t.Value = make([]float64, a.Entries())
	}
	for i := range a.Rows {
		columns, _ := a.Row(i)
		for _, j := range columns {
			t.Start[j+1]++
		}
	}
	for j := range a.Cols {
		t.Start[j+1] += t.Start[j]
	}
	next := append([]int(nil), t.Start[:a.Cols]...)
	for i := range a.Rows {
		columns, values := a.Row(i)
		for k, j := range columns {
			t.Index[next[j]] = int32(i)
			if values != nil {
				t.Value[next[j]] = values[k]
			}
			next[j]++
		}
	}
	return t
}

// ScaleRows returns diag(factors) A in memory of its own; nil factors are ones.
func (a *CSR) ScaleRows(factors []float64) CSR {
	out := CSR{Rows: a.Rows, Cols: a.Cols, Start: append([]int(nil), a.Start...), Index: append([]int32(nil), a.Index...)}
	if a.Value == nil && factors == nil {
		return out
	}
	out.Value = make([]float64, len(a.Index))
	for i := range a.Rows {
		_, scaled := out.Row(i)
		k := 0
		for _, v := range a.Each(i) {
			scaled[k] = v * weight(factors, i)
			k++
		}
	}
	return out
}

// LiftGram moves the products of sparse with dense columns, which [CSR.AddTransMul] leaves below the
// diagonal of the size×size matrix gram, to the upper triangle.
func LiftGram(gram []float64, size, dense int) {
	for j := dense; j < size; j++ {
		for i := range dense {
			gram[i*size+j] = gram[j*size+i]
		}
	}
}
