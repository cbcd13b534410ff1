package linop

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"
)

func dense(rng *rand.Rand, rows, cols int) *Dense {
	d := NewDense(rows, cols)
	for i := range d.Data {
		d.Data[i] = rng.NormFloat64()
	}
	return &d
}

// written returns the matrix of an operator, column by column.
func written(a Matrix) Dense {
	rows, cols := a.Dims()
	out, unit, column := NewDense(rows, cols), make([]float64, cols), make([]float64, rows)
	for j := range cols {
		unit[j] = 1
		a.MulVec(column, unit)
		unit[j] = 0
		for i, v := range column {
			out.Row(i)[j] = v
		}
	}
	return out
}

// TestAdjoint compares ⟨Ax, y⟩ with ⟨x, Aᵀy⟩, and Aᵀy with the matrix written out.
func TestAdjoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	kernel := make([]float64, 20)
	for i := range kernel {
		kernel[i] = rng.NormFloat64()
	}
	a, b := dense(rng, 4, 6), dense(rng, 4, 6)
	sparse, _ := randomPair(rng, 5, 4, false)
	for name, m := range map[string]Matrix{
		"dense": a, "sparse": sparse, "two-dimensional Daubechies 4": NewWavelet(8, 16, 2, Daubechies4),
		"identity": Identity(5), "diagonal": Diagonal{1, -2, 3}, "scaled": Scaled{-1.5, a}, "transposed": Transposed{a},
		"product": NewProduct(dense(rng, 3, 4), a), "sum": NewSum(a, b, Scaled{2, a}), "stack": NewStack(a, Identity(6), dense(rng, 2, 6)),
		"selection": &Selection{6, []int{5, 0, 0, 2}}, "difference": NewDifference(3, 5), "signal's difference": NewDifference(1, 7),
		"Fourier": NewFourier(4, 5, []int{0, 7, 13, 3}), "signal's Fourier": NewFourier(1, 9, nil), "column's Fourier": NewFourier(6, 1, nil),
		"convolution": NewConvolution(4, 5, kernel), "filter": NewFilter(4, 5, NewConvolution(4, 5, kernel).Spectrum()), "sum of one": NewSum(a), "stack of one": NewStack(a), "Haar": NewWavelet(4, 8, 2, Haar), "Daubechies 4": NewWavelet(1, 16, 2, Daubechies4),
		"Daubechies 8": NewWavelet(8, 8, 1, Daubechies8), "filter longer than the line": NewWavelet(1, 4, 2, Daubechies8),
	} {
		rows, cols := m.Dims()
		x, y := make([]float64, cols), make([]float64, rows)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		ax, aty := make([]float64, rows), make([]float64, cols)
		m.MulVec(ax, x)
		m.MulVecTrans(aty, y)
		left, right := 0.0, 0.0
		for i := range y {
			left += ax[i] * y[i]
		}
		for i := range x {
			right += x[i] * aty[i]
		}
		if !(math.Abs(left-right) <= 1e-12*(1+math.Abs(left))) {
			t.Errorf("%s: ⟨Ax, y⟩ = %g, ⟨x, Aᵀy⟩ = %g", name, left, right)
		}
		full := written(m)
		want := make([]float64, cols)
		full.MulVecTrans(want, y)
		for j := range want {
			if !(math.Abs(want[j]-aty[j]) <= 1e-12) {
				t.Errorf("%s: element %d of Aᵀy is %g, by its matrix %g", name, j, aty[j], want[j])
			}
		}
		checkBlocks(t, rng, name, m)
	}
}

// checkBlocks compares products with several columns, in windows on wider matrices, with one at a time.
func checkBlocks(t *testing.T, rng *rand.Rand, name string, m Matrix) {
	t.Helper()
	if _, blocked := m.(Blocked); !blocked {
		t.Errorf("%s takes one vector at a time", name)
	}
	rows, cols := m.Dims()
	for _, count := range []int{1, 2, 5} {
		for _, way := range []struct {
			to, from int
			block    func(dst, x *Dense)
			vector   func(dst, x []float64)
		}{{rows, cols, m.(Blocked).MulBlock, m.MulVec}, {cols, rows, m.(Blocked).MulBlockTrans, m.MulVecTrans}} {
			wide, out := dense(rng, way.from, count+2), dense(rng, way.to, count+1)
			x, dst := wide.Columns(1, count), out.Columns(0, count)
			way.block(&dst, &x)
			for c := range count {
				column, want := make([]float64, way.from), make([]float64, way.to)
				for i := range column {
					column[i] = x.Row(i)[c]
				}
				way.vector(want, column)
				for i, v := range want {
					if !(math.Abs(v-dst.Row(i)[c]) <= 1e-12) {
						t.Fatalf("%s: element %d of column %d of %d is %g, alone %g", name, i, c, count, dst.Row(i)[c], v)
					}
				}
			}
		}
	}
}

