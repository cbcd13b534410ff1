package laplace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// TestCalibration draws weights from spike and slab as they are held, and tells how many of them their
// intervals hold, how far they lie out, and how inclusions compare with what was drawn.
func TestCalibration(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, noise, slab, spike, pi = 200, 0.5, 1.0, 0.02, 0.2
	for _, c := range []struct {
		family likelihood.Family
		n, p   int
	}{{likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, 60, 12}, {likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, 60, 100}, {likelihood.Bernoulli{}, 100, 12}} {
		t.Run(fmt.Sprintf("%v, %d rows, %d columns", c.family, c.n, c.p), func(t *testing.T) {
			share, squares, expected, found, spread := 0.0, 0.0, 0.0, 0.0, 0.0
			for set := range sets {
				rng := rand.New(rand.NewPCG(study.Seed(1)+uint64(set), uint64(c.n+c.p)))
				s := &conform.Selection{Weights: make([]float64, c.p), Features: conform.Columns{Dense: c.p, Intercept: true}}
				in := make([]float64, c.p)
				for j := range s.Weights {
					if s.Weights[j] = math.Sqrt(spike) * rng.NormFloat64(); rng.Float64() < pi {
						in[j], s.Weights[j] = 1, math.Sqrt(slab)*rng.NormFloat64()
					}
				}
				s.X = linop.NewDense(c.n, c.p)
				for i := range c.n {
					f := 0.3
					for j, w := range s.Weights {
						s.X.Row(i)[j] = rng.NormFloat64()
						f += w * s.X.Row(i)[j]
					}
					s.Target = append(s.Target, c.family.(likelihood.Sampler).Sample(rng, f))
				}
				q := fitOf(t, s, c.family.(credence.Likelihood), held(pi, slab, spike), Config{}).Members[0].Posterior.(*posterior.SpikeSlab)
				each := 1.0 / sets / float64(c.p)
				for j, w := range s.Weights {
					z, p := (w-q.Mean[j+1])/math.Sqrt(q.Variance[j+1]), q.Probability[j+1]
					if squares += each * z * z; math.Abs(z) < 1.6449 {
						share += each
					}
					expected, found, spread = expected+p*(1-p), found+(in[j]-p)*(in[j]-p), spread+p*(1-p)*(1-2*p)*(1-2*p)
				}
			}
			t.Logf("%.3f of weights in 90 %%, z SD %.2f; inclusions: Σ(z − p)² is %.0f, expected %.0f ± %.0f", share, math.Sqrt(squares), found, expected, math.Sqrt(spread))
			if share < 0.75 { // one mode is not all of them
				t.Errorf("intervals of 90 %% hold %.3f of the weights", share)
			}
		})
	}
}

// TestUndecided draws small weights, none of them 0, of correlated columns, where spike and slab are learned: weights
// that may be of either have intervals that are too short, and the fit says so.
func TestUndecided(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, n, d, shared = 200, 60, 10, 0.5
	inside, warned, count := 0.0, 0, 0.0
	for set := range sets {
		rng := rand.New(rand.NewPCG(study.Seed(2)+uint64(set), n))
		s := &conform.Selection{Weights: make([]float64, d), Features: conform.Columns{Dense: d, Intercept: true}}
		s.X = linop.NewDense(n, d)
		size := 0.1 * math.Exp(rng.Float64()*math.Log(20)) // of f, noise 1
		for j := range s.Weights {
			s.Weights[j] = size / math.Sqrt(d) * rng.NormFloat64()
		}
		for i := range n {
			f, common := 0.0, rng.NormFloat64()
			for j, w := range s.Weights {
				s.X.Row(i)[j] = math.Sqrt(shared)*common + math.Sqrt(1-shared)*rng.NormFloat64()
				f += w * s.X.Row(i)[j]
			}
			s.Target = append(s.Target, f+rng.NormFloat64())
		}
		fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{})
		if q := fitted.Members[0].Posterior.(*posterior.SpikeSlab); slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool { return strings.Contains(w, "one mode is not all") }) {
			warned++
			for j, w := range s.Weights {
				if count++; math.Abs(w-q.Mean[j+1]) < 1.6449*math.Sqrt(q.Variance[j+1]) {
					inside++
				}
			}
		}
	}
	t.Logf("%d of %d fits warned; in these %.3f of weights in 90 %%", warned, sets, inside/count)
	if warned < sets*9/10 || inside > 0.85*count {
		t.Error("few fits are warned, or the warning is wrong")
	}
}
