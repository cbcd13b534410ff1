package exact

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// setEvidence gives the evidence that the treatment has.
func (r *fit) setEvidence(report *credence.Report) {
	first := r.best[0]
	evidence, penalised, integrated := first.evidence, first.penalised, first.settled.evidence
	switch first.settled.treatment {
	case string(param.Integrate):
		report.Evidence, report.EvidenceMode = &integrated, &evidence
	case string(param.Mode):
		report.EvidenceMode = &evidence
	default:
		report.Evidence, report.EvidencePenalised = &evidence, &penalised
	}
	report.HyperEvaluations = first.settled.evaluations
	if l, ok := r.form.(*levels); ok && l.crossed != nil {
		report.EvidenceStandardError = new(l.crossed.StandardError() / 2)
		report.Remarks = append(report.Remarks, fmt.Sprintf("levels of two columns are crossed, and %d weights beside those of the larger one are too many for a factor: they are solved for by conjugate gradients, and the evidence and the standard deviations of single effects are estimates, over %d random vectors; means are exact", r.rest, arrow.Probes))
	}
}

// commonName is the square of the common scale of prior standard deviations.
const commonName = "prior_variance.(common)"

// hyper lists learned and held values of the best member. Where they are integrated the noise variance
// is its posterior mean, and prior variances are the exponentials of the posterior means of their logarithms.
func (r *fit) hyper() []credence.Value {
	model, first := r.best[0].members[0].Model, r.best[0]
	list := []credence.Value{{Name: "noise_variance", Value: model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value}}
	if slices.ContainsFunc(first.settled.learned, func(l learned) bool { return l.name == commonName }) {
		list = append(list, credence.Value{Name: commonName, Value: r.own(first.settled.at.common)})
	}
	list = append(list, problem.Values(r.groups, func(k int) float64 { return r.own(first.settled.at.prior[k]) }, model.Features)...)
	_, correlations := problem.CorrelationsAt(r.Engine.together, first.settled.at.prior[len(r.groups):])
	return append(list, correlations...)
}

// setPriors lists the scales of the hyper-parameters' priors and the posterior standard deviations of
// their logarithms, of those that were learned under priors; of correlations those of the coordinates of partial ones.
func (r *fit) setPriors(report *credence.Report) {
	for _, l := range r.best[0].settled.learned {
		report.HyperSD = append(report.HyperSD, credence.Value{Name: l.name, Value: l.sd})
		if l.scale > 0 {
			report.HyperPrior = append(report.HyperPrior, credence.Value{Name: l.name, Value: r.own(l.scale * l.scale)})
		}
	}
	for _, law := range r.best[0].settled.laws {
		for i, v := range law.At {
			law.At[i] = r.own(v)
		}
		report.HyperLaws = append(report.HyperLaws, law)
	}
	report.HyperJoint = r.best[0].settled.joint
}

// vanished is the share of the standard error of a mean at which a block's function, learned without
// a prior, counts as lost.
const vanished = 0.1

// warn lists what a user should know about the fit.
func (r *fit) warn() []string {
	var list []string
	first, s := r.best[0], r.form.base().summary.units.Scale
	if r.form.base().summary.variance() == 0 {
		list = append(list, "the target is constant: noise and prior variances mean nothing")
	} else if first.atFloor {
		list = append(list, fmt.Sprintf("the noise variance is at its floor, %g of the target's variance, and so are predictive variances: the data are nearly noise-free, or the target ranges over more than a thousand times its noise; state a smaller noise as --family 'gaussian(variance=…)', and look for outliers", noiseFloor))
	}
	for _, k := range first.atCeiling {
		list = append(list, fmt.Sprintf("the prior variance of %s ended at the largest that is tried, %.3g: state a starting guess such as --prior 'normal(variance=~%.1g)', or scale the columns",
			r.groups[k].Name, r.own(first.prior[k]), 100*r.own(first.prior[k])))
	}
	if first.jitter > 0 {
		list = append(list, fmt.Sprintf("the Gram matrix needed %g of its mean diagonal added to be factored: columns repeat each other", first.jitter))
	}
	if !(s > 1e-140 && s < 1e140) {
		list = append(list, fmt.Sprintf("the target is of the order of %.0e: variances are beyond what a number can hold; divide the target by that", s))
	}
	if l, ok := r.form.(*levels); ok && l.crossed != nil && l.crossed.Left > 0 {
		list = append(list, fmt.Sprintf("conjugate gradients left %.1g of a right side after their last iteration: the levels of the two columns hardly meet; fit fewer of them, or hold their standard deviations smaller by sd=", l.crossed.Left))
	}
	list = append(list, r.warnVanished()...)
	if r.prior.ARD && r.priors() && r.total < relevantRows {
		list = append(list, fmt.Sprintf("normal(ard=true) on %d rows: a variance for every weight is for more than %d, and --prior normal mostly predicts better below", r.total, relevantRows))
	}
	if r.tuned && r.config.Hyper == param.Integrate && r.total < averagedRows {
		for _, h := range r.model.Features.(credence.Tunable).Hyper() {
			if !h.Held && h.PriorSD == 0 {
				remedy := "leave lengthscale_prior=none out to have it averaged over"
				if h.Starts != nil { // a period, for which there is no such prior
					remedy = "state period= where it is known"
				}
				list = append(list, fmt.Sprintf("%s has no prior and stands at its maximum, as if it were known: %s", h.Name, remedy))
			}
		}
	}
	return append(list, first.settled.warnings...)
}

// relevantRows is the number of rows below which automatic relevance determination loses against one
// variance a block, on nearly every set that it was tried on.
const relevantRows = 100

// warnVanished names the blocks that maximum likelihood has given a variance of next to nothing.
func (r *fit) warnVanished() []string {
	if r.priors() || r.prior.ARD {
		return nil
	}
	var list []string
	scales := r.form.base().scales
	limit := vanished * math.Sqrt(scales.Square/r.form.base().summary.weight)
	for k, c := range scales.C {
		if g := r.groups[k]; g.Learned && c > 0 && c*math.Sqrt(r.best[0].prior[k]) < limit {
			list = append(list, fmt.Sprintf("hyper=ml made the prior variance of %s vanish (%.2g): its weights are shown as 0 with no uncertainty, which the data do not say; use hyper=integrate, or state a variance", g.Name, r.own(r.best[0].prior[k])))
		}
	}
	return list
}
