package score

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestLeaveGaussianIsItsIntegral compares the closed form with E p(y|f,s)^(1−w) / E p(y|f,s)^(−w) over the
// posterior of f | s ~ N(m, sh) and of the noise variance s, an inverse gamma of ν degrees of freedom, by
// sums over a fine grid of both.
func TestLeaveGaussianIsItsIntegral(t *testing.T) {
	for _, c := range []struct{ df, mean, noise, leverage, weight, y float64 }{
		{12, 0.3, 2, 0.2, 1, 1.5}, {30, -1, 0.5, 0.05, 1, -2.4}, {25, 0, 1, 0.3, 2, 0.8}, {40, 2, 3, 0.5, 3, 2.1},
	} {
		scale := c.noise * (1 - 2/c.df) // ν scale / s is chi-square
		h := c.leverage / c.weight
		var with, without float64
		const step = 0.02
		for u := -6.0; u < 6; u += step { // log s less log scale
			s := scale * math.Exp(u)
			density := -c.df/2*u - c.df/2*math.Exp(-u)
			for z := -12.0; z < 12; z += step {
				f := c.mean + z*math.Sqrt(s*h)
				logs := likelihood.Gaussian{NoiseVariance: param.Hold(s)}.LogDensity(c.y, f)
				with += math.Exp(density - z*z/2 + (1-c.weight)*logs)
				without += math.Exp(density - z*z/2 - c.weight*logs)
			}
		}
		g := likelihood.Gaussian{NoiseVariance: param.Hold(c.noise), PredictiveDF: c.df}
		left, mean, variance := leaveGaussian(g, c.y, c.weight, c.mean, c.noise*h)
		got, _, _ := left.TiltedMoments(c.y, mean, variance)
		if want := math.Log(with / without); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
	}
}

// TestLearnedParameters: a parameter is learned unless it is stated, wherever its search began.
func TestLearnedParameters(t *testing.T) {
	for want, l := range map[int]credence.Likelihood{
		0: likelihood.Gaussian{NoiseVariance: param.Hold(2)},
		1: likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.From(1)},
		2: likelihood.StudentT{Scale: param.From(1)},
	} {
		if got := learnedParameters(l); got != want {
			t.Errorf("%v has %d, want %d", l, got, want)
		}
	}
}
