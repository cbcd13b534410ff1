package gauss

import (
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/arrow"
)

// Arrow is the layout of weights most of which go by levels; see package arrow.
type Arrow struct {
	*arrow.Pattern
	Definite bool // as of [Dense]
}

var _ Values = Arrow{}

// Close implements [Values].
func (l Arrow) Close(h []float64, _ int) { l.Pattern.Close(h) }

// Solver implements [Values].
func (l Arrow) Solver(ws *credence.Workspace) Solver {
	return &ArrowSolver{Factor: l.NewFactor(ws), layout: l}
}

// ArrowSolver is the factor of an arrow; its Inverse and Covariance have the numbers of the pattern.
type ArrowSolver struct {
	*arrow.Factor
	layout Arrow
	values []float64 // of C, where it was asked for
	formed bool
}

// Set implements [Solver].
func (f *ArrowSolver) Set(h []float64, scale float64, deviations []float64) error {
	f.formed = false
	tried := jitters[:1]
	if f.layout.Definite {
		tried = jitters[:]
	}
	if lost := f.Factor.Set(h, scale, deviations, tried); lost >= 0 {
		return &Repeated{Pivot: lost, Count: f.layout.Weights, Twin: -1}
	}
	return nil
}

// Covariance implements [Solver].
func (f *ArrowSolver) Covariance(dst []float64) {
	f.Inverse(dst)
	f.Scale(dst)
}

// Values returns the numbers of C, which are the solver's until the next Set.
func (f *ArrowSolver) Values() []float64 {
	if !f.formed {
		if f.formed = true; f.values == nil {
			f.values = make([]float64, f.layout.Len())
		}
		f.Covariance(f.values)
	}
	return f.values
}

// Variances implements [Solver].
func (f *ArrowSolver) Variances(dst []float64) { f.layout.Diagonal(dst, f.Values()) }

// Spread implements [Solver].
func (f *ArrowSolver) Spread() Spread { return arrowSpread{f} }

// arrowSpread is the C of a solver.
type arrowSpread struct{ *ArrowSolver }

func (s arrowSpread) Mul(_ *credence.Workspace, dst, half, x []float64) { s.Factor.Mul(dst, half, x) }

func (s arrowSpread) Draw(dst []float64, rng *rand.Rand) (square float64) {
	for j := range dst {
		dst[j] = rng.NormFloat64()
		square += dst[j] * dst[j]
	}
	s.Factor.Draw(dst, dst)
	return square
}

func (s arrowSpread) RowVariances(ws *credence.Workspace, dst []float64, phi *credence.Design) {
	s.layout.RowVariances(ws, dst, s.Values(), phi, func() []float64 { return s.layout.Regression(ws, s.Values()) })
}
