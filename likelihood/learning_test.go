package likelihood

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/param"
)

// TestUnits: what an Additive family says of its units is so: with y, f and every parameter in units
// a times as large, each to its power, log p changes by −log a.
func TestUnits(t *testing.T) {
	const a = 3.7
	for _, l := range []Additive{Gaussian{NoiseVariance: param.Hold(0.6)}, StudentT{DegreesOfFreedom: param.Hold(3), Scale: param.Hold(0.8)}} {
		p := l.(Parametric)
		values := []float64{}
		for _, parameter := range p.Parameters() {
			values = append(values, parameter.Value*math.Pow(a, l.UnitPower(parameter.Name)))
		}
		scaled := p.WithParameters(values)
		if got, want := scaled.LogDensity(a*1.3, a*0.4), l.LogDensity(1.3, 0.4)-math.Log(a); !(math.Abs(got-want) <= 1e-13) {
			t.Errorf("%v: %g in other units, want %g", l, got, want)
		}
	}
}

// TestCertain: a target is certain exactly where its probability goes to 1 as f grows or falls.
func TestCertain(t *testing.T) {
	for _, c := range []struct {
		family interface {
			Family
			Separable
		}
		y, trials float64
	}{
		{Bernoulli{}, 0, 0}, {Bernoulli{}, 1, 0}, {Bernoulli{Link: Probit}, 1, 0}, {Binomial{}, 1, 0}, {Binomial{Trials: 3}, 3, 0},
		{Binomial{Trials: 3}, 1, 0}, {Binomial{Trials: 3}, 0, 0}, {Binomial{}, 5, 5}, {Binomial{}, 3, 5}, {Binomial{}, 0, 5},
	} {
		var family Family = c.family
		if b, ok := family.(Binomial); ok && c.trials > 0 {
			family = b.WithTrials(c.trials)
		}
		high, low := family.LogDensity(c.y, 30) > -1e-6, family.LogDensity(c.y, -30) > -1e-6
		if successes, failures := c.family.Certain(c.y, c.trials); successes != high || failures != low {
			t.Errorf("%v, y = %g of %g: successes %v, failures %v, want %v, %v", c.family, c.y, c.trials, successes, failures, high, low)
		}
	}
}

// TestLogCeiling: at the ceiling of a size the variance at the largest mean is within a thousandth of
// Poisson's.
func TestLogCeiling(t *testing.T) {
	for _, largest := range []float64{1, 40, 1e6} {
		f := math.Log(largest)
		size := math.Exp(NegativeBinomial{}.LogCeiling(largest))
		got := NegativeBinomial{Size: param.Hold(size)}.Variance(f)/largest - 1
		if !(got > 0 && got < 1.1e-3) {
			t.Errorf("largest count %g: the variance is %g above Poisson's", largest, got)
		}
	}
}

// A parameter that ends at a bound is explained where that means something: at the bound which means it, by what to do.
func TestAtLimit(t *testing.T) {
	for _, c := range []struct {
		family    Limited
		parameter string
		low       bool
		want      string // of the text, "" for no text
	}{
		{Gaussian{}, "variance", true, "gaussian(variance=…)"}, {Gaussian{}, "variance", false, ""},
		{StudentT{}, "scale", true, "studentt(scale=…)"}, {StudentT{}, "scale", false, ""},
		{StudentT{}, "df", false, "use --family gaussian"}, {StudentT{}, "df", true, ""},
		{NegativeBinomial{}, "size", false, "use --family poisson"}, {NegativeBinomial{}, "size", true, ""},
		{Gamma{}, "shape", true, ""},
	} {
		if got := c.family.AtLimit(c.parameter, 77, c.low); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%T, %s, low %v: %q, want %q", c.family, c.parameter, c.low, got, c.want)
		}
	}
}
