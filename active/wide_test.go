package active

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestWideClasses: with more than 2,000 columns the prior variances are those that a fit of the labels has, chosen anew
// once these have doubled, and what is measured is that fit.
func TestWideClasses(t *testing.T) {
	ctx := context.Background()
	rows := conform.Regression(likelihood.Bernoulli{}, 120, 2001, 4)
	model := credence.Model{Features: conform.Columns{Dense: 2001, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: prior.Normal{}}
	s := &simulation{Options: Options{Pool: 80, Initial: 20, Block: 15, Labels: 50, Every: 15, Seed: 3}, model: model, all: *rows}
	order := credence.Rand(1, credence.ActiveSplit, 0).Perm(120)
	pool, test := order[:80], subset{rows, order[80:]}
	fitOf := func(places []int) *credence.Fitted {
		e := must.Value(svi.New(model, svi.Config{Seed: 3}))(t)
		return must.Value(e.Fit(ctx, subset{rows, places}))(t)
	}
	variance := func(f *credence.Fitted) float64 { return f.Report.Hyper.Of("prior_variance.linear", 0) }
	var l learner
	for _, c := range []struct{ labels, chosen int }{{20, 20}, {35, 20}, {40, 40}, {70, 40}} {
		scored := must.Value(s.fit(ctx, pool[:c.labels], &l))(t)
		want := fitOf(pool[:c.chosen])
		if l.labels != c.chosen || !(math.Abs(variance(scored)/variance(want)-1) < 1e-9) || scored.Report.Engine != "convex" || scored.Report.Hyperparameters != "heldout" {
			t.Errorf("%d labels: variance %v of %d, a fit of %d has %v", c.labels, variance(scored), l.labels, c.chosen, variance(want))
		}
		at := must.Value(s.measure(ctx, scored, &l, pool[:c.labels], test))(t)
		if c.labels != c.chosen {
			continue
		}
		plain := must.Value(s.measure(ctx, want, &learner{}, nil, test))(t)
		if at.Error != plain.Error || !(math.Abs(at.LogLoss-plain.LogLoss) <= 1e-3) {
			t.Errorf("%d labels: measured %+v, the fit has %+v", c.labels, at, plain)
		}
	}
	curve := must.Value(s.run(ctx, Uncertainty, 0, pool, test, nil))(t)
	var first learner
	must.Value(s.fit(ctx, pool[:20], &first))(t)
	if want := must.Value(s.measure(ctx, first.before, &first, pool[:20], test))(t); curve[0].LogLoss != want.LogLoss || len(curve) != 3 {
		t.Errorf("the curve %+v begins away from %+v", curve, want)
	}
}
