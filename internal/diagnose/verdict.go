package diagnose

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
)

const (
	// goodK is the Pareto-k̂ below which a posterior is as good as exact for most purposes, and
	// LimitK the one above which its spread is not to be relied on (Yao and others 2018).
	goodK, LimitK = 0.5, 0.7
	// trustedShare is the effective share of the draws from which on k̂ is not judged. The shape of a
	// tail has no scale: where the weights r = p/q hardly vary it is fitted to differences of no
	// consequence. For any function g of the weights E_p g − E_q g = Cov_q(r, g), so that by
	// Cauchy–Schwarz no expectation is farther off than √(1/share − 1) of g's standard deviation: at
	// 0.9 a third, for the worst g, and 90 % intervals hold .86–.94 there. The share is taken after the
	// tail has been smoothed (Vehtari and others 2024, section 2), so that what k̂ says of unseen weights
	// is in it. From 0.99 on, as it was, a third of sound fits of one slope to 20 rows were warned of.
	trustedShare = 0.9
	// doubtfulShare is that below which a k̂ just above its limit is believed: some expectation may
	// be off by a standard deviation.
	doubtfulShare = 0.5
	// usualDraws is the number of draws of a fit of up to 2,000 rows.
	usualDraws = 1000
)

// errorK is the standard error of k̂ at its limit. A k̂ that is less than this above the limit may
// be below it with other draws, so nothing is said against the posterior unless its effective share
// is low too.
var errorK = StandardError(LimitK, usualDraws)

// Reliable says whether nothing is to be said against a posterior of this Pareto-k̂ and effective
// share.
func Reliable(k, share float64) bool {
	return k <= LimitK || share >= trustedShare || k <= LimitK+errorK && share >= doubtfulShare
}

// Judge stores in a report what the logarithms of importance weights say, and smooths them: the
// Pareto-k̂, the effective share of the draws and, where the report has an ELBO, the gap between it
// and the evidence, which is larger than that where k̂ is beyond its limit: draws that miss the tail miss the sum. It
// returns whether the posterior is [Reliable]; too few weights say nothing against it.
func Judge(report *credence.Report, logWeights []float64) bool {
	k := Smooth(logWeights)
	if math.IsNaN(k) {
		return true
	}
	share := EffectiveShare(logWeights)
	report.ParetoK, report.EffectiveShare = &k, &share
	bound := report.ELBO
	if report.ELBOMode != nil { // the draws are those at the mode of the hyper-parameters
		bound = report.ELBOMode
	}
	if bound != nil {
		gap := LogMean(logWeights) - *bound
		report.EvidenceGap, report.EvidenceGapLeast = &gap, !Reliable(k, share)
	}
	return Reliable(k, share)
}

// Verdict says what the Pareto-k̂ of a report means, with the figures that decide it; "" for a report
// without one. It speaks of the computation alone: a posterior that is computed well may be that of a wrong model. It
// never reassures where the fit stopped short of its optimum.
func Verdict(report *credence.Report) string {
	if report.ParetoK == nil {
		return ""
	}
	k, share := *report.ParetoK, 0.0
	if report.EffectiveShare != nil {
		share = *report.EffectiveShare
	}
	switch {
	case report.Status == credence.IterationLimit && Reliable(k, share):
		return fmt.Sprintf("approximation check: the fit stopped before it converged, so the posterior may be elsewhere (Pareto k %.2f)", k)
	case k < goodK:
		return fmt.Sprintf("approximation check: the posterior is computed well (Pareto k %.2f)", k)
	case share >= trustedShare: // k̂ does not decide here, and would puzzle those who know its limit
		return fmt.Sprintf("approximation check: the posterior is computed well (importance weights nearly uniform, %.1f %% effective)", 100*share)
	case k <= LimitK:
		return fmt.Sprintf("approximation check: the posterior is computed well enough (Pareto k %.2f)", k)
	case Reliable(k, share):
		return fmt.Sprintf("approximation check: the posterior is perhaps computed well enough (Pareto k %.2f ± %.2f, effective sample %.0f %%)", k, errorK, 100*share)
	}
	detail := fmt.Sprintf("Pareto k %.2f", k)
	if report.EffectiveShare != nil {
		detail += fmt.Sprintf(", effective sample %.0f %%", 100*share)
	}
	return "approximation check: intervals may be too narrow (" + detail + ")"
}

// Standard deviations below leastRatio of what they should be, or half of them below middleRatio, are warned of.
const (
	leastRatio  = 0.8
	middleRatio = 0.9
)

// Narrow reports how much too narrow the standard deviations of the weights from a first one on are: ratios are theirs
// over what they should be. A warning says why, and a remedy; name names a weight, and is nil where single ratios are
// estimates too rough to be told.
func Narrow(report *credence.Report, ratios []float64, first int, name func(j int) string, why, remedy string) {
	if len(ratios) == 0 {
		return
	}
	least := 0
	for j, v := range ratios {
		if v < ratios[least] {
			least = j
		}
	}
	smallest, sorted := ratios[least], slices.Sorted(slices.Values(ratios))
	median := sorted[len(sorted)/2]
	report.SDRatio = &median
	which := ""
	if name != nil {
		which = fmt.Sprintf(" (least: %s, %.2f)", name(first+least), smallest)
	}
	if which != "" && smallest < leastRatio || median < middleRatio {
		report.Warnings = append(report.Warnings, fmt.Sprintf("%s: standard deviations of weights are about %.2f of what they should be%s; %s", why, median, which, remedy))
	}
}
