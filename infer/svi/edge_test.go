package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestFewRows: every family fits one and five rows, fewer than there are weights, also without
// weight or with equal targets, to a finite posterior.
func TestFewRows(t *testing.T) {
	for i, lik := range families() {
		for _, n := range []int{1, 5} {
			for _, cfg := range []Config{{Covariance: Full}, {}, {Components: 2}, {Batch: 2}} {
				cfg.Diagnostics = 30
				for _, edit := range []func(m *memory){
					func(*memory) {},
					func(m *memory) {
						m.weight = make([]float64, n) // all zero
					},
					func(m *memory) {
						for r := range m.y {
							m.y[r] = m.y[0]
						}
					},
				} {
					data := draw(t, lik, n, 4, uint64(i))
					edit(data)
					e := must.Value(New(credence.Model{Features: plain{p: 4, sparse: 2, intercept: true}, Likelihood: lik, Prior: normal}, cfg))(t)
					f, err := e.Fit(context.Background(), data)
					name := fmt.Sprintf("%v, %d rows, %v%d", lik, n, cfg.Covariance, cfg.Components)
					if err != nil {
						t.Errorf("%s: %v", name, err)
						continue
					}
					m, v := make([]float64, 5), make([]float64, 5)
					f.Members[0].Posterior.Marginals(m, v)
					if !problem.Finite(m...) || !problem.Finite(v...) || !problem.Finite(boundOf(f)) {
						t.Errorf("%s: mean %v, variance %v, bound %g", name, m, v, boundOf(f))
					}
				}
			}
		}
	}
}

// TestNoiseFree: a noise-free target is fitted at the floor, with a warning.
func TestNoiseFree(t *testing.T) {
	data := *draw(t, likelihood.Gaussian{}, 200, 3, 4)
	data.y = make([]float64, len(data.y))
	for i := range data.y {
		data.y[i] = 2 * data.x.Row(i)[0]
	}
	model := credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: normal}
	for _, cfg := range []Config{{Covariance: Full, Tolerance: 1e-7}, {Tolerance: 1e-7}} {
		if text := strings.Join(fitted(t, model, cfg, &data).Report.Warnings, "\n"); !strings.Contains(text, "the noise is at its floor") {
			t.Errorf("a noise-free target warns %q", text)
		}
	}
}

// TestRowWithoutWeight: a row of weight 0 changes nothing, even where its density and all
// derivatives of it overflow: e^720 is beyond all numbers.
func TestRowWithoutWeight(t *testing.T) {
	for _, lik := range []credence.Likelihood{likelihood.Gamma{}, likelihood.Gamma{Shape: param.Hold(2)}, likelihood.NegativeBinomial{}} {
		for _, cfg := range []Config{{Covariance: Full, Tolerance: 1e-7}, {Tolerance: 1e-7}} {
			without := draw(t, lik, 40, 2, 3)
			without.weight, without.offset = make([]float64, 40), make([]float64, 40)
			for i := range without.weight {
				without.weight[i] = 1
			}
			with := *without
			with.x.Rows++
			with.x.Data = append(slices.Clone(without.x.Data), 1, -1)
			with.y = append(slices.Clone(without.y), 1e3)
			with.weight = append(slices.Clone(without.weight), 0)
			with.offset = append(slices.Clone(without.offset), -720)
			model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: lik, Prior: normal}
			want, got := fitted(t, model, cfg, without).Report, fitted(t, model, cfg, &with).Report
			closeTo(t, fmt.Sprintf("bound of %v, %+v", lik, cfg), *got.ELBO, *want.ELBO, 1e-6)
			for i, h := range want.Hyper {
				closeTo(t, h.Name, got.Hyper[i].Value/h.Value, 1, 1e-4)
			}
		}
	}
}

// TestOffsetOfIdentityLinks: an offset, however far it ranges, is as good as a target from which it
// has been taken.
func TestOffsetOfIdentityLinks(t *testing.T) {
	for _, lik := range []credence.Likelihood{likelihood.Gaussian{}, likelihood.StudentT{}} {
		for _, cfg := range []Config{{Covariance: Full, Tolerance: 1e-7}, {Tolerance: 1e-7}} {
			data := draw(t, lik, 200, 3, 4)
			model := credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: normal}
			want := fitted(t, model, cfg, data).Report
			data.offset = make([]float64, 200)
			for i := range data.offset {
				data.offset[i] = 1e4 * float64(i)
				data.y[i] += data.offset[i]
			}
			got := fitted(t, model, cfg, data).Report
			closeTo(t, fmt.Sprintf("bound of %v %q", lik, cfg.Covariance), *got.ELBO, *want.ELBO, 1e-5)
			for i, h := range want.Hyper {
				closeTo(t, h.Name, got.Hyper[i].Value/h.Value, 1, 1e-3)
			}
		}
	}
}

