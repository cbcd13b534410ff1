package linop

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Fourier is the orthonormal discrete Fourier transform of a real image of Height×Width numbers, or a signal of
// height 1, at some frequencies: real and imaginary parts of the coefficient at Places[i] = row·Width +
// column are elements 2i and 2i + 1. Nil places are all frequencies.
type Fourier struct {
	Height, Width int
	Places        []int
	grids         *sync.Pool // of *grid
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
	return &Fourier{height, width, places, newGrids(height, width)}
}

// Dims implements [Matrix].
func (f *Fourier) Dims() (rows, cols int) { return 2 * len(f.Places), f.Height * f.Width }

// MulVec implements [Matrix].
func (f *Fourier) MulVec(dst, x []float64) { f.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix]: the real part of the inverse transform.
func (f *Fourier) MulVecTrans(dst, x []float64) { f.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked]. One complex transform serves two images, of which one is the
// imaginary part: at frequencies p and −p their own coefficients are told apart by symmetry.
func (f *Fourier) MulBlock(dst, x *Dense) {
	rows, cols := f.Dims()
	checkBlock("Fourier.MulBlock", rows, cols, dst, x)
	g := f.grids.Get().(*grid)
	defer f.grids.Put(g)
	scale := 0.5 / math.Sqrt(float64(cols))
	for c := 0; c < x.Cols; c += 2 {
		g.load(x, c)
		g.forward()
		for i, p := range f.Places {
			at, mirrored := g.spectrum[g.place(p)], g.spectrum[g.mirror(p)]
			to := dst.Row(2 * i)
			into := dst.Row(2*i + 1)
			to[c], into[c] = scale*(real(at)+real(mirrored)), scale*(imag(at)-imag(mirrored))
			if c+1 < x.Cols {
				to[c+1], into[c+1] = scale*(imag(at)+imag(mirrored)), scale*(real(mirrored)-real(at))
			}
		}
	}
}

// MulBlockTrans implements [Blocked], two images at a time as in MulBlock.
func (f *Fourier) MulBlockTrans(dst, x *Dense) {
	rows, cols := f.Dims()
	checkBlock("Fourier.MulBlockTrans", cols, rows, dst, x)
	g := f.grids.Get().(*grid)
	defer f.grids.Put(g)
	scale := 0.5 / math.Sqrt(float64(cols))
	for c := 0; c < x.Cols; c += 2 {
		clear(g.spectrum)
		for i, p := range f.Places {
			re, im := x.Row(2*i), x.Row(2*i+1)
			a, b := complex(re[c], im[c]), complex(0, 0)
			if c+1 < x.Cols {
				b = complex(-im[c+1], re[c+1]) // i times that of the second image
			}
			g.spectrum[g.place(p)] += a + b
			g.spectrum[g.mirror(p)] += complex(real(a)-real(b), imag(b)-imag(a))
		}
		g.backward()
		g.store(dst, c, scale)
	}
}

// Convolution is the circular convolution of an image of Height×Width numbers with a kernel of the
// same size, whose origin is the first element.
type Convolution struct {
	height, width int
	grids         *sync.Pool
	spectrum      []complex128 // in the order of a grid
}

// NewConvolution returns the operator, and panics where the kernel is not of the image's size.
func NewConvolution(height, width int, kernel []float64) *Convolution {
	if len(kernel) != height*width || len(kernel) == 0 {
		panic(fmt.Sprintf("linop: convolution of a %d×%d image with a kernel of %d numbers", height, width, len(kernel)))
	}
	g := newGrid(height, width)
	g.load(Column(kernel), 0)
	g.forward()
	return &Convolution{height, width, newGrids(height, width), g.spectrum}
}

// NewFilter returns the convolution that multiplies the Fourier transform of an image by a real spectrum, the
// frequency row·width + column at that place and with the same value as its opposite: a circulant matrix. It
// panics where the spectrum is not of the image's size.
func NewFilter(height, width int, spectrum []float64) *Convolution {
	if len(spectrum) != height*width || len(spectrum) == 0 {
		panic(fmt.Sprintf("linop: filter of a %d×%d image with a spectrum of %d numbers", height, width, len(spectrum)))
	}
	c := &Convolution{height, width, newGrids(height, width), make([]complex128, len(spectrum))}
	g := newGrid(height, width)
	for p, v := range spectrum {
		c.spectrum[g.place(p)] = complex(v, 0)
	}
	return c
}

