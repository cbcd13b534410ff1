package problem

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
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
	var values []float64
	for _, h := range ability.Hypers(features) {
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
	for _, h := range ability.Hypers(features) {
		list = append(list, credence.Value{Name: h.Name, Value: h.Value})
	}
	return list
}
