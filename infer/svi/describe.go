package svi

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
)

// priorVariance names the prior variance of a group in reports.
const priorVariance = "prior_variance."

// common stands for the common scale of prior standard deviations.
const common = "(common)"

// describe reports what was done about the hyper-parameters, and the scales of their priors in units
// of the hyper-parameters.
func (r *fit) describe(o *outcome) {
	r.report.Hyperparameters = string(r.config.Hyper)
	if len(r.LearnedGroups()) == 0 && o.family.Count() == 0 {
		r.report.Hyperparameters = hyper.Held
		return
	}
	if r.Priors == nil {
		return
	}
	share := 1.0
	if r.Priors.Common != nil {
		o.common = r.Priors.Settle(o.priors)
		share = math.Exp(o.common)
		r.report.HyperPrior = append(r.report.HyperPrior, credence.Value{Name: priorVariance + common, Value: r.Priors.Centre * r.Priors.Centre})
	}
	for k, g := range r.Groups {
		if a := share * r.Priors.Scales[k]; a > 0 {
			r.report.HyperPrior = append(r.report.HyperPrior, credence.Value{Name: priorVariance + g.Name, Value: a * a})
		}
	}
	r.report.HyperPrior = append(r.report.HyperPrior, o.family.PriorScales(r.start.Scale)...)
}

// bound reports the bound at the hyper-parameters that a climb ended at, and what they are.
func (r *fit) bound(o *outcome, elbo float64) {
	r.describe(o)
	switch {
	case r.config.Approximation == Laplace:
		r.report.EvidenceEstimate = &elbo
	case r.Priors != nil && r.report.Hyperparameters != hyper.Held:
		r.report.ELBOMode = &elbo
	default:
		r.report.ELBO = &elbo
	}
	r.warnVanished(o)
}

// uncertainty reports the standard deviations of the logarithms of hyper-parameters.
func (g *integration) uncertainty() {
	r := g.fit
	learned := g.newton.LearnedGroups()
	for i, k := range learned {
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: priorVariance + r.Groups[k].Name, Value: 2 * g.axes.SD(i)})
	}
	if r.Priors.Common != nil {
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: priorVariance + common, Value: 2 * g.axes.SD(len(g.theta)-1)})
	}
	for i, name := range g.mode.Family.Learned() {
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: name, Value: g.axes.SD(len(learned)+i) * g.mode.Family.LogFactor(i)})
	}
}

// warnVanished tells of blocks whose prior variance went to nothing: their weights are certain to be 0.
func (r *fit) warnVanished(o *outcome) {
	if r.config.Hyper != hyper.MaximumLikelihood || !(o.targets.Weight > 0) {
		return
	}
	for _, k := range r.LearnedGroups() {
		g := r.Groups[k]
		if size := r.start.Sizes[k]; size > 0 && math.Sqrt(o.priors[k])*size < r.start.Scale/(vanishedShare*math.Sqrt(o.targets.Weight)) {
			r.vanished = true
			r.warn("hyper=ml made the prior variance of %s vanish (%.2g): its weights are shown as 0 with no uncertainty, which the data do not say; use hyper=integrate, or state a variance", g.Name, o.priors[k])
		}
	}
}

// vanishedShare: a block has vanished whose part of f is smaller than a tenth of what one weight of it
// would be off by in a fit of the rows by least squares.
const vanishedShare = 10
