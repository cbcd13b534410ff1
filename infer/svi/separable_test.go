package svi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// parted is two groups of rows that the first of three columns tells apart.
func parted(trials float64) *memory {
	rng := rand.New(rand.NewPCG(8, 8))
	m := &memory{x: linop.NewDense(300, 3), y: make([]float64, 300)}
	for i := range m.y {
		row := m.x.Row(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		row[0] = math.Copysign(0.5+math.Abs(row[0]), float64(i%2)-0.5)
		m.y[i] = trials * float64(i%2)
		if trials > 1 {
			m.trials = append(m.trials, trials)
		}
	}
	return m
}

// TestSeparableClasses: classes that a plane separates end the fit soon, at finite weights that
// predict every row, and the warning says what to do; where the prior variance is held it says that
// the prior decides. One row on the other side, or one trial, and nothing is said.
func TestSeparableClasses(t *testing.T) {
	for _, c := range []struct {
		lik    credence.Likelihood
		trials float64
	}{
		{likelihood.Bernoulli{}, 1}, {likelihood.Bernoulli{Link: likelihood.Probit}, 1}, {likelihood.Bernoulli{Link: likelihood.Cloglog}, 1},
		{likelihood.Binomial{Trials: 1}, 1}, {likelihood.Binomial{}, 4},
	} {
		for _, cfg := range []Config{{Covariance: Full}, {}} {
			for _, p := range []struct {
				model credence.Model
				want  string
			}{
				{credence.Model{Prior: normal}, "the fit stopped at a prior variance of"},
				{credence.Model{Prior: held(1)}, "the size of the weights is set by the prior alone"},
			} {
				name := fmt.Sprintf("%v, %g trials, %q, %v", c.lik, c.trials, cfg.Covariance, p.model.Prior)
				model := p.model
				model.Features, model.Likelihood = plain{p: 3, intercept: true}, c.lik
				data := parted(c.trials)
				f := fitted(t, model, cfg, data)
				warnings := strings.Join(f.Report.Warnings, "\n")
				if f.Report.Status != credence.Converged || cfg.Covariance == Full && f.Report.Iterations > 50 {
					t.Errorf("%s: %s after %d iterations", name, f.Report.Status, f.Report.Iterations)
				}
				if !strings.Contains(warnings, "the classes are perfectly separable") || !strings.Contains(warnings, p.want) || strings.Contains(warnings, "Pareto") {
					t.Errorf("%s: warnings are %q", name, warnings)
				}
				mean, variance := make([]float64, 4), make([]float64, 4)
				f.Members[0].Posterior.Marginals(mean, variance)
				if !finite(mean...) || !finite(variance...) || !(mean[1] > 0) {
					t.Errorf("%s: mean %v, variance %v", name, mean, variance)
				}
				data.y[7] = c.trials - 1 // of a row with as many successes as trials
				if text := strings.Join(fitted(t, model, cfg, data).Report.Warnings, "\n"); strings.Contains(text, "separable") {
					t.Errorf("%s, with a row on the other side: %q", name, text)
				}
			}
		}
	}
}

// TestJudge: a heavy tail of weights that hardly differ is reported and not warned of; the same
// tail where it carries weight is.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		size float64
		warn bool
	}{{1e-3, false}, {1, true}} {
		r := &fit{targets: moments{low: 0, high: 1}}
		logs := make([]float64, 1000)
		for i := range logs {
			// Order statistics of a Pareto distribution of shape 0.9.
			tail := math.Pow(1-(float64(i)+0.5)/1000, -0.9)
			logs[i] = math.Log1p(c.size * tail)
		}
		r.judge(logs, "nothing")
		k, share := *r.report.ParetoK, *r.report.EffectiveShare
		if !(k > limitK) || (share < trustedShare) != c.warn || (len(r.report.Warnings) > 0) != c.warn {
			t.Errorf("size %g: k %.2f, share %.4f, warnings %q", c.size, k, share, r.report.Warnings)
		}
	}
}

// TestVerdict: the verdict names the figure that decides it, and speaks against a posterior exactly
// where a warning does.
func TestVerdict(t *testing.T) {
	vary, hardly, low := 0.8, 0.994, 0.05
	for _, c := range []struct {
		k     float64
		share *float64
		want  string
	}{
		{0.26, &vary, "Pareto k 0.26: the approximation is close to the posterior"},
		{0.6, &vary, "Pareto k 0.60: the approximation is usable"},
		{0.78, &hardly, "Pareto k 0.78, effective share 0.994: the weights of draws hardly vary, so the approximation is close to the posterior"},
		{0.78, &vary, "Pareto k 0.78 ± 0.16, effective share 0.80: at the limit of 0.7, and the approximation may be usable"},
		{0.78, &low, "Pareto k 0.78, effective share 0.05: the spread of the approximation is not to be relied on"},
		{0.95, &vary, "Pareto k 0.95, effective share 0.80: the spread of the approximation is not to be relied on"},
		{0.95, nil, "Pareto k 0.95: the spread of the approximation is not to be relied on"},
	} {
		got := Verdict(c.k, c.share)
		if got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if c.share != nil && reliable(c.k, *c.share) == strings.Contains(got, "not to be relied on") {
			t.Errorf("k %g, share %g: %s, but the warning says otherwise", c.k, *c.share, got)
		}
	}
}
