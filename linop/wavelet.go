package linop

import (
	"fmt"
	"math"
)

// Wavelet is an orthonormal discrete wavelet transform of an image of Height×Width numbers, or a
// signal of height 1, with periodic boundaries: Levels times, rows and columns of the coarse part are
// split into averages, which come first, and details. It is not safe for concurrent use.
type Wavelet struct {
	Height, Width, Levels int
	filter                []float64
	line, split           []float64
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
	size := max(height, width)
	return &Wavelet{height, width, levels, filter, make([]float64, size), make([]float64, size)}
}

// Dims implements [Matrix].
func (w *Wavelet) Dims() (rows, cols int) { return w.Height * w.Width, w.Height * w.Width }

// MulVec implements [Matrix]: analysis.
func (w *Wavelet) MulVec(dst, x []float64) {
	n := w.Height * w.Width
	checkMulVec("Wavelet.MulVec", n, n, dst, x)
	copy(dst, x)
	for level := range w.Levels {
		w.level(dst, level, w.analyse, false)
	}
}

// MulVecTrans implements [Matrix]: synthesis, the inverse.
func (w *Wavelet) MulVecTrans(dst, x []float64) {
	n := w.Height * w.Width
	checkMulVec("Wavelet.MulVecTrans", n, n, dst, x)
	copy(dst, x)
	for level := w.Levels - 1; level >= 0; level-- {
		w.level(dst, level, w.synthesise, true)
	}
}

// level does the rows, then the columns of the coarse part, or the other way round.
func (w *Wavelet) level(x []float64, level int, do func(dst, x []float64), columnsFirst bool) {
	height, width := max(1, w.Height>>level), max(1, w.Width>>level)
	rows := func() {
		for i := range height {
			row := x[i*w.Width : i*w.Width+width]
			copy(w.line, row)
			do(row, w.line[:width])
		}
	}
	columns := func() {
		for j := range width {
			for i := range height {
				w.line[i] = x[i*w.Width+j]
			}
			do(w.split[:height], w.line[:height])
			for i, v := range w.split[:height] {
				x[i*w.Width+j] = v
			}
		}
	}
	steps := []func(){rows, columns}
	if columnsFirst {
		steps = []func(){columns, rows}
	}
	for _, step := range steps {
		step()
	}
}

// detail is tap k of the filter of details, the quadrature mirror of the scaling filter.
func (w *Wavelet) detail(k int) float64 {
	v := w.filter[len(w.filter)-1-k]
	if k%2 == 1 {
		return -v
	}
	return v
}

func (w *Wavelet) analyse(dst, x []float64) {
	n := len(x)
	if n == 1 {
		dst[0] = x[0]
		return
	}
	for i := range n / 2 {
		low, high := 0.0, 0.0
		for k, tap := range w.filter {
			v := x[(2*i+k)%n]
			low += tap * v
			high += w.detail(k) * v
		}
		dst[i], dst[n/2+i] = low, high
	}
}

func (w *Wavelet) synthesise(dst, x []float64) {
	n := len(x)
	if n == 1 {
		dst[0] = x[0]
		return
	}
	clear(dst)
	for i := range n / 2 {
		for k, tap := range w.filter {
			dst[(2*i+k)%n] += tap*x[i] + w.detail(k)*x[n/2+i]
		}
	}
}
