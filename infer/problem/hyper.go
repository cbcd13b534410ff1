package problem

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

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

// Values lists the prior variances of groups and the hyper-parameters of features as reports have them.
func Values(groups []Group, variance func(k int) float64, features credence.Features) []credence.Value {
	var list []credence.Value
	for k, g := range groups {
		list = append(list, credence.Value{Name: "prior_variance." + g.Name, Value: variance(k)})
	}
	if tunable, ok := features.(credence.Tunable); ok {
		for _, h := range tunable.Hyper() {
			list = append(list, credence.Value{Name: h.Name, Value: h.Value})
		}
	}
	return list
}

// InterceptSpread is the prior standard deviation of an intercept in units of that of the target, on
// the scale of f.
const InterceptSpread = 10

// An intercept stands at the weighted means x̄ of the columns: f = b̃ + (φ − x̄)ᵀw with
// b̃ ~ N(m, (InterceptSpread·s)²), so that nothing but b̃ changes when a constant is added to the
// target. In terms of the features as they are, the intercept is b̃ − x̄ᵀw, which is the map
// T = [1, −x̄ᵀ; 0, I]. It is weight 0.

// Centred says whether the columns of a group stand about their means under an intercept: all do
// but features with hyper-parameters, such as random ones, whose columns move.
func (g *Group) Centred() bool { return !g.Intercept && !g.Tuned }

// Means returns the weighted means of the columns of centred groups, and 0 for the others, given the
// sums Σ w φ_j over rows of some weight.
func Means(groups []Group, totals []float64, weight float64) []float64 {
	means := make([]float64, len(totals))
	for _, g := range groups {
		if g.Centred() {
			for j := g.First; j < g.End(); j++ {
				means[j] = totals[j] / weight
			}
		}
	}
	return means
}

// Uncentre turns the mean of (b̃, w) into that of (b̃ − x̄ᵀw, w).
func Uncentre(means, mean []float64) { mean[0] -= kernel.Dot(means, mean) }

// UncentreFactor turns a d×d matrix F with FFᵀ the covariance of (b̃, w) into T F, that of
// (b̃ − x̄ᵀw, w), which is upper triangular as F is.
func UncentreFactor(means, factor []float64) {
	d := len(means)
	for j := 1; j < d; j++ {
		if means[j] != 0 {
			kernel.Axpy(-means[j], factor[j*d:(j+1)*d], factor[:d])
		}
	}
}
