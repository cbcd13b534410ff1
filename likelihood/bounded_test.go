package likelihood_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestWorkIsBounded: every expectation and quantile ends within a bound of time at any finite mean and
// variance of f, spreads below the rounding of the mean and beyond all likelihoods among them, and no
// probability leaves [0, 1].
func TestWorkIsBounded(t *testing.T) {
	const limit = time.Second // most calls take microseconds
	counts := []float64{0, 40, 1e6}
	sizes, variances := []float64{9.999999, 189.7918367346969, 700}, []float64{0, 1e-40, 1e-16, 4, 1e10}
	if study.Long() {
		sizes = []float64{0, 1e-6, 0.5, 9.999999, 50, 189.7918367346969, 300, 700}
		variances = []float64{0, 1e-300, 1e-40, 1e-29, 1e-16, 1e-6, 0.1, 4, 100, 1e4, 1e7, 1e10}
	}
	for _, c := range []struct {
		lik interface {
			fullLikelihood
			fmt.Stringer
		}
		targets []float64
	}{
		{likelihood.Gaussian{NoiseVariance: param.From(0.01)}, []float64{0, 3, 1e6}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(2.5), Scale: param.Hold(0.1)}, []float64{0, 3, 1e6}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(300), Scale: param.Hold(3)}, []float64{0, 3, 1e6}},
		{likelihood.Bernoulli{}, []float64{0, 1}},
		{likelihood.Bernoulli{Link: likelihood.Probit}, []float64{0, 1}},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, []float64{0, 1}},
		{likelihood.Binomial{Trials: 12}, []float64{0, 5, 12}},
		{likelihood.Binomial{Trials: 1e6}, []float64{0, 5, 1e6}},
		{likelihood.Poisson{}, counts},
		{likelihood.Poisson{Link: likelihood.Softplus}, counts},
		{likelihood.NegativeBinomial{Size: param.Hold(1.2)}, counts},
		{likelihood.NegativeBinomial{Size: param.Hold(1e-3)}, counts},
		{likelihood.NegativeBinomial{Size: param.Hold(1e6)}, counts},
		{likelihood.Gamma{Shape: param.Hold(0.3)}, []float64{1e-9, 1, 1e9}},
		{likelihood.Gamma{Shape: param.Hold(1e4)}, []float64{1e-9, 1, 1e9}},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.02, 4}, State: param.Held}}, []float64{0, 1, 3}},
	} {
		t.Run(c.lik.String(), func(t *testing.T) {
			probability := func(where string, v float64) {
				if !(v >= 0 && v <= 1+1e-9) {
					t.Errorf("%s is %v, not a probability", where, v)
				}
			}
			for _, size := range sizes {
				for _, mean := range []float64{-size, size} {
					for _, variance := range variances {
						within := func(what string, do func()) {
							name := fmt.Sprintf("%s at mean %g and variance %g", what, mean, variance)
							done := make(chan time.Duration)
							go func() { // processor time, which other programs do not lengthen
								start := study.Processor()
								do()
								done <- study.Processor() - start
							}()
							select {
							case took := <-done:
								if took > limit {
									t.Errorf("%s took %v", name, took)
								}
							case <-time.After(20 * limit):
								t.Fatalf("%s does not end", name)
							}
						}
						within("PredictiveMean", func() { c.lik.PredictiveMean(mean, variance) })
						within("PredictiveVariance", func() { c.lik.PredictiveVariance(mean, variance) })
						for _, y := range c.targets {
							at := fmt.Sprintf(" of %g", y)
							within("PredictiveCDF"+at, func() { probability("PredictiveCDF"+at, c.lik.PredictiveCDF(y, mean, variance)) })
							within("TiltedMoments"+at, func() { c.lik.TiltedMoments(y, mean, variance) })
							within("ExpectedLogDensity"+at, func() { c.lik.ExpectedLogDensity(y, mean, variance) })
						}
						last := math.Inf(-1)
						for _, p := range []float64{1e-12, 0.05, 0.5, 1 - 1e-3, 1 - 1e-12} {
							at := fmt.Sprintf(" for %g", p)
							within("PredictiveQuantile"+at, func() {
								q := c.lik.PredictiveQuantile(p, mean, variance)
								if !(q >= last-1e-300) {
									t.Errorf("PredictiveQuantile%s at mean %g and variance %g is %v, after %v for a smaller probability", at, mean, variance, q, last)
								}
								last = q
							})
						}
					}
				}
			}
		})
	}
}

// TestWideStudent: however wide f is beside the noise, its distribution function costs about the same, and is f's.
func TestWideStudent(t *testing.T) {
	l := likelihood.StudentT{DegreesOfFreedom: param.Hold(120), Scale: param.Hold(0.002)}
	cost := func(sd float64) (least time.Duration) {
		least = math.MaxInt64
		for range 3 {
			begin := study.Processor()
			for range 2000 {
				if p, want := l.PredictiveCDF(-0.7*sd, 0, sd*sd), 0.24196365222307303; !(math.Abs(p-want) <= 1e-5) {
					t.Fatalf("at an SD of %g: %v, want %v", sd, p, want)
				}
			}
			least = min(least, study.Processor()-begin)
		}
		return least
	}
	if near, far := cost(1), cost(1e50); far > 8*near {
		t.Errorf("an SD of 1 takes %v, of 1e50 %v", near, far)
	}
}
