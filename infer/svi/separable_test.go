package svi

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// parted is two groups of rows that the first of three columns tells apart.
func parted(trials float64) *memory {
	rng := rand.New(rand.NewPCG(8, 8))
	m := &memory{x: linop.NewDense(100, 3), y: make([]float64, 100)}
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
	if testing.Short() { // as the race detector has it: what runs at once is tested by others
		t.Skip("many fits")
	}
	for _, c := range []struct {
		lik    credence.Likelihood
		trials float64
	}{
		{likelihood.Bernoulli{}, 1}, {likelihood.Bernoulli{Link: likelihood.Probit}, 1}, {likelihood.Bernoulli{Link: likelihood.Cloglog}, 1},
		{likelihood.Binomial{Trials: 1}, 1}, {likelihood.Binomial{}, 4},
	} {
		for _, cfg := range []Config{{Covariance: Full, Diagnostics: 200}, {Diagnostics: 200}} {
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
				if !problem.Finite(mean...) || !problem.Finite(variance...) || !(mean[1] > 0) {
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

// TestCreepingSteps: where ten columns of zeros and ones tell the classes apart, plain steps need 54 passes, and those
// that draw on earlier points half of them, to the same bound.
func TestCreepingSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 3))
	data := &memory{x: linop.NewDense(400, 10), y: make([]float64, 400)}
	for i := range data.y {
		row, score := data.x.Row(i), 0.0
		for j := range row {
			row[j] = float64(rng.IntN(2))
			score += row[j] * float64(j-4)
		}
		if score > 2.5 {
			data.y[i] = 1
		}
	}
	model := credence.Model{Features: plain{p: 10, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(1000)}
	f := fitted(t, model, Config{Covariance: Full, Tolerance: 1e-6, Diagnostics: 200}, data)
	if f.Report.Status != credence.Converged || f.Report.Iterations > 35 || !(math.Abs(*f.Report.ELBO+34.5641926) <= 1e-6) {
		t.Errorf("%s after %d iterations at %v", f.Report.Status, f.Report.Iterations, *f.Report.ELBO)
	}
}
