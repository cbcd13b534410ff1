package gauss

import (
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
}

// Set implements [Solver].
func (f *ArrowSolver) Set(h []float64, scale float64, deviations []float64) error {
	tried := jitters[:1]
	if f.layout.Definite {
		tried = jitters[:]
	}
	if lost := f.Factor.Set(h, scale, deviations, tried); lost >= 0 {
		return &Repeated{Pivot: lost, Count: f.layout.Weights, Twin: -1}
	}
	return nil
}
