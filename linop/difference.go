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

// MulVec implements [Matrix].
func (d Difference) MulVec(dst, x []float64) {
	rows, cols := d.Dims()
	checkMulVec("Difference.MulVec", rows, cols, dst, x)
	k := 0
	for i := range d.Height {
		row := x[i*d.Width : (i+1)*d.Width]
		for j := 1; j < d.Width; j++ {
			dst[k] = row[j] - row[j-1]
			k++
		}
	}
	for i := d.Width; i < cols; i++ {
		dst[k] = x[i] - x[i-d.Width]
		k++
	}
}

// MulVecTrans implements [Matrix].
func (d Difference) MulVecTrans(dst, x []float64) {
	rows, cols := d.Dims()
	checkMulVec("Difference.MulVecTrans", cols, rows, dst, x)
	clear(dst)
	k := 0
	for i := range d.Height {
		row := dst[i*d.Width : (i+1)*d.Width]
		for j := 1; j < d.Width; j++ {
			row[j] += x[k]
			row[j-1] -= x[k]
			k++
		}
	}
	for i := d.Width; i < cols; i++ {
		dst[i] += x[k]
		dst[i-d.Width] -= x[k]
		k++
	}
}
