package linop

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Fourier is the orthonormal discrete Fourier transform of a real image of Height×Width numbers, or a signal of
// height 1, at some frequencies: real and imaginary parts of the coefficient at Places[i] = row·Width +
// column are elements 2i and 2i + 1. Nil places are all frequencies. It is not safe for concurrent use.
type Fourier struct {
	Height, Width int
	Places        []int

	rows, columns  *fourier.CmplxFFT
	grid           []complex128
	column, result []complex128
}

// NewFourier returns the transform, and panics where places lie outside the image.
func NewFourier(height, width int, places []int) *Fourier {
	if height < 1 || width < 1 {
		panic(fmt.Sprintf("linop: Fourier transform of a %d×%d image", height, width))
	}
	for _, p := range places {
		if p < 0 || p >= height*width {
			panic(fmt.Sprintf("linop: frequency %d of a %d×%d image", p, height, width))
		}
	}
	if places == nil {
		places = make([]int, height*width)
		for i := range places {
			places[i] = i
		}
	}
	return &Fourier{
		Height: height, Width: width, Places: places,
		rows: fourier.NewCmplxFFT(width), columns: fourier.NewCmplxFFT(height),
		grid: make([]complex128, height*width), column: make([]complex128, height), result: make([]complex128, max(height, width)),
	}
}

// Dims implements [Matrix].
func (f *Fourier) Dims() (rows, cols int) { return 2 * len(f.Places), f.Height * f.Width }

// MulVec implements [Matrix].
func (f *Fourier) MulVec(dst, x []float64) {
	rows, cols := f.Dims()
	checkMulVec("Fourier.MulVec", rows, cols, dst, x)
	for i, v := range x {
		f.grid[i] = complex(v, 0)
	}
	f.transform((*fourier.CmplxFFT).Coefficients)
	scale := 1 / math.Sqrt(float64(cols))
	for i, p := range f.Places {
		dst[2*i], dst[2*i+1] = scale*real(f.grid[p]), scale*imag(f.grid[p])
	}
}

// MulVecTrans implements [Matrix]: the real part of the inverse transform.
func (f *Fourier) MulVecTrans(dst, x []float64) {
	rows, cols := f.Dims()
	checkMulVec("Fourier.MulVecTrans", cols, rows, dst, x)
	clear(f.grid)
	for i, p := range f.Places {
		f.grid[p] += complex(x[2*i], x[2*i+1])
	}
	f.transform((*fourier.CmplxFFT).Sequence)
	scale := 1 / math.Sqrt(float64(cols))
	for i, v := range f.grid {
		dst[i] = scale * real(v)
	}
}

// transform takes rows, then columns of the grid.
func (f *Fourier) transform(do func(t *fourier.CmplxFFT, dst, x []complex128) []complex128) {
	h, w := f.Height, f.Width
	if w > 1 {
		for i := range h {
			row := f.grid[i*w : (i+1)*w]
			copy(row, do(f.rows, f.result[:w], row))
		}
	}
	if h == 1 {
		return
	}
	for j := range w {
		for i := range h {
			f.column[i] = f.grid[i*w+j]
		}
		for i, v := range do(f.columns, f.result[:h], f.column) {
			f.grid[i*w+j] = v
		}
	}
}

// Convolution is the circular convolution of an image of Height×Width numbers with a kernel of the
// same size, whose origin is the first element. It is not safe for concurrent use.
type Convolution struct {
	transform *Fourier
	spectrum  []complex128
}

// NewConvolution returns the operator, and panics where the kernel is not of the image's size.
func NewConvolution(height, width int, kernel []float64) *Convolution {
	f := NewFourier(height, width, nil)
	if len(kernel) != height*width {
		panic(fmt.Sprintf("linop: convolution of a %d×%d image with a kernel of %d numbers", height, width, len(kernel)))
	}
	for i, v := range kernel {
		f.grid[i] = complex(v, 0)
	}
	f.transform((*fourier.CmplxFFT).Coefficients)
	return &Convolution{f, append([]complex128(nil), f.grid...)}
}

// Dims implements [Matrix].
func (c *Convolution) Dims() (rows, cols int) {
	n := c.transform.Height * c.transform.Width
	return n, n
}

// MulVec implements [Matrix].
func (c *Convolution) MulVec(dst, x []float64) { c.apply(dst, x, 1) }

// MulVecTrans implements [Matrix].
func (c *Convolution) MulVecTrans(dst, x []float64) { c.apply(dst, x, -1) }

// apply multiplies by the spectrum, or for a sign of −1 by its conjugate.
func (c *Convolution) apply(dst, x []float64, sign float64) {
	f := c.transform
	n := len(f.grid)
	checkMulVec("Convolution", n, n, dst, x)
	for i, v := range x {
		f.grid[i] = complex(v, 0)
	}
	f.transform((*fourier.CmplxFFT).Coefficients)
	for i, s := range c.spectrum {
		f.grid[i] *= complex(real(s), sign*imag(s))
	}
	f.transform((*fourier.CmplxFFT).Sequence)
	for i, v := range f.grid {
		dst[i] = real(v) / float64(n)
	}
}
