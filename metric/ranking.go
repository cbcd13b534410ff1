package metric

import (
	"iter"
	"math"
)

// ECEBins is the number of bins of the calibration error.
const ECEBins = 20

// A group is a set of rows that are not ranked among each other: those of equal
// probability, or of one histogram cell.
type group struct {
	positive, negative float64 // total weight of each class
	probability        float64 // Σ weight × probability
}

// rank returns the measures that need the rows in order of probability, given
// as groups in that order.
//
// auc is the Mann–Whitney statistic with mid-ranks: the weighted share of pairs
// of a positive and a negative row in which the positive one has the larger
// probability, rows of one group counting half. aucError is how far it can be
// from the value that a ranking inside the groups would give. Both are NaN if a
// class is missing.
//
// ece is the expected calibration error, Σ_b (W_b/W)·|mean probability − share
// of positives| over ECEBins bins of equal weight (quantile bins: those of equal
// width leave all rows of a rare class in one). A group falls as a whole into
// the bin of its mid-rank, so that ties do not depend on the order of rows.
func rank(groups iter.Seq[group]) (auc, aucError, ece float64) {
	var positives, negatives sum
	for g := range groups {
		positives.add(g.positive)
		negatives.add(g.negative)
	}
	total := positives.value() + negatives.value()
	if !(total > 0) || math.IsInf(total, 1) { // no rows, or weights that overflow
		return math.NaN(), math.NaN(), math.NaN()
	}

	var ordered, tied sum // weight of pairs
	var negativeBelow, below sum
	var gap [ECEBins]sum // Σ weight × (probability − class)
	for g := range groups {
		ordered.add(g.positive * negativeBelow.value())
		tied.add(g.positive * g.negative)
		negativeBelow.add(g.negative)

		weight := g.positive + g.negative
		middle := below.value() + weight/2
		bin := binOf(middle, total, ECEBins)
		gap[bin].add(g.probability)
		gap[bin].add(-g.positive)
		below.add(weight)
	}
	var calibration sum
	for i := range gap {
		calibration.add(math.Abs(gap[i].value()))
	}
	pairs := positives.value() * negatives.value() // 0 makes both NaN
	return (ordered.value() + tied.value()/2) / pairs, tied.value() / 2 / pairs, calibration.value() / total
}

// binOf returns the bin of equal weight in which the middle of a group lies.
func binOf(middle, total float64, bins int) int {
	return int(min(float64(bins)*middle/total, float64(bins-1))) // the product may overflow
}
