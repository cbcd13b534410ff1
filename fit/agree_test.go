package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// TestEnginesAgree: the same Gaussian model under exact and under svi has the same evidence, prior
// scales, and under priors the same hyper-parameters and weights, in every treatment: to what the
// tolerance of the climbs and, integrated, the nodes leave. Where lengthscales are learned, on a ridge along which svi stops
// sooner, it has the same prior scales, and its bound lies below the evidence.
func TestEnginesAgree(t *testing.T) {
	type row struct {
		Y, A, B, C, P, S float64
		City             string
	}
	rng, precisions := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(3, 4))
	var list []row
	for range 450 {
		r := row{A: 5 + rng.NormFloat64(), B: rng.NormFloat64(), City: []string{"Basel", "Bern", "Biel"}[rng.IntN(3)]}
		r.C = 0.7*r.B + rng.NormFloat64()
		r.P = math.Pow(10, 4*precisions.Float64()-2)
		r.Y = 3 + r.A - 0.2*r.B + 2*rng.NormFloat64()
		list = append(list, r)
	}
	for i := range list {
		list[i].S = math.Sin(3*list[i].B) + list[i].C/3 + 0.5*precisions.NormFloat64()/math.Sqrt(list[i].P)
	}
	for _, c := range []struct {
		formula, prior string
		raw, learned   bool
	}{
		{"Y ~ . - P - S", "normal", false, false},
		{"Y ~ A + B:C + City", "normal", true, false},
		{"Y ~ 0 + A + B", "normal", false, false},
		{"Y ~ 0 + A + B + offset(-100)", "normal", false, false}, // nothing explains the mean but noise
		{"Y ~ A + B + C", "normal(ard=true)", false, false},
		{"Y ~ A + rbf(B, C, n=10, lengthscale=1)", "normal", false, false},
		{"Y ~ . - P - S", "normal(variance=0.5)", false, false},
		{"Y ~ A + B:C + City + precision(P)", "normal", true, false},
		{"Y ~ 0 + A + B + precision(P)", "normal", false, false},
		{"Y ~ A + B + C + precision(P)", "normal(ard=true)", false, false},
		{"Y ~ A + radial(B, centres=8, lengthscale=1)", "normal", false, false},
		{"Y ~ 0 + sigmoid(A, B, centres=6, lengthscale=1)", "normal", false, false},
		{"Y ~ A + rbf(B, C, n=10, lengthscale=1)", "normal(ard=true)", false, false},
		{"S ~ C + radial(B, centres=8) + precision(P)", "normal", false, true},
		{"S ~ C + sigmoid(B, centres=8, lengthscale=~1)", "normal", false, true},
	} {
		used := list[:60]
		if c.learned {
			used = list // from 400 rows on lengthscales are not averaged over
		}
		rows, err := table.Structs(used)
		if err != nil {
			t.Fatal(err)
		}
		for _, treatment := range []string{"integrate", "mode", "ml"} {
			if treatment == "ml" && c.prior == "normal(ard=true)" && strings.Contains(c.formula, "rbf") {
				continue // of 20 variances those that vanish do so to the floor of their engine
			}
			var fits []*credence.Fitted
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
				fits, means, variances = append(fits, f), append(means, mean), append(variances, variance)
			}
			name := c.formula + ", " + c.prior + ", " + treatment
			closer := func(what string, got, want, tolerance float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance) {
					t.Errorf("%s: %s is %.9g under svi and %.9g under exact", name, what, got, want)
				}
			}
			exact, svi := fits[0].Report, fits[1].Report
			if exact.Rows != svi.Rows || exact.Inputs != svi.Inputs || exact.Weights != svi.Weights || exact.Status != svi.Status ||
				exact.Hyperparameters != svi.Hyperparameters || (exact.Evidence == nil) != (svi.ELBO == nil) || (exact.EvidenceMode == nil) != (svi.ELBOMode == nil) {
				t.Errorf("%s: %+v, %+v", name, exact, svi)
				continue
			}
			closer("mean of the target", fits[1].TargetMean, fits[0].TargetMean, 1e-12*math.Abs(fits[0].TargetMean))
			closer("variance of the target", fits[1].TargetVariance, fits[0].TargetVariance, 1e-12*fits[0].TargetVariance)
			same := func(svi, exact credence.Values) {
				t.Helper()
				if len(svi) != len(exact) {
					t.Errorf("%s: %v under svi and %v under exact", name, svi, exact)
				}
				values := map[string]float64{}
				for _, v := range svi {
					values[v.Name] = v.Value
				}
				for _, v := range exact {
					closer(v.Name, values[v.Name]/v.Value, 1, 1e-2)
				}
			}
			same(svi.HyperPrior, exact.HyperPrior)
			if c.learned {
				for _, of := range [][2]*float64{{svi.ELBO, exact.Evidence}, {svi.ELBOMode, exact.EvidenceMode}} {
					if of[0] != nil && !(*of[0] <= *of[1]+0.1) {
						t.Errorf("%s: the bound is %v, and the evidence %v", name, *of[0], *of[1])
					}
				}
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
			same(svi.Hyper, exact.Hyper)
			if treatment == "integrate" { // at the mode svi does not tell them
				same(svi.HyperSD, exact.HyperSD)
			}
		}
	}
}
