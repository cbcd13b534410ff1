package score

import (
	"github.com/credence-ml/credence"
)

// leastCoverage is the share of the weights that 90 % intervals hold from which on they are told.
const leastCoverage = 0.8

// Intervals says whether standard deviations and intervals of weights are told to people, and else why not. JSON and
// files of weights have them, beside the share of the weights that they hold.
func Intervals(report *credence.Report) (told bool, why string) {
	if c := report.WeightCoverage; c != nil && *c < leastCoverage {
		return false, "weights to rank features by, and no estimates: their intervals are too narrow and are not shown; credence select has intervals"
	}
	if report.Heldout() {
		return false, "prior variances are those that predict left-out rows best, averaged over those that do so about as well: weights have no intervals then, predictions have"
	}
	return true, ""
}
