package svi

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Where a column is far larger than the others, or has a large mean, the learned prior variance is
// as good as any held one; where all are of one size, from a far guess too.
func TestColumnsOfAnySize(t *testing.T) {
	for name, change := range map[string]func(x []float64){
		"one size":   func([]float64) {},
		"a large":    func(x []float64) { x[2] *= 1e4 },
		"large mean": func(x []float64) { x[0] = 2000 + x[0] },
	} {
		for _, lik := range []credence.Likelihood{likelihood.Bernoulli{}, likelihood.Poisson{}} {
			data := draw(t, lik, 300, 3, 4)
			for i := range data.Rows() {
				change(data.x.Row(i))
			}
			features := plain{p: 3, intercept: true}
			bound := func(p prior.Normal) float64 {
				return *fitted(t, credence.Model{Features: features, Likelihood: lik, Prior: p}, Config{Covariance: Full}, data).Report.ELBO
			}
			best := math.Inf(-1)
			for v := 1e-8; v < 1e6; v *= 2 {
				best = math.Max(best, bound(held(v)))
			}
			priors := []prior.Normal{{}}
			if name == "one size" { // otherwise it may end in a maximum on its own side
				priors = append(priors, prior.Normal{Variance: credence.Parameter{Value: 1e6, State: credence.Guess}})
			}
			for _, p := range priors {
				if got := bound(p); got < best-0.02 {
					t.Errorf("%s, %v, %v: bound %.3f, and %.3f with a held variance", name, lik, p, got, best)
				}
			}
		}
	}
}
