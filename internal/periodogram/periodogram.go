// Package periodogram finds the largest waves in a function that is known with noise at uneven places: the
// least-squares periodogram (Lomb 1976; Scargle 1982), whose sums go by a fast Fourier transform of cells a quarter of
// the typical gap wide (Press & Rybicki 1989, with the nearest cell). Cells are at most 2¹⁷, and memory is some 20 MB
// at most, however many rows there are.
package periodogram

import (
	"math"
	"math/bits"
	"math/cmplx"

	"gonum.org/v1/gonum/dsp/fourier"
)

const (
	perGap     = 4
	mostCells  = 1 << 17
	finer      = 4 // frequencies to a cycle of the whole range
	apart      = 2 // cycles of the whole range by which waves differ
	degenerate = 1e-3
)

// Waves are sums of rows by cells of their place.
type Waves struct {
	low, cell, width float64
	highest          float64 // frequency
	sum, weight      []float64
	known            []float64 // frequencies that were removed
	centred          bool
	transform        *fourier.FFT
	window           []complex128
}

// New makes cells for places from low to low + width, of which neighbours are a step apart, and waves of two steps or
// longer.
func New(low, step, width float64) *Waves {
	cell := max(step/perGap, width/(mostCells-1))
	n := int(width/cell) + 1
	padded := 1 << bits.Len(uint(finer*n-1))
	return &Waves{low: low, cell: cell, width: width, highest: min(1/(2*step), 1/(4*cell)),
		sum: make([]float64, padded), weight: make([]float64, padded)}
}

// Add adds a row.
func (w *Waves) Add(x, y, weight float64) {
	i := max(0, min(int((x-w.low)/w.cell+0.5), len(w.sum)/finer-1))
	if y*weight-y*weight == 0 {
		w.sum[i] += weight * y
		w.weight[i] += weight
	}
}

// centre subtracts the mean.
func (w *Waves) centre() {
	if w.centred {
		return
	}
	w.centred = true
	total, weight := 0.0, 0.0
	for i, v := range w.sum {
		total += v
		weight += w.weight[i]
	}
	for i := range w.sum {
		w.sum[i] -= w.weight[i] * total / max(weight, math.SmallestNonzeroFloat64)
	}
	w.transform = fourier.NewFFT(len(w.sum))
	w.window = w.transform.Coefficients(nil, w.weight)
}

// Largest returns the period of the wave that explains most of the sum of squares, apart from those that were removed.
func (w *Waves) Largest() float64 {
	w.centre()
	all := w.transform.Coefficients(nil, w.sum)
	unit := 1 / (w.cell * float64(len(w.sum))) // of frequencies
	total := real(w.window[0])
	best, at := -1.0, 1/w.width
search:
	for k := int(math.Ceil(1 / (w.width * unit))); 2*k < len(w.window) && float64(k)*unit <= w.highest; k++ {
		f := float64(k) * unit
		for _, known := range w.known {
			if math.Abs(f-known) < apart/w.width {
				continue search
			}
		}
		// Σ w cos², Σ w sin² and Σ w cos sin by the window at twice the frequency; transforms are of e^{−iωt}.
		c, s := real(all[k]), -imag(all[k])
		cc, ss, cs := (total+real(w.window[2*k]))/2, (total-real(w.window[2*k]))/2, -imag(w.window[2*k])/2
		determinant := cc*ss - cs*cs
		if determinant < degenerate*total*total {
			continue
		}
		if power := (c*c*ss - 2*c*s*cs + s*s*cc) / determinant; power > best {
			best, at = power, f
		}
	}
	return 1 / at
}

// Remove subtracts the wave of a period that has least squares, beside a constant.
func (w *Waves) Remove(period float64) {
	w.centre()
	turn := cmplx.Rect(1, 2*math.Pi*w.cell/period)
	var gram [3][3]float64
	var right [3]float64
	visit := func(do func(i int, column [3]float64)) {
		wave := complex(1, 0)
		for i := range len(w.sum) / finer {
			if i%1024 == 0 { // against rounding
				wave = cmplx.Rect(1, 2*math.Pi*math.Mod(w.cell*float64(i)/period, 1))
			}
			if w.weight[i] != 0 {
				do(i, [3]float64{1, real(wave), imag(wave)})
			}
			wave *= turn
		}
	}
	visit(func(i int, column [3]float64) {
		for a, v := range column {
			right[a] += v * w.sum[i]
			for b, u := range column {
				gram[a][b] += w.weight[i] * v * u
			}
		}
	})
	// Gaussian elimination; a column that the others are is left out.
	scale := gram[0][0]
	var solved [3]float64
	for a := range 3 {
		if gram[a][a] <= degenerate*scale {
			gram[a], right[a] = [3]float64{}, 0
			gram[a][a] = 1
		}
		for b := a + 1; b < 3; b++ {
			times := gram[b][a] / gram[a][a]
			for c := range 3 {
				gram[b][c] -= times * gram[a][c]
			}
			right[b] -= times * right[a]
		}
	}
	for a := 2; a >= 0; a-- {
		solved[a] = right[a]
		for b := a + 1; b < 3; b++ {
			solved[a] -= gram[a][b] * solved[b]
		}
		solved[a] /= gram[a][a]
	}
	visit(func(i int, column [3]float64) {
		for a, v := range column {
			w.sum[i] -= w.weight[i] * v * solved[a]
		}
	})
	w.known = append(w.known, 1/period)
}
