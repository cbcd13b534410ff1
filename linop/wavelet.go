package linop

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// Wavelet is an orthonormal discrete wavelet transform of an image of Height×Width numbers, or a
// signal of height 1, with periodic boundaries: Levels times, rows and columns of the coarse part are
// split into averages, which come first, and details.
type Wavelet struct {
	Height, Width, Levels int
	filter                []float64
}

// The scaling filters: of Haar, and of Daubechies (1988) with 4 and 8 taps, the last to twelve digits.
var (
	Haar        = []float64{math.Sqrt2 / 2, math.Sqrt2 / 2}
	Daubechies4 = []float64{
		(1 + math.Sqrt(3)) / (4 * math.Sqrt2), (3 + math.Sqrt(3)) / (4 * math.Sqrt2),
		(3 - math.Sqrt(3)) / (4 * math.Sqrt2), (1 - math.Sqrt(3)) / (4 * math.Sqrt2),
	}
	Daubechies8 = []float64{
		0.23037781330885523, 0.7148465705525415, 0.6308807679295904, -0.02798376941698385,
		-0.18703481171888114, 0.030841381835986965, 0.032883011666982945, -0.010597401784997278,
	}
)

// NewWavelet returns the transform with a scaling filter, and panics where the image cannot be halved
// so often.
func NewWavelet(height, width, levels int, filter []float64) *Wavelet {
	for _, size := range []int{height, width} {
		if size != 1 && size%(1<<levels) != 0 || size < 1 {
			panic(fmt.Sprintf("linop: %d levels of wavelets of a %d×%d image", levels, height, width))
		}
	}
	return &Wavelet{height, width, levels, filter}
}

// Dims implements [Matrix].
func (w *Wavelet) Dims() (rows, cols int) { return w.Height * w.Width, w.Height * w.Width }

// Details selects the coefficients that are no averages of the last level: those that a sparsity prior is on.
func (w *Wavelet) Details() *Selection {
	n := w.Height * w.Width
	d := &Selection{Cols: n}
	height, width := w.coarse(w.Levels)
	for p := range n {
		if p/w.Width >= height || p%w.Width >= width {
			d.Places = append(d.Places, p)
		}
	}
	return d
}

// coarse returns the size of the averages after so many levels.
func (w *Wavelet) coarse(level int) (height, width int) {
	return max(1, w.Height>>level), max(1, w.Width>>level)
}

// MulVec implements [Matrix]: analysis.
func (w *Wavelet) MulVec(dst, x []float64) { w.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix]: synthesis, the inverse.
func (w *Wavelet) MulVecTrans(dst, x []float64) { w.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (w *Wavelet) MulBlock(dst, x *Dense) {
	whole, half := w.buffers("Wavelet.MulBlock", dst, x)
	for level := range w.Levels {
		height, width := w.coarse(level)
		for i := range height {
			w.analyse(w.row(half, i, width), w.row(whole, i, width))
		}
		w.analyse(w.rows(whole, height, width), w.rows(half, height, width))
	}
	dst.copyOf(whole)
}

// MulBlockTrans implements [Blocked].
func (w *Wavelet) MulBlockTrans(dst, x *Dense) {
	whole, half := w.buffers("Wavelet.MulBlockTrans", dst, x)
	for level := w.Levels - 1; level >= 0; level-- {
		height, width := w.coarse(level)
		w.synthesise(w.rows(half, height, width), w.rows(whole, height, width))
		for i := range height {
			w.synthesise(w.row(whole, i, width), w.row(half, i, width))
		}
	}
	dst.copyOf(whole)
}

func (w *Wavelet) buffers(operation string, dst, x *Dense) (whole, half *Dense) {
	n := w.Height * w.Width
	checkBlock(operation, n, n, dst, x)
	a, b := NewDense(n, x.Cols), NewDense(n, x.Cols)
	a.copyOf(x)
	return &a, &b
}

// line is a run of vectors that a filter runs along: numbers of a row of every image of a block, or whole
// rows.
type line struct {
	data                  []float64
	count, length, stride int
}

func (l line) at(i int) []float64 { return l.data[i*l.stride : i*l.stride+l.length] }

// row is the first numbers of row i.
func (w *Wavelet) row(x *Dense, i, count int) line {
	return line{x.Data[i*w.Width*x.Cols:], count, x.Cols, x.Cols}
}

// rows is the first numbers of the first rows.
func (w *Wavelet) rows(x *Dense, height, width int) line {
	return line{x.Data, height, width * x.Cols, w.Width * x.Cols}
}

// detail is tap k of the filter of details, the quadrature mirror of the scaling filter.
func (w *Wavelet) detail(k int) float64 {
	v := w.filter[len(w.filter)-1-k]
	if k%2 == 1 {
		return -v
	}
	return v
}

func (w *Wavelet) analyse(dst, x line) {
	n := x.count
	if n == 1 {
		copy(dst.at(0), x.at(0))
		return
	}
	for i := range n / 2 {
		low, high := dst.at(i), dst.at(n/2+i)
		clear(low)
		clear(high)
		for k, tap := range w.filter {
			v := x.at((2*i + k) % n)
			kernel.Axpy(tap, v, low)
			kernel.Axpy(w.detail(k), v, high)
		}
	}
}

func (w *Wavelet) synthesise(dst, x line) {
	n := x.count
	if n == 1 {
		copy(dst.at(0), x.at(0))
		return
	}
	for i := range n {
		clear(dst.at(i))
	}
	for i := range n / 2 {
		low, high := x.at(i), x.at(n/2+i)
		for k, tap := range w.filter {
			to := dst.at((2*i + k) % n)
			kernel.Axpy(tap, low, to)
			kernel.Axpy(w.detail(k), high, to)
		}
	}
}
