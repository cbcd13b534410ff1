package active

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestLearnedPrior: a fit that goes on from the one before has the prior variance that its labels say, not the
// value that learning starts from. Before the fix the second fit has (2.5/2c)², about .13, whatever the labels are.
func TestLearnedPrior(t *testing.T) {
	ctx := context.Background()
	for name, p := range map[string]credence.Prior{"prior_variance.linear": prior.Normal{}, "prior_scale": prior.Laplace{}} {
		rows := conform.Regression(likelihood.Bernoulli{}, 260, 12, 4)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range rows.Target {
			f := 0.0
			for j, x := range rows.X.Row(i) {
				f += 2.5 * x * float64(1-2*(j%2))
			}
			u := rng.Float64()
			if rows.Target[i] = 0; f+math.Log(u/(1-u)) > 0 {
				rows.Target[i] = 1
			}
		}
		model := credence.Model{Features: conform.Columns{Dense: 12, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: p}
		s := &simulation{Options: Options{Seed: 3, Threads: 1}, model: model, all: *rows}
		places := make([]int, 210)
		for i := range places {
			places[i] = i
		}
		of := func(f *credence.Fitted) float64 { return f.Report.Hyper.Of(name, math.NaN()) }
		var l, fresh learner
		first := of(must.Value(s.fit(ctx, places[:200], &l))(t))
		second := of(must.Value(s.fit(ctx, places, &l))(t))
		want := of(must.Value(s.fit(ctx, places, &fresh))(t))
		if !(math.Abs(math.Log(second/want)) <= 0.1) {
			t.Errorf("%s: %.3g at 200 labels, then %.3g at 210; a fit of the 210 has %.3g", name, first, second, want)
		}
	}
}
