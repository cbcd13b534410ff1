package svi

import (
	"math"
	"strings"

	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/diagnose"
)

// check warns of targets from which less can be learned than it seems, and of columns that are zero
// in every row.
func (r *fit) check(o *outcome, zero []int) {
	switch {
	case o.targets.Weight == 0:
		r.warn("every row has weight 0: the posterior is the prior")
	case o.targets.Constant():
		r.warn("every target is %g: nothing can be learned about what makes it vary, and intervals show the prior", o.targets.Low)
	case o.separated:
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
	r.warn("the classes are perfectly separable: the size of the weights is set by the prior alone; predictions far from 0 and 1 rest on it, so state a variance that you believe in")
}

// warnZero names columns that are zero in every row.
func (r *fit) warnZero(zero []int) {
	var names []string
	for _, j := range zero[:min(3, len(zero))] {
		names = append(names, blocks.WeightName(r.Features, j))
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