// TestEqualTargets: rows whose targets are all the least there is fit every family, to the same
// bound with either covariance where there is only an intercept, and the warning says what they are
// worth.
func TestEqualTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, lik := range []credence.Likelihood{
		likelihood.Poisson{}, likelihood.Poisson{Link: likelihood.Softplus}, likelihood.NegativeBinomial{Size: param.Hold(2)}, likelihood.Binomial{Trials: 3},
		likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Cloglog}, likelihood.Bernoulli{Link: likelihood.Probit},
	} {
		for _, p := range []int{0, 3} {
			for _, n := range []int{1, 30, 100} {
				data := draw(t, likelihood.Gaussian{}, n, p, 3)
				clear(data.y)
				model := credence.Model{Features: plain{p: p, intercept: true}, Likelihood: lik, Prior: normal}
				full := fitted(t, model, Config{Covariance: Full, Diagnostics: -1, Tolerance: 1e-7, MaxIterations: 1000}, data).Report
				diagonal := fitted(t, model, Config{Diagnostics: -1}, data).Report
				name := fmt.Sprintf("%v, %d rows, %d columns", lik, n, p)
				for _, r := range []credence.Report{full, diagonal} {
					if !strings.Contains(strings.Join(r.Warnings, "\n"), "every target is 0") {
						t.Errorf("%s: %q", name, r.Warnings)
					}
				}
				closeTo(t, name, *full.ELBO, *diagonal.ELBO, 1e-3)
			}
		}
	}
}

// TestParametersAtTheirLimits: a parameter that the data drive to the end of what is tried is told
// of, with a remedy that is true for a noise-free target and for a steep trend alike.
func TestParametersAtTheirLimits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, c := range []struct {
		lik  credence.Likelihood
		y    func(i int, x float64) float64
		want string
	}{
		{likelihood.Gaussian{}, func(_ int, x float64) float64 { return 1e5*x + rng.NormFloat64() }, "the noise is at its floor, 1e-06 of the target's variance: either the data are nearly noise-free, or the target ranges over so much more than its noise; state the noise, gaussian(variance=…), if it is smaller"},
		{likelihood.StudentT{}, func(_ int, x float64) float64 { return 1e5*x + rng.NormFloat64() }, "state the noise, studentt(scale=…), if it is smaller"},
		{likelihood.NegativeBinomial{}, func(i int, _ float64) float64 { return float64(50 + i%2) }, "the size is at the largest that is tried, 1.2e+06: the counts vary no more than Poisson's; use --family poisson"},
		{likelihood.Gamma{}, func(_ int, x float64) float64 { return math.Exp(x) }, "the shape is at the largest that is tried"},
	} {
		for _, cfg := range []Config{{Covariance: Full}, {}} {
			if _, heavy := c.lik.(likelihood.StudentT); heavy && cfg.Covariance != Full {
				continue // without Newton steps it does not leave the scale at which all are outliers
			}
			data := draw(t, likelihood.Gaussian{}, 300, 1, 4)
			for i := range data.y {
				data.y[i] = c.y(i, data.x.Row(i)[0])
			}
			f := fitted(t, credence.Model{Features: plain{p: 1, intercept: true}, Likelihood: c.lik, Prior: normal}, cfg, data)
			if text := strings.Join(f.Report.Warnings, "\n"); !strings.Contains(text, c.want) {
				t.Errorf("%v %q: %v, %s %d, warnings %q", c.lik, cfg.Covariance, f.Report.Hyper, f.Report.Status, f.Report.Iterations, text)
			}
		}
	}
}

// TestLargeCounts: where counts with a mean of a million vary as Poisson's do, so do those that a
// negative binomial expects: the variance is within a tenth, whose standard error with 500 rows is
// 6 %. A size held at e^14 expects 1.8 times as much.
func TestLargeCounts(t *testing.T) {
	lik := likelihood.NegativeBinomial{}
	rng := rand.New(rand.NewPCG(2, 2))
	data := draw(t, likelihood.Gaussian{}, 500, 1, 4)
	for i := range data.y {
		data.y[i] = likelihood.Poisson{}.Sample(rng, math.Log(1e6)+0.1*data.x.Row(i)[0])
	}
	for _, cfg := range []Config{{Covariance: Full}, {}} {
		f := fitted(t, credence.Model{Features: plain{p: 1, intercept: true}, Likelihood: lik, Prior: normal}, cfg, data)
		family := f.Members[0].Model.Likelihood.(likelihood.NegativeBinomial)
		if ratio := family.Variance(math.Log(1e6)) / 1e6; ratio > 1.1 {
			t.Errorf("%q: %v varies %.2f times as much as Poisson's, %s %q", cfg.Covariance, family, ratio, f.Report.Status, f.Report.Warnings)
		}
	}
}
