package svi

import (
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// slanted is a family whose slopes point downhill, by a share of their true size.
type slanted struct {
	likelihood.Bernoulli
	share float64
}

func (l slanted) ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64) {
	l.Bernoulli.ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance)
	for i := range dMean {
		dMean[i] *= -l.share
	}
}

// TestNoStepRaisesTheBound: a climb that finds no way up says so, and does not advise more
// iterations; where there is nothing left to gain, at the limit too, it has converged.
func TestNoStepRaisesTheBound(t *testing.T) {
	data := draw(t, likelihood.Bernoulli{}, 200, 3, 4)
	fit := func(lik credence.Likelihood, cfg Config) (credence.Status, string) {
		cfg.Covariance = Full
		f := fitted(t, credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: held(1)}, cfg, data)
		return f.Report.Status, strings.Join(f.Report.Warnings, "\n")
	}
	status, text := fit(slanted{share: 1}, Config{})
	if status != credence.IterationLimit || !strings.Contains(text, "no step raised the bound, though its slope promises") || strings.Contains(text, "iterations=") {
		t.Errorf("no way up: %s, %q", status, text)
	}
	if status, text := fit(likelihood.Bernoulli{}, Config{MaxIterations: 2}); status != credence.IterationLimit || !strings.Contains(text, "state iterations=8") {
		t.Errorf("two iterations: %s, %q", status, text)
	}
	for limit := 8; limit < 30; limit++ { // by then the bound has no more digits
		if status, text := fit(likelihood.Bernoulli{}, Config{MaxIterations: limit, Tolerance: 1e-300}); status != credence.Converged || text != "" {
			t.Errorf("%d iterations: %s, %q", limit, status, text)
		}
	}
}
