package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// TestOneScale: priors laplace and studentt have one scale for all weights, the one that is reported: a fit that holds
// it has the same bound, and there is one hyper-parameter of the name. Before the fix every block has a scale of its
// own, of which the first is reported and saved; hyper_prior has the key prior_scale twice.
func TestOneScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 160
	x, z, y, g := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		k := i % 8
		x[i], z[i], g[i] = rng.NormFloat64(), rng.NormFloat64(), string(rune('a'+k))
		y[i] = 0.05*x[i] - 0.05*z[i] + 4*float64(k%3-1) + rng.NormFloat64()
	}
	rows, err := table.New().Numbers("x", x).Numbers("z", z).Categories("g", g).Numbers("y", y).Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, prior := range []string{"laplace", "studentt"} {
		of := func(prior string) (bound, scale float64, priors int) {
			f, err := fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ x + z + onehot(g)", Family: "gaussian", Prior: prior, Engine: "convex(hyper=mode)"})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range f.Report.HyperPrior {
				if v.Name == "prior_scale" {
					priors++
				}
			}
			return *f.Report.EvidenceBoundMode, f.Report.Hyper.Of("prior_scale", math.NaN()), priors
		}
		learned, scale, priors := of(prior)
		held, _, _ := of(fmt.Sprintf("%s(scale=%v)", prior, scale))
		if priors != 1 || !(math.Abs(learned-held) <= 0.05) {
			t.Errorf("%s: %d hyper-parameters prior_scale; the bound is %.3f at the learned scale %.4g, and %.3f where that is held", prior, priors, learned, scale, held)
		}
	}
}
