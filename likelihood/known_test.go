package likelihood_test

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestKnownDensities compares log densities with those that have elementary
// closed forms. The tolerance is rounding.
func TestKnownDensities(t *testing.T) {
	for _, c := range []struct {
		lik        likelihood.Family
		y, f, want float64
	}{
		{likelihood.Gaussian{}, 0.5, 0.5, -0.918938533204672741780},
		{likelihood.Bernoulli{}, 1, 0, -math.Ln2},
		{likelihood.Bernoulli{Link: likelihood.Probit}, 0, 0, -math.Ln2},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, 0, 0, -1},
		{likelihood.Poisson{}, 3, math.Log(2), 3*math.Ln2 - 2 - math.Log(6)},
		{likelihood.Binomial{Trials: 4}, 2, 0, math.Log(6.0 / 16)},
		{likelihood.NegativeBinomial{Size: param.Hold(1)}, 3, 0, -4 * math.Ln2}, // geometric, success ½
		{likelihood.Gamma{}, 2, 0, -2},                                          // exponential
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(1)}, 1, 0, -math.Log(2 * math.Pi)},
		{likelihood.Ordinal{}, 1, 2, -math.Log1p(math.Exp(-2))},
	} {
		if got := c.lik.LogDensity(c.y, c.f); !(math.Abs(got-c.want) <= 1e-14*(1+math.Abs(c.want))) {
			t.Errorf("%v: log p(%g|%g) = %.17g, want %.17g", c.lik, c.y, c.f, got, c.want)
		}
	}
}
