package score

import (
	"math"

	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/likelihood"
)

const (
	// cavityDraws is the number of draws of the parameters of a family under which rows are left out by their cavities.
	cavityDraws = 400
	// leastCavity is the least share of the precision of f that the other rows have: below it the row alone tells f,
	// and what is left is rounding and the error of the approximation.
	leastCavity = 0.02
)

// cavity returns the mean and the variance of f given all rows but one of target y, from those given all: without the
// quadratic factor that stands for the row in a variational posterior, which has the expected slope and curvature of
// its log density there (Opper & Archambeau 2009, eq. 7). ok is false where the others have next to nothing left.
func cavity(family likelihood.Expected, y, mean, variance float64) (centre, spread float64, ok bool) {
	_, slope, curvature := family.ExpectedLogDensity(y, mean, variance)
	precision := 1/variance + 2*curvature
	if !(precision*variance > leastCavity) {
		return 0, 0, false
	}
	return mean - slope/precision, 1 / precision, true
}

// leaveByCavities is leaveJoint where the weights 1/p(y|f, θ) are too uneven: f is integrated over given the
// parameters, and their draws alone have weights (Vehtari, Mononen, Tolvanen, Sivula & Winther 2016, section 3.6). at
// returns the mean and the variance of f under a draw. ok is false where that cannot be done.
func (l *Leaver) leaveByCavities(rows *Rows, i int, at func(s int) (mean, variance float64)) (out left, ok bool) {
	y := rows.batch.Target[i]
	var logs, ratios, upTo []float64
	for s := 0; s < jointDraws; s += jointDraws / cavityDraws {
		row := rows.batch.LikelihoodOf(l.joint.Likelihoods[s], i)
		expected, has := row.(likelihood.Expected)
		family, predicts := row.(likelihood.Predictive)
		if !has || !predicts {
			return out, false
		}
		mean, variance := at(s)
		if mean, variance, ok = cavity(expected, y, mean, variance); !ok {
			return out, false
		}
		log, _, _ := family.(likelihood.Tilted).TiltedMoments(y, mean, variance)
		logs, ratios = append(logs, log), append(ratios, -log)
		if l.pit {
			upTo = append(upTo, family.PredictiveCDF(y, mean, variance))
		}
	}
	if out.k = diagnose.Smooth(ratios); math.IsNaN(out.k) {
		out.k = 0
	}
	largest := diagnose.LogMean(ratios)
	for s, ratio := range ratios {
		share := math.Exp(ratio-largest) / cavityDraws
		if l.pit {
			out.upTo += share * upTo[s]
			out.below += share * upTo[s]
			if l.discrete {
				out.below -= share * math.Exp(logs[s])
			}
		}
		logs[s] += ratio
	}
	out.below = math.Max(0, out.below)
	out.logDensity = diagnose.LogMean(logs) - largest
	return out, true
}