// TestFourierCoefficients compares with the sum that defines them.
func TestFourierCoefficients(t *testing.T) {
	const h, w = 3, 4
	rng := rand.New(rand.NewPCG(2, 1))
	x := make([]float64, h*w)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	got := make([]float64, 2*h*w)
	NewFourier(h, w, nil).MulVec(got, x)
	for k := range h {
		for l := range w {
			sum := complex(0, 0)
			for i := range h {
				for j := range w {
					sum += complex(x[i*w+j], 0) * cmplx.Exp(complex(0, -2*math.Pi*(float64(k*i)/h+float64(l*j)/w)))
				}
			}
			sum /= complex(math.Sqrt(h*w), 0)
			if p := k*w + l; !(math.Abs(got[2*p]-real(sum)) <= 1e-12) || !(math.Abs(got[2*p+1]-imag(sum)) <= 1e-12) {
				t.Errorf("coefficient %d, %d: %g%+gi, want %g", k, l, got[2*p], got[2*p+1], sum)
			}
		}
	}
}

// TestConvolution compares with the double sum.
func TestConvolution(t *testing.T) {
	const h, w = 3, 4
	rng := rand.New(rand.NewPCG(3, 1))
	kernel, x := make([]float64, h*w), make([]float64, h*w)
	for i := range x {
		kernel[i], x[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	got := make([]float64, h*w)
	NewConvolution(h, w, kernel).MulVec(got, x)
	for i := range h {
		for j := range w {
			want := 0.0
			for k := range h {
				for l := range w {
					want += kernel[k*w+l] * x[(i-k+h)%h*w+(j-l+w)%w]
				}
			}
			if !(math.Abs(got[i*w+j]-want) <= 1e-12) {
				t.Errorf("%d, %d: %g, want %g", i, j, got[i*w+j], want)
			}
		}
	}
}

// TestFilter: a filter multiplies each coefficient by its number of the spectrum, which is what a convolution that is
// symmetric does by its own; those of twice the square root are the filter again.
func TestFilter(t *testing.T) {
	const h, w = 4, 6
	rng := rand.New(rand.NewPCG(4, 1))
	kernel, spectrum, x := make([]float64, h*w), make([]float64, h*w), make([]float64, h*w)
	opposite := func(p int) int { return (h-p/w)%h*w + (w-p%w)%w }
	for p := range x {
		kernel[p], spectrum[p], x[p] = rng.NormFloat64(), 1+rng.Float64(), rng.NormFloat64()
	}
	for p := range x {
		kernel[p], spectrum[p] = kernel[min(p, opposite(p))], spectrum[min(p, opposite(p))]
	}
	got, in, out := make([]float64, h*w), make([]float64, 2*h*w), make([]float64, 2*h*w)
	filter := NewFilter(h, w, spectrum)
	filter.MulVec(got, x)
	fourier := NewFourier(h, w, nil)
	fourier.MulVec(in, x)
	fourier.MulVec(out, got)
	for p, v := range spectrum {
		if !(math.Abs(out[2*p]-v*in[2*p]) <= 1e-12) || !(math.Abs(out[2*p+1]-v*in[2*p+1]) <= 1e-12) {
			t.Errorf("coefficient %d is %v, %v of %v, %v; the spectrum is %v", p, out[2*p], out[2*p+1], in[2*p], in[2*p+1], v)
		}
	}
	if kept := filter.Spectrum(); !slices.Equal(kept, spectrum) {
		t.Errorf("the spectrum is %v, want %v", kept, spectrum)
	}
	symmetric := NewConvolution(h, w, kernel)
	want := make([]float64, h*w)
	symmetric.MulVec(want, x)
	NewFilter(h, w, symmetric.Spectrum()).MulVec(got, x)
	for p := range want {
		if !(math.Abs(got[p]-want[p]) <= 1e-12) {
			t.Errorf("pixel %d of a symmetric convolution is %v, and %v by its spectrum", p, want[p], got[p])
		}
	}
}

// TestWavelets: synthesis is the inverse, constants have no details, and Daubechies' filters
// annihilate lines away from the boundary.
func TestWavelets(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	// A prior on details leaves out the averages of the last level alone: of a 4×4 image its corner of 2×2.
	if got, want := NewWavelet(4, 4, 1, Haar).Details().Places, []int{2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; !slices.Equal(got, want) {
		t.Errorf("details %v, want %v", got, want)
	}
	for _, filter := range [][]float64{Haar, Daubechies4, Daubechies8} {
		w := NewWavelet(16, 32, 2, filter)
		x, y, back := make([]float64, 512), make([]float64, 512), make([]float64, 512)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		w.MulVec(y, x)
		w.MulVecTrans(back, y)
		for i := range x {
			if math.Abs(x[i]-back[i]) > 1e-10 { // the taps have twelve digits
				t.Fatalf("%d taps: element %d is %g after both ways, was %g", len(filter), i, back[i], x[i])
			}
		}
		line := NewWavelet(1, 32, 1, filter)
		for i := range 32 {
			x[i] = 1
		}
		line.MulVec(y[:32], x[:32])
		for i := 16; i < 32; i++ {
			if !(math.Abs(y[i]) <= 1e-12) {
				t.Errorf("%d taps: a constant has the detail %g", len(filter), y[i])
			}
		}
		for i := range 32 {
			x[i] = float64(i)
		}
		line.MulVec(y[:32], x[:32])
		if len(filter) > 2 && !(math.Abs(y[18]) <= 1e-10) {
			t.Errorf("%d taps: a line has the detail %g", len(filter), y[18])
		}
	}
}
