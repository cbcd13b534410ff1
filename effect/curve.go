package effect

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// curve is E[y|f], in the target's own values.
type curve struct {
	scorer   *score.Scorer
	family   credence.Predictive
	grades   []float64 // values of an ordinal target
	identity bool
	log      bool    // the logarithm of E[y|f] is f
	logit    float64 // E[y|f] is so many times the logistic function of f; 0 of others
}

// newCurve returns the curve of a model.
func newCurve(scorer *score.Scorer, link bool) (*curve, error) {
	l := scorer.Fitted().Members[0].Model.Likelihood
	family, ok := l.(credence.Predictive)
	if !ok {
		return nil, fmt.Errorf("likelihood %T has no predictive distribution: give it the methods of credence.Predictive", l)
	}
	c := &curve{scorer: scorer, family: family, grades: scorer.Grades()}
	of, _ := likelihood.Describe(l)
	c.identity = link || of == likelihood.Identity && c.grades == nil
	c.log = !link && of == likelihood.Log
	if !link && of == likelihood.Logit && c.grades == nil {
		c.logit = 2 * l.Mean(0)
	}
	if !link && math.IsNaN(l.Mean(0)) {
		return nil, fmt.Errorf("%v has no mean: --link tells effects on its location f", l)
	}
	return c, nil
}

// under returns the curve with another likelihood of the same family.
func (c *curve) under(l credence.Likelihood) *curve {
	other := *c
	other.family = l.(credence.Predictive)
	return &other
}

// each replaces every f by E[y|f].
func (c *curve) each(f []float64) {
	switch {
	case c.log:
		kernel.Exp(f, f)
	case c.logit > 0:
		kernel.Scale(-1, f)
		kernel.Exp(f, f)
		for i, e := range f {
			f[i] = c.logit / (1 + e)
		}
	case !c.identity:
		for i, v := range f {
			f[i] = c.at(v)
		}
	}
}

// at returns E[y|f].
func (c *curve) at(f float64) float64 { return c.scorer.Expected(c.family, f) }

// expected returns E y where f ~ N(mean, variance).
func (c *curve) expected(mean, variance float64) float64 {
	switch {
	case c.identity:
		return mean
	case c.grades == nil:
		return c.family.PredictiveMean(mean, variance)
	}
	sum := c.grades[0]
	for k := range c.grades[1:] {
		sum += (c.grades[k+1] - c.grades[k]) * (1 - c.family.PredictiveCDF(float64(k), mean, variance))
	}
	return sum
}

// slope returns the derivative of expected in the mean, which is E[μ′(f)].
func (c *curve) slope(mean, variance float64) float64 {
	switch {
	case c.identity:
		return 1
	case c.log:
		return c.expected(mean, variance)
	}
	h := 1e-4 * math.Max(1, math.Sqrt(variance))
	return (c.expected(mean+h, variance) - c.expected(mean-h, variance)) / (2 * h)
}
