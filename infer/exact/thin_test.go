package exact

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// TestFewFrequenciesLeadToTheMaximum climbs on five tables, three in the ordinary run, with all frequencies at once,
// and from where searchThinly ends: the latter ends as high, to a thousandth of a nat a row, in fewer iterations.
func TestFewFrequenciesLeadToTheMaximum(t *testing.T) {
	ctx := context.Background()
	const n = 700
	direct, after := 0, 0
	tables := uint64(3)
	if study.Long() {
		tables = 5
	}
	for seed := range tables {
		data := randomTable(82+seed, n, 3, 0)
		rng := credence.Rand(83, "noise", seed)
		for i := range n {
			x := data.x.Row(i)
			data.target[i] = math.Sin(2*x[0]) + x[1]*x[2]/2 + 0.1*rng.NormFloat64()
		}
		features := fourierSet(t, 3, 120, feature.RBF)
		e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{ScreenRows: 300, Starts: 2, Draws: 2}))(t)
		run := &fit{Engine: e, data: data}
		run.ws = credence.NewWorkspace(1)
		starts := run.starts(2)
		tasks := must.Value(run.searchThinly(ctx, starts))(t)
		if len(tasks) != 2 || tasks[0].before.penalised < tasks[1].before.penalised {
			t.Fatalf("the search returned %d draws, not two with the best first", len(tasks))
		}
		must.Succeed(t, run.open(ctx, 0, true))
		for _, from := range tasks {
			if w := from.features.Weights(); w != features.Weights() {
				t.Fatalf("the search returned features with %d weights of %d", w, features.Weights())
			}
			from.tune, from.maxIterations, from.tolerance = true, 200, goOnTolerance
			end := must.Value(run.climb(ctx, run.form, from))(t)
			straight := starts[0]
			if from.features != straight.features {
				straight = starts[1]
			}
			straight.tune, straight.maxIterations, straight.tolerance = true, 200, manyRowsTolerance
			other := must.Value(run.climb(ctx, run.form, straight))(t)
			if gap := other.penalised - end.penalised; gap > 0.001*n {
				t.Errorf("table %d: the maximum by few frequencies is %v, %v nats below the other", seed, end.penalised, gap)
			}
			after += end.iterations - from.before.iterations
			direct += other.iterations
		}
	}
	t.Logf("%d iterations from the start, %d from where few frequencies ended", direct, after)
	if after > direct*2/3 {
		t.Errorf("%d iterations from where few frequencies ended, %d from the start", after, direct)
	}
}

// TestWhereFewFrequenciesAreUsed checks the conditions: many rows and weights, most of them of
// random features with something to learn, and no variance for each weight.
func TestWhereFewFrequenciesAreUsed(t *testing.T) {
	for name, c := range map[string]struct {
		rows, inputs, frequencies int
		prior                     prior.Normal
		want                      bool
	}{
		"many of both": {2001, 2, 500, prior.Normal{}, true},
		"few rows":     {2000, 2, 500, prior.Normal{}, false},
		"few weights":  {2001, 2, 400, prior.Normal{}, false},
		"other ones":   {2001, 600, 250, prior.Normal{}, false},
		"ARD":          {2001, 2, 500, prior.Normal{ARD: true}, false},
	} {
		e := must.Value(New(model(fourierSet(t, c.inputs, c.frequencies, feature.RBF), c.prior, likelihood.Gaussian{}), Config{}))(t)
		run := &fit{Engine: e, data: &table{x: linop.Dense{Rows: c.rows}}}
		if got := run.dear(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
