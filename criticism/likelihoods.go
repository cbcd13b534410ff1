package criticism

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// family is what the checks ask of a likelihood. Every one of package likelihood has it.
type family interface {
	likelihood.Differentiable
	likelihood.Supported
	likelihood.Cumulative
	likelihood.Sampler
	credence.Predictive
}

// kind is what the checks need to know of a family.
type kind struct {
	name            string
	fixedDispersion bool // the mean fixes the variance
	counts          bool
	gaussian        bool
	classes         bool  // two, or grades: a residual has no size of its own
	grades          int   // 0 of other families
	other           *link // nil of a family with one link
}

func kindOf(l family) kind {
	_, target := likelihood.Describe(l)
	_, learns := l.(likelihood.Parametric)
	k := kind{
		fixedDispersion: !learns && (target == likelihood.Counts || target == likelihood.Successes),
		counts:          target == likelihood.Counts, classes: target == likelihood.Classes || target == likelihood.Grades,
	}
	if named, ok := l.(likelihood.Named); ok {
		k.name = named.Name()
	}
	switch l := l.(type) {
	case likelihood.Gaussian:
		k.gaussian = true
	case likelihood.Poisson:
		k.other = otherLink(l, l.Link)
	case likelihood.Bernoulli:
		k.other = otherLink(l, l.Link)
	case likelihood.Ordinal:
		k.grades = len(l.Cutpoints.Values) + 1
	}
	return k
}

// central is the likelihood of the model: where members differ in its parameters, that of the median of
// the first parameter.
func central(fitted *credence.Fitted) credence.Likelihood {
	if all := likelihoods(fitted); len(all) > 0 {
		return all[len(all)/2]
	}
	return nil
}

// farthest returns the likelihoods at both ends of what the members say of its parameters, ends that the
// truth is beyond with a probability below the error of a check. Members are a few quantiles and stop far
// short of them, while how likely a row is that is impossible hangs on the parameters more than
// anything: a hundred rows tell little of the degrees of freedom of a Student t, and which row is one in
// a million does not follow from their mean. There are none where the members do not differ.
func farthest(fitted *credence.Fitted) []credence.Likelihood {
	all := likelihoods(fitted)
	middle, ok := central(fitted).(likelihood.Parametric)
	if !ok || len(all) < 2 {
		return nil
	}
	// Members of equal weight stand in the middles of their shares, and logarithms are about normal.
	reach := special.NormalQuantile(1-leastError/2) / (2 * special.NormalQuantile(1-0.5/float64(len(all))))
	low, high := all[0].(likelihood.Parametric).Parameters(), all[len(all)-1].(likelihood.Parametric).Parameters()
	var below, above []float64
	differ := false
	for j, p := range middle.Parameters() {
		factor := math.Pow(high[j].Value/low[j].Value, reach)
		if !p.Positive || !(factor > 0) {
			return nil
		}
		differ = differ || factor != 1
		below, above = append(below, p.Value/factor), append(above, p.Value*factor)
	}
	if !differ {
		return nil
	}
	return []credence.Likelihood{middle.WithParameters(below), middle.WithParameters(above)}
}

// likelihoods returns those of the members, by their first parameter.
func likelihoods(fitted *credence.Fitted) (all []credence.Likelihood) {
	first := func(l credence.Likelihood) float64 {
		if parametric, ok := l.(likelihood.Parametric); ok && len(parametric.Parameters()) > 0 {
			return parametric.Parameters()[0].Value
		}
		return 0
	}
	for i := range fitted.Members {
		all = append(all, fitted.Members[i].Model.Likelihood)
	}
	slices.SortStableFunc(all, func(a, b credence.Likelihood) int { return cmp.Compare(first(a), first(b)) })
	return all
}

// moments returns the mean and the standard deviation of y, or the median and half the width of the
// central interval that a normal distribution has within a standard deviation, where there are none.
func moments(l family, f float64) (centre, spread float64) {
	centre, spread = l.Mean(f), math.Sqrt(l.Variance(f))
	if math.IsNaN(centre) || math.IsNaN(spread) || math.IsInf(spread, 0) {
		const below, above = 0.15865525393145707, 0.8413447460685429
		centre = l.PredictiveQuantile(0.5, f, 0)
		spread = (l.PredictiveQuantile(above, f, 0) - l.PredictiveQuantile(below, f, 0)) / 2
	}
	return centre, spread
}
