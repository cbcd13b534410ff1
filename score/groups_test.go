package score

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Quantiles and mean of a law by its points: of a normal logarithm of a variance, where the root has closed forms, and
// of a density of two parts with a shoulder, against a fine sum.
func TestMomentsOfALaw(t *testing.T) {
	normal := func(u float64) float64 { return -u * u / 2 }
	shoulder := func(u float64) float64 { return math.Log(math.Exp(-u*u/2) + 0.3*math.Exp(-(u+2)*(u+2)/3)) }
	for name, log := range map[string]func(u float64) float64{"normal": normal, "shoulder": shoulder} {
		const sd = 0.3 // of the logarithm of the variance
		var law credence.Law
		for i := range 29 {
			u := -9.5 + float64(i)*4/7
			law.At, law.LogDensity = append(law.At, math.Exp(0.5+sd*u)), append(law.LogDensity, log(u)+3)
		}
		total, first, below, quantiles := 0.0, 0.0, 0.0, [2]float64{}
		for pass := range 2 {
			for u := -12.0; u < 12; u += 1e-3 {
				p, root := math.Exp(log(u)), math.Exp((0.5+sd*u)/2)
				if pass == 0 {
					total, first = total+p, first+p*root
					continue
				}
				for k, at := range []float64{0.05, 0.95} {
					if below < at*total && below+p >= at*total {
						quantiles[k] = root
					}
				}
				below += p
			}
		}
		mean, lower, upper := moments(law, 0.05)
		for what, pair := range map[string][2]float64{"mean": {mean, first / total}, "lower": {lower, quantiles[0]}, "upper": {upper, quantiles[1]}} {
			if !(math.Abs(pair[0]/pair[1]-1) <= 1e-3) {
				t.Errorf("%s: %s is %.6g, want %.6g", name, what, pair[0], pair[1])
			}
		}
		if name == "normal" {
			report := credence.Report{Hyper: credence.Values{{Name: "v", Value: math.Exp(0.5)}}, HyperSD: credence.Values{{Name: "v", Value: sd}}, Hyperparameters: "integrate"}
			d := deviation(&report, "v", 0.05)
			if !(math.Abs(d.Mean/mean-1) <= 1e-3) || !(math.Abs(float64(d.Lower)/lower-1) <= 1e-3) || !(math.Abs(float64(d.Upper)/upper-1) <= 1e-3) {
				t.Errorf("by the normal of the logarithm %+v, by its law %v, %v to %v", d, mean, lower, upper)
			}
			if want := math.Exp(0.25 - special.NormalQuantile(0.95)*sd/2); !(math.Abs(float64(d.Lower)/want-1) <= 1e-12) {
				t.Errorf("lower end %v, want %v", d.Lower, want)
			}
			report.HyperSD = nil
			for _, treatment := range []string{"ml", "mode", "heldout"} {
				report.Hyperparameters = treatment
				if d = deviation(&report, "v", 0.05); d.Lower.Defined() || d.Upper.Defined() || d.Mean != math.Exp(0.25) {
					t.Errorf("hyper=%s: a standard deviation that is learned without a law has the interval %+v", treatment, d)
				}
			}
		}
	}
}

// The noise variance of a fit that is integrated over it is a mean, here of an inverse gamma ν/χ², and the residual
// deviation the mean of its root: √(ν/2) Γ((ν−1)/2)/Γ(ν/2).
func TestResidualOfAMean(t *testing.T) {
	for _, df := range []float64{8, 24} {
		noise, sd := df/(df-2), math.Sqrt(mathext.Zeta(2, df/2)) // of the logarithm: ψ'(ν/2)
		d, ok := Residual(&credence.Fitted{
			Members: []credence.Member{{Model: credence.Model{Likelihood: likelihood.Gaussian{NoiseVariance: param.From(noise), PredictiveDF: df}}}},
			Report:  credence.Report{Hyper: credence.Values{{Name: "noise_variance", Value: noise}}, HyperSD: credence.Values{{Name: "noise_variance", Value: sd}}, Hyperparameters: "integrate"},
		}, 0.9)
		a, _ := math.Lgamma((df - 1) / 2)
		b, _ := math.Lgamma(df / 2)
		if want := math.Sqrt(df/2) * math.Exp(a-b); !ok || !(math.Abs(d.Mean/want-1) <= 0.01) || !(math.Abs(math.Sqrt(float64(d.Lower*d.Upper))/math.Sqrt(noise)*math.Exp(sd*sd/4)-1) <= 1e-12) {
			t.Errorf("%v degrees of freedom: %+v, want %v", df, d, want)
		}
	}
}
