package likelihood_test

import (
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

func BenchmarkExpectedLogDensities(b *testing.B) {
	const n = 512
	y, mean, variance := make([]float64, n), make([]float64, n), make([]float64, n)
	value, dMean, dVariance := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range y {
		y[i], mean[i], variance[i] = float64(i%2), float64(i%41)/5-4, 0.1+float64(i%7)/3
	}
	for _, lik := range []fullLikelihood{
		likelihood.Gaussian{}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit},
		likelihood.Bernoulli{Link: likelihood.Cloglog}, likelihood.Poisson{}, likelihood.Poisson{Link: likelihood.Softplus},
		likelihood.NegativeBinomial{}, likelihood.Gamma{}, likelihood.StudentT{}, likelihood.StudentT{Scale: param.Hold(0.1)}, likelihood.Ordinal{},
		likelihood.Quadrature{Likelihood: likelihood.Bernoulli{}},
	} {
		name := lik.(interface{ String() string }).String()
		if _, ok := lik.(likelihood.Quadrature); ok {
			name = "quadrature-" + name
		}
		target := y
		if lower, _ := lik.Support(); lower == 0 && !lik.Discrete() {
			target = make([]float64, n)
			for i := range target {
				target[i] = 0.5 + y[i]
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				lik.ExpectedLogDensities(value, dMean, dVariance, target, nil, mean, variance)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
		b.Run(name+"/tilted", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				for i, t := range target {
					value[i], dMean[i], dVariance[i] = lik.TiltedMoments(t, mean[i], variance[i])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

func BenchmarkPredictiveQuantile(b *testing.B) {
	for _, lik := range []fullLikelihood{
		likelihood.Poisson{}, likelihood.NegativeBinomial{}, likelihood.Gamma{}, likelihood.StudentT{}, likelihood.Binomial{Trials: 30},
	} {
		b.Run(lik.(interface{ String() string }).String(), func(b *testing.B) {
			sum := 0.0
			for i := range b.N {
				sum += lik.PredictiveQuantile(0.95, float64(i%41)/10-2, 0.3)
			}
			_ = sum
		})
	}
}
