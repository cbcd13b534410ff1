package linop

import "fmt"

// Difference takes the differences of neighbours of an image of Height×Width numbers, row by row:
// first the horizontal ones, Height·(Width−1), then the vertical ones, (Height−1)·Width. A signal has
// the height 1. With Laplace sites on them it is the anisotropic total variation (Rudin, Osher &
// Fatemi 1992).
type Difference struct{ Height, Width int }

// NewDifference returns the operator, and panics unless there is an image.
func NewDifference(height, width int) Difference {
	if height < 1 || width < 1 {
		panic(fmt.Sprintf("linop: differences of a %d×%d image", height, width))
	}
	return Difference{height, width}
}

// Dims implements [Matrix].
func (d Difference) Dims() (rows, cols int) {
	return d.Height*(d.Width-1) + (d.Height-1)*d.Width, d.Height * d.Width
}

// each goes through the differences: row of the operator, and the numbers that it adds and takes off.
func (d Difference) each(do func(k, plus, minus int)) {
	k := 0
	for i := range d.Height {
		for j := i*d.Width + 1; j < (i+1)*d.Width; j++ {
			do(k, j, j-1)
			k++
		}
	}
	for i := d.Width; i < d.Height*d.Width; i++ {
		do(k, i, i-d.Width)
		k++
	}
}

// MulVec implements [Matrix].
func (d Difference) MulVec(dst, x []float64) {
	rows, cols := d.Dims()
	checkMulVec("Difference.MulVec", rows, cols, dst, x)
	d.each(func(k, plus, minus int) { dst[k] = x[plus] - x[minus] })
}

// MulVecTrans implements [Matrix].
func (d Difference) MulVecTrans(dst, x []float64) {
	rows, cols := d.Dims()
	checkMulVec("Difference.MulVecTrans", cols, rows, dst, x)
	clear(dst)
	d.each(func(k, plus, minus int) {
		dst[plus] += x[k]
		dst[minus] -= x[k]
	})
}

// MulBlock implements [Blocked].
func (d Difference) MulBlock(dst, x *Dense) {
	rows, cols := d.Dims()
	checkBlock("Difference.MulBlock", rows, cols, dst, x)
	d.each(func(k, plus, minus int) {
		to, less := dst.Row(k), x.Row(minus)
		for c, v := range x.Row(plus) {
			to[c] = v - less[c]
		}
	})
}

// MulBlockTrans implements [Blocked].
func (d Difference) MulBlockTrans(dst, x *Dense) {
	rows, cols := d.Dims()
	checkBlock("Difference.MulBlockTrans", cols, rows, dst, x)
	dst.Clear()
	d.each(func(k, plus, minus int) {
		up, down := dst.Row(plus), dst.Row(minus)
		for c, v := range x.Row(k) {
			up[c] += v
			down[c] -= v
		}
	})
}

// AddSquaresTrans adds (D⊙D)ᵀ x to dst.
func (d Difference) AddSquaresTrans(dst, x []float64) {
	rows, cols := d.Dims()
	checkMulVec("Difference.AddSquaresTrans", cols, rows, dst, x)
	d.each(func(k, plus, minus int) {
		dst[plus] += x[k]
		dst[minus] += x[k]
	})
}
