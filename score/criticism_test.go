package score_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
)

type counted struct{ X, Y float64 }

// countsOf draws counts at f = X.
func countsOf(family likelihood.Sampler, n int) []counted {
	rng := rand.New(rand.NewPCG(8, 9))
	all := make([]counted, n)
	for i := range all {
		x := rng.NormFloat64() / 2
		all[i] = counted{x, family.Sample(rng, x)}
	}
	return all
}

// The coverage of counts is by the randomised transform, whose probabilities are sums of densities here:
// that of a right model is what it says, while intervals of whole numbers hold more.
func TestCoverageOfCounts(t *testing.T) {
	all := countsOf(likelihood.Poisson{}, 3000)
	rows := structs(t, all)
	model := fitted(t, rows, fit.Options{Formula: "Y ~ X", Family: "poisson"})
	inside, lowest := 0.0, 0.0
	each(t, model, rows, func(rows *score.Rows, i int) {
		below := 0.0
		for k := range int(rows.Target(i)) {
			below += math.Exp(rows.LogDensity(i, float64(k)))
		}
		at := math.Exp(rows.LogDensity(i, rows.Target(i)))
		inside += math.Max(0, math.Min(0.95, below+at)-math.Max(0.05, below)) / at
		lowest += math.Max(0, math.Min(0.1, below+at)-below) / at
	})
	e := must.Value(score.Evaluate(context.Background(), scorer(t, model), rows))(t)
	n := float64(len(all))
	if !(math.Abs(e.Coverage["0.9"]-inside/n) <= 1e-7) || !(math.Abs(e.PIT[0]-lowest/n) <= 1e-7) {
		t.Errorf("coverage %v and first bin %v, want %v and %v", e.Coverage["0.9"], e.PIT[0], inside/n, lowest/n)
	}
	for level, want := range map[string]float64{"0.5": 0.5, "0.8": 0.8, "0.9": 0.9} {
		if got := e.Coverage[level]; !(math.Abs(got-want) <= 5*math.Sqrt(want*(1-want)/n)) {
			t.Errorf("%s intervals of a right model cover %v", level, got)
		}
		if e.Held[level] < want+0.03 {
			t.Errorf("%s intervals of whole numbers hold %v, no more than they promise", level, e.Held[level])
		}
	}
	if len(e.Warnings) != 1 || !strings.HasPrefix(e.Warnings[0], "these are the rows that the model was fitted to") || !e.Training {
		t.Errorf("a right model is spoken against: %v", e.Warnings)
	}
}

// Rows that the model does not fit are told of with the remedy, and a density has one coverage.
func TestEvaluateWarns(t *testing.T) {
	all := countsOf(likelihood.NegativeBinomial{Size: param.Hold(0.5)}, 800)
	model := fitted(t, structs(t, all[:400]), fit.Options{Formula: "Y ~ X", Family: "poisson"})
	e, err := score.Evaluate(context.Background(), scorer(t, model), structs(t, all[400:]))
	if err != nil || !strings.Contains(strings.Join(e.Warnings, "\n"), "times as much as poisson allows: --family negbinomial") {
		t.Errorf("%v, %v", e.Warnings, err)
	}
	if all := strings.Join(model.Report.Warnings, "\n"); !strings.Contains(all, "times as much as poisson allows") {
		t.Errorf("the fit says %q", all)
	}
	model = fitted(t, structs(t, all[:400]), fit.Options{Formula: "Y ~ X", Family: "gaussian"})
	e, err = score.Evaluate(context.Background(), scorer(t, model), structs(t, all[400:]))
	if err != nil || e.Held != nil || len(e.PIT) != 10 {
		t.Errorf("interval coverage %v, %d bins, %v", e.Held, len(e.PIT), err)
	}
	// A count that no poisson can be has no density, and nothing is asked of it.
	model = fitted(t, structs(t, all[:400]), fit.Options{Formula: "Y ~ X", Family: "poisson"})
	e, err = score.Evaluate(context.Background(), scorer(t, model), structs(t, append(all[400:500:500], counted{0, 0.5})))
	if err != nil || e.ZeroDensityRows != 1 || e.Warnings != nil {
		t.Errorf("%d rows without density, warnings %v, %v", e.ZeroDensityRows, e.Warnings, err)
	}
}
