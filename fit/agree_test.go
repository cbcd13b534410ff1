package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// TestEnginesAgree: the same Gaussian model under exact and under svi has the same evidence, prior
// scales, and under priors the same hyper-parameters and weights, in every treatment: to what the
// tolerance of the climbs and, integrated, the nodes leave.
func TestEnginesAgree(t *testing.T) {
	type row struct {
		Y, A, B, C float64
		City       string
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var list []row
	for range 60 {
		r := row{A: 5 + rng.NormFloat64(), B: rng.NormFloat64(), City: []string{"Basel", "Bern", "Biel"}[rng.IntN(3)]}
		r.C = 0.7*r.B + rng.NormFloat64()
		r.Y = 3 + r.A - 0.2*r.B + 2*rng.NormFloat64()
		list = append(list, r)
	}
	rows, err := table.Structs(list)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		formula, prior string
		raw            bool
	}{
		{"Y ~ .", "normal", false},
		{"Y ~ A + B:C + City", "normal", true},
		{"Y ~ 0 + A + B", "normal", false},
		{"Y ~ 0 + A + B + offset(-100)", "normal", false}, // nothing explains the mean but noise
		{"Y ~ A + B + C", "normal(ard=true)", false},
		{"Y ~ A + rbf(B, C, n=10, lengthscale=1)", "normal", false},
		{"Y ~ .", "normal(variance=0.5)", false},
	} {
		for _, treatment := range []string{"integrate", "mode", "ml"} {
			var reports []credence.Report
			var means, variances [][]float64
			for _, engine := range []string{"exact(tolerance=1e-9, hyper=", "svi(covariance=full, tolerance=1e-7, hyper="} {
				f, err := fit.Table(context.Background(), rows, fit.Options{
					Formula: c.formula, Prior: c.prior, Engine: engine + treatment + ")", Raw: c.raw, Seed: 3,
				})
				if err != nil {
					t.Fatal(err)
				}
				d := f.Members[0].Posterior.Weights()
				mean, variance := make([]float64, d), make([]float64, d)
				f.Members[0].Posterior.Marginals(mean, variance)
				reports, means, variances = append(reports, f.Report), append(means, mean), append(variances, variance)
			}
			name := c.formula + ", " + c.prior + ", " + treatment
			closer := func(what string, got, want, tolerance float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s: %s is %.9g under svi and %.9g under exact", name, what, got, want)
				}
			}
			exact, svi := reports[0], reports[1]
			if exact.Hyperparameters != svi.Hyperparameters || (exact.Evidence == nil) != (svi.ELBO == nil) || (exact.EvidenceMode == nil) != (svi.ELBOMode == nil) {
				t.Errorf("%s: %+v, %+v", name, exact, svi)
				continue
			}
			if exact.Evidence != nil {
				closer("evidence", *svi.ELBO, *exact.Evidence, 1e-3)
			}
			if exact.EvidenceMode != nil {
				closer("evidence at the mode", *svi.ELBOMode, *exact.EvidenceMode, 1e-4)
			}
			if treatment == "ml" { // a block that vanishes does so to the floor of its engine
				continue
			}
			for j, v := range variances[0] {
				closer("weight", means[1][j]/math.Sqrt(v), means[0][j]/math.Sqrt(v), 5e-3)
				closer("variance", variances[1][j]/v, 1, 1e-2)
			}
			for _, of := range [][2]credence.Values{{svi.HyperPrior, exact.HyperPrior}, {svi.Hyper, exact.Hyper}} {
				values := map[string]float64{}
				for _, v := range of[0] {
					values[v.Name] = v.Value
				}
				for _, v := range of[1] {
					closer(v.Name, values[v.Name]/v.Value, 1, 1e-2)
				}
			}
		}
	}
}
