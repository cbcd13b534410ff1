package linop

import (
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

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
