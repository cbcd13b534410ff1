package convex_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// TestCalibration draws weights from their priors and looks where a weight and f of a row lie in Q, by its
// moments or by its draws. Q is the posterior where everything is normal, and narrower elsewhere: how
// much is told.
func TestCalibration(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 400
	for _, c := range []struct {
		family likelihood.Family
		prior  credence.Prior
		n, d   int
		way    convex.Variances
		least  float64 // coverage of intervals of 90 %
		even   bool    // ranks
	}{
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.Normal{Variance: param.Hold(1)}, 20, 10, convex.Exact, 0.87, true},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.Normal{Variance: param.Hold(1)}, 10, 20, convex.Sampled, 0.87, true},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.Laplace{Scale: param.Hold(0.5)}, 20, 10, convex.Exact, 0.8, false},
		{likelihood.Bernoulli{}, prior.Normal{Variance: param.Hold(1)}, 40, 6, convex.Exact, 0.8, false},
		{likelihood.Bernoulli{}, prior.Normal{Variance: param.Hold(1)}, 40, 6, convex.Sampled, 0.8, false},
		{likelihood.Bernoulli{}, prior.Laplace{Scale: param.Hold(0.5)}, 40, 6, convex.Exact, 0.8, false},
	} {
		t.Run(fmt.Sprintf("%v, %v, %d rows, %d weights, %s", c.family, c.prior, c.n, c.d, c.way), func(t *testing.T) {
			var ranks conform.Ranks
			held, squares, told := 0.0, 0.0, 0.0
			for set := range sets {
				rng := rand.New(rand.NewPCG(study.Seed(1)+uint64(set), uint64(c.n)))
				w := make([]float64, c.d+1)
				for j := range w {
					if w[j] = rng.NormFloat64(); j > 0 {
						if _, heavy := c.prior.(prior.Laplace); heavy {
							w[j] = 0.5 * rng.ExpFloat64() * (2*float64(rng.IntN(2)) - 1)
						}
					}
				}
				rows, f := &credence.Batch{X: linop.NewDense(c.n, c.d)}, make([]float64, c.n)
				for i := range c.n {
					common := rng.NormFloat64()
					f[i] = w[0]
					for j := range c.d {
						rows.X.Row(i)[j] = (common + rng.NormFloat64()) / math.Sqrt2
						f[i] += w[j+1] * rows.X.Row(i)[j]
					}
					rows.Target = append(rows.Target, c.family.(likelihood.Sampler).Sample(rng, f[i]))
				}
				model := credence.Model{Features: conform.Columns{Dense: c.d, Intercept: true}, Likelihood: c.family, Prior: c.prior}
				fitted := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: c.way, Threads: 1, Seed: uint64(set)}))(t), rows)
				mean, variance := marginals(fitted)
				ratio := 1.0
				if r := fitted.Report.SDRatio; r != nil {
					ratio = *r
				}
				told += ratio / sets
				var phi credence.Design
				ws := credence.NewWorkspace(1)
				model.Features.Transform(ws, &phi, rows)
				m, v := make([]float64, c.n), make([]float64, c.n)
				fitted.Members[0].Posterior.Latent(ws, m, v, &phi)
				add := func(name string, truth, mean, variance float64) {
					z := (truth - mean) / math.Sqrt(variance)
					ranks.Add(name, special.NormalCDF(z))
				}
				for j := range c.d {
					z := (w[j+1] - mean[j+1]) / math.Sqrt(variance[j+1])
					if squares += z * z / sets / float64(c.d); math.Abs(z) < 1.6449 {
						held += 1.0 / sets / float64(c.d)
					}
				}
				add("f", f[0], m[0], v[0])
				if q, ok := fitted.Members[0].Posterior.(*posterior.Draws); ok {
					var list []float64
					for s := range q.Count {
						away := q.Values[s*(c.d+1)+1]
						list = append(list, q.Mean[1]+away, q.Mean[1]-away)
					}
					ranks.AddDraws("a weight", w[1], list, rng)
				} else {
					add("a weight", w[1], mean[1], variance[1])
				}
			}
			t.Logf("%.3f of weights in 90 %%, z SD %.2f; standard deviations are told to be %.2f of what they should", held, math.Sqrt(squares), told)
			// the Gaussian that it is compared with is narrow, too, by a little
			if by := told * math.Sqrt(squares); by < 0.95 || by > 1.15 {
				t.Errorf("standard deviations over what is told they should be have a z SD of %.2f", by)
			}
			if held < c.least-2*math.Sqrt(0.09/sets) {
				t.Errorf("intervals of 90 %% hold %.3f of the weights", held)
			}
			if c.even {
				ranks.Check(t)
			} else {
				ranks.Tell(t)
			}
		})
	}
}
