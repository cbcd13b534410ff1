package likelihood_test

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestLargeCumulative compares distribution functions of large counts with sums of their probabilities, which
// TestLargeCounts compares with exact arithmetic.
func TestLargeCumulative(t *testing.T) {
	type counts interface {
		likelihood.Differentiable
		likelihood.Cumulative
	}
	for _, c := range []struct {
		lik counts
		f   float64
	}{
		{likelihood.Binomial{Trials: 7}, 0.3},
		{likelihood.Binomial{Trials: 4000}, -2},
		{likelihood.Binomial{Trials: 2e7}, 0},
		{likelihood.Binomial{Trials: 1e8}, 0.5},
		{likelihood.Binomial{Trials: 3e9}, -6},
		{likelihood.NegativeBinomial{Size: param.Hold(0.05)}, 1},
		{likelihood.NegativeBinomial{Size: param.Hold(40)}, 7},
		{likelihood.NegativeBinomial{Size: param.Hold(1e5)}, math.Log(1e5)},
		{likelihood.NegativeBinomial{Size: param.Hold(1e7)}, math.Log(1e7)},
		{likelihood.NegativeBinomial{Size: param.Hold(4e7)}, math.Log(1e4)},
	} {
		mean, sd := c.lik.Mean(c.f), math.Sqrt(c.lik.Variance(c.f))
		for _, z := range []float64{-20, -6, -2, -0.5, -0.1, 0, 0.03, 1, 3} {
			y := math.Floor(mean + z*sd)
			if y < 0 {
				continue
			}
			want, worst := 0.0, 0.0
			for k := y; k >= 0; k-- {
				value, slope, _ := c.lik.Derivatives(k, c.f)
				term := math.Exp(value)
				want += term
				// logarithms of the counts round, which moves f along the slope
				worst += term * (1e-12 + 8e-15*math.Abs(slope))
				if term < 1e-17*want {
					break
				}
			}
			if got := c.lik.CDF(y, c.f); !(math.Abs(got-want) <= worst+1e-12*want) {
				t.Errorf("%v: P(Y ≤ %g | %g) is %.15g, want %.15g (off by %.2g, allowed %.2g)", c.lik, y, c.f, got, want, got/want-1, worst/want)
			}
		}
	}
}

// Counts whose square is beyond all numbers have densities and distribution functions. At such sizes a count divided by
// its mean has a gamma distribution, so that moving both by as much changes nothing but the unit of the density.
func TestCountsWhoseSquareIsInfinite(t *testing.T) {
	for _, r := range []float64{0.01, 0.3, 2, 50, 1e6} {
		l := likelihood.NegativeBinomial{Size: param.From(r)}
		for _, ratio := range []float64{1e-3, 0.5, 1, 3} {
			near, far := math.Ldexp(ratio, 200), math.Ldexp(ratio, 900)
			f := [2]float64{200 * math.Ln2, 900 * math.Ln2}
			if got, want := l.LogDensity(far, f[1]), l.LogDensity(near, f[0])-700*math.Ln2; !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
				t.Errorf("%v of %v means: the log density is %v, want %v", l, ratio, got, want)
			}
			for _, variance := range []float64{0.01, 1, 40} { // of more, eᶠ itself is beyond all numbers
				got, want := l.PredictiveCDF(far, f[1], variance), l.PredictiveCDF(near, f[0], variance)
				if !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("%v of %v means, variance %v: the distribution function is %v, want %v", l, ratio, variance, got, want)
				}
			}
		}
	}
}
