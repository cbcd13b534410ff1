package gauss

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Dense is the layout of d×d values, row-major, of which the upper triangle is read.
type Dense struct {
	Weights int
	// Definite says that H has no negative eigenvalues, so that it is rounding where A has no factor.
	Definite bool
}

var _ Layout = Dense{}

// Len implements [Layout].
func (l Dense) Len() int { return l.Weights * l.Weights }

// AddRows implements [Layout].
func (l Dense) AddRows(ws *credence.Workspace, h []float64, phi *credence.Design, weights []float64) {
	phi.AddGram(ws, h, weights)
}

// Close implements [Layout].
func (l Dense) Close(h []float64, dense int) { linop.LiftGram(h, l.Weights, dense) }

// Centre implements [Layout].
func (l Dense) Centre(h, means []float64) {
	d := l.Weights
	first := h[:d]
	for i := 1; i < d; i++ {
		x := means[i]
		row := h[i*d+i : (i+1)*d]
		if x != 0 {
			kernel.Axpy(-x, first[i:], row)
		}
		if by := x*first[0] - first[i]; by != 0 {
			kernel.Axpy(by, means[i:], row)
		}
	}
	kernel.Axpy(-first[0], means, first)
}

// Mul implements [Layout].
func (l Dense) Mul(dst, h, x []float64) {
	d := l.Weights
	clear(dst)
	for i := range d {
		row := h[i*d+i : (i+1)*d]
		dst[i] += kernel.Dot(row, x[i:])
		kernel.Axpy(x[i], row[1:], dst[i+1:])
	}
}

// AddOuter implements [Layout].
func (l Dense) AddOuter(h []float64, scale float64, x []float64) {
	d := l.Weights
	for i, v := range x {
		kernel.Axpy(scale*v, x[i:], h[i*d+i:(i+1)*d])
	}
}

// Diagonal implements [Layout].
func (l Dense) Diagonal(dst, h []float64) {
	for j := range dst {
		dst[j] = h[j*l.Weights+j]
	}
}

// Factor implements [Layout].
func (l Dense) Factor(ws *credence.Workspace) Factor {
	return &dense{layout: l, ws: ws, d: l.Weights, upper: make([]float64, l.Len()), deviations: make([]float64, l.Weights)}
}

// Solver implements [Values].
func (l Dense) Solver(ws *credence.Workspace) Solver { return l.Factor(ws) }

// dense is the factor of a dense A.
type dense struct {
	layout     Dense
	ws         *credence.Workspace
	d          int
	upper      []float64 // U, UᵀU = A
	deviations []float64 // S
	root       []float64 // S U⁻¹
	rooted     bool
	jitter     float64
}

func (f *dense) Set(h []float64, scale float64, deviations []float64) error {
	d := f.d
	copy(f.deviations, deviations)
	f.rooted = false
	var pivot int
	if f.jitter, pivot = factorise(f.ws.Pool(), d, f.upper, f.layout.Definite, func() { f.fill(h, scale) }); pivot < 0 {
		return nil
	}
	twin, closest := -1, 0.0
	for i := range pivot {
		if c := math.Abs(h[i*d+pivot]) / math.Sqrt(h[i*d+i]*h[pivot*d+pivot]); c > closest {
			twin, closest = i, c
		}
	}
	return &Repeated{Pivot: pivot, Count: d, Twin: twin}
}

// fill stores the upper triangle of A.
func (f *dense) fill(h []float64, scale float64) {
	d := f.d
	f.ws.Each(d, func(i int) {
		by := f.deviations[i] * scale
		row, source := f.upper[i*d:(i+1)*d], h[i*d:(i+1)*d]
		for j := i; j < d; j++ {
			row[j] = by * f.deviations[j] * source[j]
		}
		row[i]++
	})
}

func (f *dense) Jitter() float64 { return f.jitter }

func (f *dense) LogDet() float64 { return LogDeterminant(f.d, f.upper) }

func (f *dense) Solve(dst, b []float64) { f.Whiten(dst, dst, b) }

func (f *dense) Whiten(dst, white, b []float64) {
	for j, s := range f.deviations {
		white[j] = s * b[j]
	}
	f.ws.Pool().TrsmLeft(true, f.d, 1, f.upper, max(1, f.d), white, 1)
	f.ws.Pool().TrsmLeft(false, f.d, 1, f.upper, max(1, f.d), white, 1)
	for j, s := range f.deviations {
		dst[j] = s * white[j]
	}
}

func (f *dense) Variances(dst []float64) { f.Root().Variances(f.ws, dst) }

func (f *dense) Spread() Spread { return f.Root() }

func (f *dense) Inverse(dst []float64) {
	f.ws.Pool().CholeskyInverse(f.d, f.upper, max(1, f.d), dst, max(1, f.d))
}

func (f *dense) Covariance(dst []float64) {
	f.Inverse(dst)
	ScaleSides(f.ws, dst, f.deviations)
}

func (f *dense) Trace(h, covariance []float64) (sum float64) {
	d := f.d
	for i := range d {
		row, c := h[i*d+i:(i+1)*d], covariance[i*d+i:(i+1)*d]
		sum += 2*kernel.Dot(row, c) - row[0]*c[0]
	}
	return sum
}

func (f *dense) Half(x []float64, columns int) {
	for j, s := range f.deviations {
		kernel.Scale(s, x[j*columns:(j+1)*columns])
	}
	f.ws.Pool().TrsmLeft(true, f.d, columns, f.upper, f.d, x, columns)
}

// stripe is the number of rows of the root that are solved for together: left of the diagonal there is nothing.
const stripe = 128

func (f *dense) Root() Root {
	d := f.d
	if f.rooted {
		return f.root
	}
	if f.rooted = true; f.root == nil {
		f.root = make([]float64, d*d)
	}
	clear(f.root)
	for i, s := range f.deviations {
		f.root[i*d+i] = s
	}
	for i := 0; i < d; i += stripe {
		f.ws.Pool().TrsmRight(false, min(stripe, d-i), d-i, f.upper[i*d+i:], d, f.root[i*d+i:], d)
	}
	return f.root
}
