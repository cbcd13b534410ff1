package svi

import (
	"math"
	"strings"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/param"
)

// priorVariance names the prior variance of a group in reports.
const priorVariance = "prior_variance."

// common stands for the common scale of prior standard deviations.
const common = "(common)"

// describe reports what was done about the hyper-parameters, and the scales of their priors in units
// of the hyper-parameters.
func (r *fit) describe(o *outcome) {
	r.report.Hyperparameters = string(r.config.Hyper)
	if len(r.LearnedGroups()) == 0 && o.family.Count() == 0 && r.averaged == nil {
		r.report.Hyperparameters = hyper.Held
		return
	}
	if r.Priors == nil {
		return
	}
	if r.Priors.Common != nil {
		o.common = r.Priors.Settle(o.priors)
		r.report.HyperPrior = append(r.report.HyperPrior, credence.Value{Name: priorVariance + common, Value: r.Priors.Centre * r.Priors.Centre})
	}
	for k, g := range r.Groups {
		if r.averaged != nil { // by rows that were left out
			break
		}
		if a := r.Priors.Share(k, o.common) * r.Priors.Scales[k]; a > 0 {
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
	case r.Priors != nil && r.report.Hyperparameters != hyper.Held && r.averaged == nil:
		r.report.ELBOMode = &elbo
	default:
		r.report.ELBO = &elbo
	}
	r.warnVanished(o)
}

// uncertainty reports the standard deviations of the logarithms of hyper-parameters.
func (g *integration) uncertainty() {
	r := g.fit
	learned := g.newton.LearnedPriors()
	var coordinates []gauss.Coordinate
	for i, k := range learned {
		name, odds, sd := r.priorName(k), k >= len(r.Groups), 2*g.top.Axes.SD(i) // of the logarithm of a variance
		if odds {
			sd /= 2
		}
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: name, Value: sd})
		coordinates = append(coordinates, gauss.Coordinate{Name: name, Together: odds || r.Groups[k].Stride > 0, Odds: odds})
	}
	var marginals []hyper.Marginal
	if g.all != nil {
		marginals = g.all.Marginals
	}
	r.report.HyperJoint, r.report.HyperLaws = gauss.Laws(g.top.Axes, coordinates, marginals)
	if r.Priors.Common != nil {
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: priorVariance + common, Value: 2 * g.top.Axes.SD(len(g.theta)-1)})
	}
	for i, name := range g.mode.Family.Learned() {
		r.report.HyperSD = append(r.report.HyperSD, credence.Value{Name: name, Value: g.top.Axes.SD(len(learned)+i) * g.mode.Family.LogFactor(i)})
	}
}

// priorName names the prior variance of a group, or the correlation whose odds stand behind them.
func (r *fit) priorName(k int) string {
	if k < len(r.Groups) {
		return priorVariance + r.Groups[k].Name
	}
	_, correlations := base.CorrelationsAt(r.Together, r.Odds)
	return correlations[k-len(r.Groups)].Name
}

// warnVanished tells of blocks whose prior variance went to nothing: their weights are certain to be 0.
func (r *fit) warnVanished(o *outcome) {
	if r.config.Hyper != param.MaximumLikelihood || !(o.targets.Weight > 0) {
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

// check warns of targets from which less can be learned than it seems, and of columns that are zero
// in every row.
func (r *fit) check(o *outcome, zero []int) {
	switch {
	case o.targets.Weight == 0:
		r.warn("every row has weight 0: the posterior is the prior")
	case o.targets.Constant():
		r.warn("every target is %g: nothing can be learned about what makes it vary, and intervals show the prior", o.targets.Low)
	case o.separated && r.averaged == nil:
		r.warnSeparated(o.priors)
	default:
		for _, text := range o.family.AtLimits() {
			r.warn("%s", text)
		}
	}
	r.warnZero(zero)
}

// warnSeparated tells of classes that are separated.
func (r *fit) warnSeparated(priors []float64) {
	learned := 0.0
	for _, k := range r.LearnedGroups() {
		learned = math.Max(learned, priors[k])
	}
	if learned > 0 && r.Priors == nil {
		r.warn("the classes are perfectly separable: ever larger weights fit them ever better, and the fit stopped at a prior variance of %.3g, where that gains next to nothing: state the variance, such as normal(variance=1), if you know the scale of the weights", learned)
		return
	}
	r.warn("the classes are perfectly separable: the size of the weights is set by the prior alone; predictions far from 0 and 1 rest on it, so state a variance that you believe in; a column that gives the classes away separates them too, and credence look names it")
}

// warnZero names columns that are zero in every row.
func (r *fit) warnZero(zero []int) {
	var names []string
	features := r.Features
	if r.few != nil {
		features, zero = r.few.features, r.few.zero
	}
	for _, j := range zero[:min(3, len(zero))] {
		names = append(names, base.WeightName(features, j))
	}
	if len(zero) > 3 {
		names = append(names, "…")
	}
	switch len(zero) {
	case 0:
	case 1:
		r.warn("the feature column %s is zero in every row: its weight keeps its prior", names[0])
	default:
		r.warn("%d feature columns are zero in every row (%s): their weights keep their prior", len(zero), strings.Join(names, ", "))
	}
}

// diagnosticTerms is about how many log densities of rows the diagnostics may take where nothing asks
// for more.
const diagnosticTerms = 2e6

// partRows is about the number of rows that stand for all of many.
const partRows = 10000

// drawCount is the number of draws for the diagnostics of so many rows.
func (r *fit) drawCount(rows int) int {
	if r.config.Diagnostics != 0 {
		return max(0, r.config.Diagnostics)
	}
	return max(200, min(int(diagnosticTerms/float64(rows)), 1000))
}

// judge reports what the logarithms of importance weights say of the posterior, and warns with a
// remedy where it is not reliable.
func (r *fit) judge(o *outcome, logWeights []float64, remedy string) {
	if reliable := diagnose.Judge(&r.report, logWeights) && !(r.vanished && *r.report.ParetoK > diagnose.LimitK); !reliable && !o.separated && o.targets.Low < o.targets.High {
		r.warn("Pareto-k̂ of the posterior is %.2f, above %.1f: its spread may be too small, though its mean is often good; %s", *r.report.ParetoK, diagnose.LimitK, remedy)
	}
}
