package likelihood

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
)

// Gaussian with PredictiveDF is the mixture of normal distributions whose variance is
// (ν−2)/χ²_ν times the whole one: density and distribution function by quadrature over log χ².
func TestGaussianPredictiveT(t *testing.T) {
	const mean, variance, noise = -3.0, 0.4, 0.9
	for _, df := range []float64{2.5, 4.2, 9, 250} {
		l := Gaussian{NoiseVariance: param.Hold(noise), PredictiveDF: df}
		mixture := func(of func(variance float64) float64) float64 {
			constant := -special.LogGamma(df/2) - df/2*math.Ln2
			sum, _, _ := quad.Adaptive(func(u float64) (float64, float64, float64) {
				chi2 := math.Exp(u)
				return math.Exp(constant+df/2*u-chi2/2) * of((variance+noise)*(df-2)/chi2), 0, 0
			}, []float64{math.Log(df) - 40, math.Log(df) - 5, math.Log(df) - 1, math.Log(df), math.Log(df) + 1, math.Log(df) + 4}, 1e-12)
			return sum
		}
		for _, y := range []float64{-30, -6, -3.2, -3, -1, 2, 11} {
			logZ, dMean, dVariance := l.TiltedMoments(y, mean, variance)
			want := mixture(func(v float64) float64 { return math.Exp(logNormal(y-mean, v)) })
			if !(math.Abs(logZ-math.Log(want)) <= 1e-9) {
				t.Errorf("df %v: log density of %v is %v, want %v", df, y, logZ, math.Log(want))
			}
			const h = 1e-5
			up, _, _ := l.TiltedMoments(y, mean+h, variance)
			down, _, _ := l.TiltedMoments(y, mean-h, variance)
			if slope := (up - down) / (2 * h); !(math.Abs(slope-dMean) <= 1e-7*(1+math.Abs(slope))) {
				t.Errorf("df %v: slope of %v in the mean is %v, want %v", df, y, dMean, slope)
			}
			up, _, _ = l.TiltedMoments(y, mean, variance+h)
			down, _, _ = l.TiltedMoments(y, mean, variance-h)
			if slope := (up - down) / (2 * h); !(math.Abs(slope-dVariance) <= 1e-7*(1+math.Abs(slope))) {
				t.Errorf("df %v: slope of %v in the variance is %v, want %v", df, y, dVariance, slope)
			}
			cdf := l.PredictiveCDF(y, mean, variance)
			want = mixture(func(v float64) float64 { return special.NormalCDF((y - mean) / math.Sqrt(v)) })
			if !(math.Abs(cdf-want) <= 1e-9) {
				t.Errorf("df %v: CDF of %v is %v, want %v", df, y, cdf, want)
			}
			if back := l.PredictiveQuantile(cdf, mean, variance); cdf < 0.9999 && !(math.Abs(back-y) <= 1e-8*(1+math.Abs(y))) {
				t.Errorf("df %v: quantile of the CDF of %v is %v", df, y, back)
			}
		}
		if m, v := l.PredictiveMean(mean, variance), l.PredictiveVariance(mean, variance); m != mean || v != variance+noise {
			t.Errorf("moments %v and %v", m, v)
		}
	}
}

// Draws have the distribution function, and without PredictiveDF are those of f and of y given f.
func TestGaussianPredictiveSamples(t *testing.T) {
	l := Gaussian{NoiseVariance: param.Hold(0.5), PredictiveDF: 4.5}
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 40000
	cuts := []float64{-3, -1, 0.5, 1, 2.5, 4}
	below := make([]float64, len(cuts))
	for range n {
		y := l.PredictiveSample(rng, 1, 1.5)
		for k, c := range cuts {
			if y <= c {
				below[k]++
			}
		}
	}
	for k, c := range cuts {
		p := l.PredictiveCDF(c, 1, 1.5)
		if !(math.Abs(below[k]/n-p) <= 4.5*math.Sqrt(p*(1-p)/n)) {
			t.Errorf("a share of %v of the draws is below %v, whose probability is %v", below[k]/n, c, p)
		}
	}
	l.PredictiveDF = 0
	one, two := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(3, 4))
	if a, b := l.PredictiveSample(one, 1, 1.5), l.Sample(two, 1+math.Sqrt(1.5)*two.NormFloat64()); a != b {
		t.Errorf("a draw is %v, and %v by f", a, b)
	}
}

// What knows the noise variance is normal, and no text names the degrees of freedom.
func TestPredictiveDFBelongsToTheFit(t *testing.T) {
	l := Gaussian{NoiseVariance: param.From(2), PredictiveDF: 7}
	if again := l.WithParameters([]float64{3}).(Gaussian); again.PredictiveDF != 0 || again.NoiseVariance.Value != 3 {
		t.Errorf("at another variance the family is %+v", again)
	}
	if l.String() != "gaussian(variance=~2)" {
		t.Errorf("the text is %s", l)
	}
	for _, df := range []float64{-1, 2, 1e-9, math.NaN()} {
		if (Gaussian{PredictiveDF: df}).Validate() == nil {
			t.Errorf("%v predictive degrees of freedom are accepted", df)
		}
	}
}
