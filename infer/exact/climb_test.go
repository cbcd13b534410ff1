package exact

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestClimbGoesOnWithItsCurvature climbs on a third of the rows of five tables and goes on on
// all of them, with and without what the first climb learned of the curvature: both
// end in the same maximum, the former sooner.
func TestClimbGoesOnWithItsCurvature(t *testing.T) {
	ctx := context.Background()
	const n = 900
	with, without := 0, 0
	for seed := range uint64(5) {
		data := randomTable(74+seed, n, 4, 0)
		rng := credence.Rand(75, "noise", seed)
		for i := range n {
			x := data.x.Row(i)
			data.target[i] = math.Sin(2*x[0]) + x[1]*x[2]/2 + 0.1*rng.NormFloat64()
		}
		e := must.Value(New(model(fourierSet(t, 4, 40, feature.RBF), prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
		run := &fit{Engine: e, data: data}
		run.ws = credence.NewWorkspace(1)
		climb := func(rows int, before *outcome) *outcome {
			t.Helper()
			must.Succeed(t, run.open(ctx, rows, true))
			from := run.starts(1)[0]
			from.before, from.tune, from.maxIterations, from.tolerance = before, true, 200, 1e-6
			return must.Value(run.climb(ctx, run.form, from))(t)
		}
		few := climb(n/3, nil)
		forgetful := *few
		forgetful.pairs = nil
		a, b := climb(0, few), climb(0, &forgetful)
		// Both stop where three iterations bring less than 1e-6 nats a row.
		if gap := math.Abs(a.penalised - b.penalised); gap > 0.02 {
			t.Errorf("table %d: maxima %v and %v", seed, a.penalised, b.penalised)
		}
		with += a.iterations - few.iterations
		without += b.iterations - few.iterations
		// The pairs of the first climb are still those of its own rows.
		if again := few.curvature(few.weight); len(again) == 0 || again[0].Change[0] != few.pairs[0].Change[0] {
			t.Error("going on changed what the first climb learned")
		}
	}
	if with > without*4/5 {
		t.Errorf("%d iterations with the curvature, %d without", with, without)
	}
}

// TestJumpFindsFineStructure has a smooth function of one input and an independent effect of every
// value of another, which repeats forty values: the climb from the starting lengthscales ends where the
// effects are noise, and the jump finds them.
func TestJumpFindsFineStructure(t *testing.T) {
	ctx := context.Background()
	const n = 600
	data := randomTable(76, n, 2, 0)
	rng := credence.Rand(77, "effects", 0)
	var values, effects [40]float64
	for k := range values {
		values[k], effects[k] = rng.NormFloat64(), rng.NormFloat64()
	}
	for i := range n {
		x, k := data.x.Row(i), i*7%len(values)
		x[1] = values[k]
		data.target[i] = 2*math.Sin(x[0]) + effects[k] + 0.3*rng.NormFloat64()
	}
	run := opened(t, fourierSet(t, 2, 200, feature.RBF), data)
	from := run.starts(1)[0]
	from.tune, from.maxIterations, from.tolerance = true, 100, 1e-5
	first := must.Value(run.climb(ctx, run.form, from))(t)
	end := must.Value(run.jump(ctx, run.form, from, first))(t)
	t.Logf("evidence %.1f at lengthscales %.3v, %.1f at %.3v", first.penalised, first.hyper, end.penalised, end.hyper)
	if end.penalised < first.penalised+20 || !(end.hyper[1] < first.hyper[1]/2) {
		t.Errorf("the jump went from evidence %.1f at lengthscales %.3v to %.1f at %.3v", first.penalised, first.hyper, end.penalised, end.hyper)
	}
	// Where there is nothing finer it stays where it is.
	if again, err := run.jump(ctx, run.form, from, end); err != nil || again != end {
		t.Errorf("from there it went on to %+v, %v", again, err)
	}
}

// TestFewRowsLookBeyond fits a category of thirty levels numbered at random: the fit of few rows,
// whose starts are not compared, finds the effects as well, and its posterior is that of where it
// ended.
func TestFewRowsLookBeyond(t *testing.T) {
	const n = 400
	data := randomTable(78, n, 2, 0)
	rng := credence.Rand(79, "effects", 0)
	var effects [30]float64
	for k := range effects {
		effects[k] = rng.NormFloat64()
	}
	for i := range n {
		x, k := data.x.Row(i), rng.IntN(len(effects))
		x[1] = float64(k)/9 - 1.6
		data.target[i] = math.Sin(x[0]) + effects[k] + 0.2*rng.NormFloat64()
	}
	f := fitted(t, model(fourierSet(t, 2, 100, feature.RBF), prior.Normal{}, likelihood.Gaussian{}), Config{Draws: 2, Starts: 2}, data)
	if v := hyperOf(t, f, "noise_variance"); v > 0.3 {
		t.Errorf("the noise variance is %v: the effects of variance 1 were taken for noise of variance 0.04", v)
	}
	ws := credence.NewWorkspace(1)
	dist := must.Value(f.Distribution(ws, data.batch()))(t)
	square := 0.0
	for i, y := range data.target {
		mean, _ := dist.Moments(i)
		square += (y - mean) * (y - mean) / n
	}
	if square > 0.1 {
		t.Errorf("the fit leaves a mean square of %v", square)
	}
}
