package svi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// smooth draws rows from nearly a Gaussian process of 20 inputs, of which ten matter.
func smooth(lik credence.Likelihood, n int, scale float64, stream uint64) *memory {
	const d, waves = 20, 200
	rng := rand.New(rand.NewPCG(1, 2))
	w, b, a := make([]float64, waves*d), make([]float64, waves), make([]float64, waves)
	for k := range waves {
		b[k], a[k] = 2*math.Pi*rng.Float64(), rng.NormFloat64()
		for j := range d {
			l := 50.0
			if j < d/2 {
				l = 2 * math.Pow(3, float64(j)/(d/2-1))
			}
			w[k*d+j] = rng.NormFloat64() / l
		}
	}
	rng = rand.New(rand.NewPCG(1, stream))
	m := &memory{x: linop.NewDense(n, d), y: make([]float64, n)}
	for i := range n {
		row := m.x.Row(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		f := 0.0
		for k := range waves {
			z := b[k]
			for j, v := range row {
				z += v * w[k*d+j]
			}
			f += a[k] * math.Cos(z)
		}
		m.y[i] = lik.(likelihood.Sampler).Sample(rng, scale*f*math.Sqrt(2.0/waves))
	}
	return m
}

// BenchmarkRandomFeatures is 10,000 rows of 20 inputs with 100 random frequencies,
// lengthscales learned, as a whole fit.
func BenchmarkRandomFeatures(b *testing.B) {
	for _, c := range []struct {
		name  string
		lik   credence.Likelihood
		truth credence.Likelihood
		scale float64
	}{
		{"gaussian", likelihood.Gaussian{}, likelihood.Gaussian{NoiseVariance: param.Hold(0.01)}, 1},
		{"bernoulli", likelihood.Bernoulli{}, likelihood.Bernoulli{}, 3},
		{"poisson", likelihood.Poisson{}, likelihood.Poisson{}, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			train, test := smooth(c.truth, 10000, c.scale, 10), smooth(c.truth, 2000, c.scale, 11)
			model := credence.Model{Features: fourier(b, 20, 100, true), Likelihood: c.lik, Prior: normal}
			var f *credence.Fitted
			for b.Loop() {
				f = fitted(b, model, Config{Covariance: Full}, train)
			}
			b.ReportMetric(logLoss(b, f, test), "nlpd")
			b.ReportMetric(float64(f.Report.Iterations), "iterations")
		})
	}
}