// Spectrum returns the real parts of what a convolution multiplies the Fourier transform by.
func (c *Convolution) Spectrum() []float64 {
	out, g := make([]float64, len(c.spectrum)), newGrid(c.height, c.width)
	for p := range out {
		out[p] = real(c.spectrum[g.place(p)])
	}
	return out
}

// Dims implements [Matrix].
func (c *Convolution) Dims() (rows, cols int) { return c.height * c.width, c.height * c.width }

// MulVec implements [Matrix].
func (c *Convolution) MulVec(dst, x []float64) { c.MulBlock(Column(dst), Column(x)) }

// MulVecTrans implements [Matrix].
func (c *Convolution) MulVecTrans(dst, x []float64) { c.MulBlockTrans(Column(dst), Column(x)) }

// MulBlock implements [Blocked].
func (c *Convolution) MulBlock(dst, x *Dense) { c.apply(dst, x, 1) }

// MulBlockTrans implements [Blocked].
func (c *Convolution) MulBlockTrans(dst, x *Dense) { c.apply(dst, x, -1) }

// apply multiplies by the spectrum, or for a sign of −1 by its conjugate: two images at a time, since that
// of a real kernel leaves real and imaginary parts apart.
func (c *Convolution) apply(dst, x *Dense, sign float64) {
	n := c.height * c.width
	checkBlock("Convolution", n, n, dst, x)
	g := c.grids.Get().(*grid)
	defer c.grids.Put(g)
	for k := 0; k < x.Cols; k += 2 {
		g.load(x, k)
		g.forward()
		for i, s := range c.spectrum {
			g.spectrum[i] *= complex(real(s), sign*imag(s))
		}
		g.backward()
		g.store(dst, k, 1/float64(n))
	}
}

// grid is the memory of a two-dimensional Fourier transform. The spectrum stands column by column, so that
// both passes run along contiguous numbers.
type grid struct {
	height, width int
	rows, columns *fourier.CmplxFFT
	image         []complex128 // height×width
	spectrum      []complex128 // width×height
}

func newGrid(height, width int) *grid {
	n := height * width
	return &grid{height, width, fourier.NewCmplxFFT(width), fourier.NewCmplxFFT(height), make([]complex128, n), make([]complex128, n)}
}

// newGrids returns memory for transforms that run at the same time.
func newGrids(height, width int) *sync.Pool {
	return &sync.Pool{New: func() any { return newGrid(height, width) }}
}

// place is where the spectrum has the frequency row·width + column.
func (g *grid) place(frequency int) int {
	return frequency%g.width*g.height + frequency/g.width
}

// mirror is the place of the opposite frequency.
func (g *grid) mirror(frequency int) int {
	row, column := frequency/g.width, frequency%g.width
	return (g.width-column)%g.width*g.height + (g.height-row)%g.height
}

// load takes columns c and c+1 of x, if there is one, as real and imaginary part of the image.
func (g *grid) load(x *Dense, c int) {
	for i := range g.image {
		row := x.Row(i)
		if c+1 < len(row) {
			g.image[i] = complex(row[c], row[c+1])
		} else {
			g.image[i] = complex(row[c], 0)
		}
	}
}

// store is the opposite of load, times scale.
func (g *grid) store(x *Dense, c int, scale float64) {
	for i, v := range g.image {
		row := x.Row(i)
		if row[c] = scale * real(v); c+1 < len(row) {
			row[c+1] = scale * imag(v)
		}
	}
}

// forward takes the image to its spectrum, not scaled.
func (g *grid) forward() {
	along(g.image, g.width, g.rows.Coefficients)
	transpose(g.spectrum, g.image, g.height, g.width)
	along(g.spectrum, g.height, g.columns.Coefficients)
}

// backward is the inverse of forward, times the number of elements.
func (g *grid) backward() {
	along(g.spectrum, g.height, g.columns.Sequence)
	transpose(g.image, g.spectrum, g.width, g.height)
	along(g.image, g.width, g.rows.Sequence)
}

func along(x []complex128, size int, do func(dst, x []complex128) []complex128) {
	if size == 1 {
		return
	}
	for i := 0; i < len(x); i += size {
		do(x[i:i+size], x[i:i+size])
	}
}

// tile is the side of the squares that a transposition takes at a time, to stay in the cache.
const tile = 16

// transpose stores the rows×cols matrix x as cols×rows.
func transpose(dst, x []complex128, rows, cols int) {
	for top := 0; top < rows; top += tile {
		for left := 0; left < cols; left += tile {
			for i := top; i < min(rows, top+tile); i++ {
				for j := left; j < min(cols, left+tile); j++ {
					dst[j*rows+i] = x[i*cols+j]
				}
			}
		}
	}
}
