// Package problem is what every algorithm of svi starts from: the model, its rows in blocks, the
// starting values, and what the likelihood expects of a row under f ~ N(mean, variance).
package problem

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/prior"
)

// Likelihood is what svi asks of p(y|f): derivatives for starting values, and for
// f ~ N(mean, variance) the expectations of log p and their gradients, row by row.
// likelihood.Quadrature gives them to any family with derivatives.
type Likelihood interface {
	credence.Likelihood
	Derivatives(y, f float64) (value, first, second float64)
	ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64)
}

// Problem is a model and the rows that it is fitted to.
type Problem struct {
	Workspace  *credence.Workspace
	Data       credence.Data
	Features   credence.Features // at the values learned so far
	Likelihood Likelihood
	Prior      prior.Normal
	Groups     []blocks.Group
	Dims       int // number d of weights
}

// LearnedGroups returns the groups whose prior variance is learned.
func (p *Problem) LearnedGroups() []int {
	var learned []int
	for k, g := range p.Groups {
		if g.Learned {
			learned = append(learned, k)
		}
	}
	return learned
}

// LogPrior returns the log density of weights under the prior variances of the groups.
func (p *Problem) LogPrior(w, priors []float64) float64 {
	value := 0.0
	for k, g := range p.Groups {
		sum := 0.0
		for _, v := range w[g.First:g.End()] {
			sum += v * v
		}
		value -= (sum/priors[k] + float64(g.Count)*math.Log(2*math.Pi*priors[k])) / 2
	}
	return value
}

// LearnedHypers returns the features as Tunable and the places of the hyper-parameters that are
// learned; nil where there are none.
func LearnedHypers(features credence.Features) (credence.Tunable, []int) {
	tunable, ok := features.(credence.Tunable)
	if !ok {
		return nil, nil
	}
	var learned []int
	for i, h := range tunable.Hyper() {
		if !h.Held {
			learned = append(learned, i)
		}
	}
	return tunable, learned
}

// HyperValues returns the values of all hyper-parameters of features.
func HyperValues(features credence.Features) []float64 {
	tunable, ok := features.(credence.Tunable)
	if !ok {
		return nil
	}
	var values []float64
	for _, h := range tunable.Hyper() {
		values = append(values, h.Value)
	}
	return values
}

// LogBounds returns the bounds of the logarithm of a hyper-parameter. A bound of 0 is none.
func LogBounds(h credence.Hyper) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if h.Lower > 0 {
		lower = math.Log(h.Lower)
	}
	if h.Upper > 0 {
		upper = math.Log(h.Upper)
	}
	return lower, upper
}

// LogHyperPrior returns the log density of the logarithm of a hyper-parameter under its prior, but
// for a constant, and its slope.
func LogHyperPrior(h credence.Hyper, logValue float64) (value, slope float64) {
	if h.PriorSD <= 0 {
		return 0, 0
	}
	z := (logValue - h.PriorMean) / h.PriorSD
	return -z * z / 2, -z / h.PriorSD
}

// Finite says whether every number is neither infinite nor NaN.
func Finite(x ...float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// Grow returns a slice of length n with undefined contents, in the memory of x where that suffices.
func Grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}
