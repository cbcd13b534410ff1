package svi

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Where a column is far larger than the others, or has a large mean, the learned prior variance is
// as good as any held one; where all are of one size, from a far guess too.
func TestColumnsOfAnySize(t *testing.T) {
	if testing.Short() { // as the race detector has it: what runs at once is tested by others
		t.Skip("many fits")
	}
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
				return *fitted(t, credence.Model{Features: features, Likelihood: lik, Prior: p}, Config{Covariance: Full, Diagnostics: -1}, data).Report.ELBO
			}
			best := math.Inf(-1)
			for v := 1e-8; v < 1e6; v *= 2 {
				best = math.Max(best, bound(held(v)))
			}
			priors := []prior.Normal{{}}
			if name == "one size" { // otherwise it may end in a maximum on its own side
				priors = append(priors, prior.Normal{Variance: param.Parameter{Value: 1e6, State: param.Guess}})
			}
			for _, p := range priors {
				if got := bound(p); got < best-0.02 {
					t.Errorf("%s, %v, %v: bound %.3f, and %.3f with a held variance", name, lik, p, got, best)
				}
			}
		}
	}
}

// TestSentinel: one target that stands for a missing value, however far away, leaves Student's t
// with the intervals of the rest: of 300 rows a half, give or take five standard errors, lie
// between the quartiles of their prediction.
func TestSentinel(t *testing.T) {
	lik := likelihood.StudentT{}
	for _, sentinel := range []float64{-99, -99999, -1e12} {
		for _, cfg := range []Config{{Covariance: Full, Diagnostics: -1}, {Diagnostics: -1}} {
			data := draw(t, likelihood.Gaussian{NoiseVariance: param.Hold(1)}, 300, 3, 3)
			data.offset = make([]float64, 300)
			for i := range data.y { // the scale is that of y − offset
				data.offset[i] = 1000 * float64(i)
				data.y[i] += data.offset[i]
			}
			data.y[5] = sentinel
			f := fitted(t, credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: normal}, cfg, data)
			family := f.Members[0].Model.Likelihood.(likelihood.StudentT)
			var rows credence.Batch
			must.Succeed(t, data.Read(&rows, 0, 300))
			ws, phi := credence.NewWorkspace(1), new(credence.Design)
			plain{p: 3, intercept: true}.Transform(ws, phi, &rows)
			mean, variance := make([]float64, 300), make([]float64, 300)
			f.Members[0].Posterior.Latent(ws, mean, variance, phi)
			inside := 0.0
			for i, y := range data.y {
				if p := family.PredictiveCDF(y-data.offset[i], mean[i], variance[i]); p > 0.25 && p < 0.75 {
					inside++
				}
			}
			if share := inside / 300; !(math.Abs(share-0.5) <= 5*0.029) {
				t.Errorf("sentinel %g, %q: half intervals of %v cover %.2f", sentinel, cfg.Covariance, family, share)
			}
			if len(f.Report.Warnings) > 0 && strings.Contains(f.Report.Warnings[0], "floor") {
				t.Errorf("sentinel %g, %q: %q", sentinel, cfg.Covariance, f.Report.Warnings)
			}
		}
	}
}
