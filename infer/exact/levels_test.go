package exact

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// manyLevels are features whose levels New eliminates: 260 of one key, some of which lie within those of another.
func manyLevels(intercept bool) plain {
	return plain{intercept: intercept, dense: 2, sizes: []int{2}}.byLevels(
		ability.LevelRun{Key: "h in g", Levels: 260, Columns: 1}, ability.LevelRun{Key: "g", Levels: 87, Columns: 1}, ability.LevelRun{Key: "c", Levels: 6, Columns: 1})
}

// TestLevelsFitAsWeights: without an intercept, whose place differs, levels that are eliminated and a matrix of all
// weights are one posterior, at the mode and integrated: to what curvatures by differences move axes by.
func TestLevelsFitAsWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("two fits of 355 weights, of numbers alone")
	}
	ctx, features := context.Background(), manyLevels(false)
	data := levelTable(31, 500, 2, features).withRoles(32, true, true)
	for _, treatment := range []param.Treatment{param.Integrate, param.MaximumLikelihood} {
		e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: treatment}))(t)
		if e.rest != 95 {
			t.Fatalf("%d weights beside levels", e.rest)
		}
		got := must.Value(e.Fit(ctx, data))(t)
		if _, ok := got.Members[0].Posterior.(*posterior.Arrow); !ok {
			t.Fatalf("a posterior %T", got.Members[0].Posterior)
		}
		e.levels, e.rest = false, features.Weights()
		want := must.Value(e.Fit(ctx, data))(t)
		near(t, "evidence", *got.Report.Evidence, *want.Report.Evidence, 1e-6)
		comparePosteriors(t, got.Members[0].Posterior, want.Members[0].Posterior, features, data, 1e-4)
		for k, v := range want.Report.Hyper {
			near(t, v.Name, got.Report.Hyper[k].Value, v.Value, 1e-4)
		}
	}
}

// TestLevelsAndIntercept: with an intercept, which stands elsewhere, evidence moves by less than .01.
func TestLevelsAndIntercept(t *testing.T) {
	features := manyLevels(true)
	data := levelTable(39, 700, 2, features)
	var evidence []float64
	for _, levels := range []bool{true, false} {
		e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: param.MaximumLikelihood}))(t)
		if e.levels = levels; !levels {
			e.rest = features.Weights()
		}
		evidence = append(evidence, *must.Value(e.Fit(context.Background(), data))(t).Report.Evidence)
	}
	if gap := math.Abs(evidence[1] - evidence[0]); gap > 0.01 || gap == 0 {
		t.Errorf("evidence %v", evidence)
	}
}

// TestLevelsAtThreads: the same bytes at any number of threads, with lengthscales that are learned beside levels.
func TestLevelsAtThreads(t *testing.T) {
	features := newBent(2, 0)
	features.plain = features.byLevels(ability.LevelRun{Key: "g", Levels: 200, Columns: 1}, ability.LevelRun{Key: "h", Levels: 90, Columns: 1})
	data := levelTable(33, 600, 2, features.plain)
	var first *credence.Fitted
	for _, threads := range []int{1, 2, 7} {
		e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Threads: threads, Starts: 1, MaxIterations: 8}))(t)
		if !e.levels {
			t.Fatal("levels are not eliminated")
		}
		if got := must.Value(e.Fit(context.Background(), data))(t); first == nil {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("another fit at %d threads", threads)
		}
	}
}

// TestLevelsOfShards: the sums of shards are those of the table, to the bit, where one key has all sparse columns; of
// two keys they are refused.
func TestLevelsOfShards(t *testing.T) {
	features := plain{intercept: true, dense: 3, sizes: []int{3}}.byLevels(ability.LevelRun{Key: "g", Levels: 150, Columns: 1}, ability.LevelRun{Key: "g", Levels: 150, Columns: 1})
	data := filed{levelTable(35, 5*1024+100, 3, features).withRoles(36, true, true), []int{0, 700, 3000, 3000, 4096}}
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	e.segment = 1024
	want := must.Value(e.Fit(context.Background(), data))(t)
	for _, begins := range [][]int{{0, 1, 2, 3, 4}, {0, 3}, {0}} {
		if got := shardedFit(t, e, data, begins); !reflect.DeepEqual(got, want) {
			t.Errorf("shards from files %v on: %+v, want %+v", begins, got.Report, want.Report)
		}
	}
	sums := must.Value(e.NewSums("frame", must.Value(e.Units(context.Background(), data))(t), 0))(t)
	must.Succeed(t, sums.Add(context.Background(), data))
	if _, err := sums.Products(); err == nil || !strings.Contains(err.Error(), "304 are too many") {
		t.Errorf("products: %v", err)
	}
	two := must.Value(New(model(manyLevels(true), prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	if _, err := two.NewSums("frame", Units{Scale: 1}, 0); err == nil || !strings.Contains(err.Error(), "fit the rows themselves") {
		t.Errorf("two keys: %v", err)
	}
}

// TestRest: levels are eliminated from 257 sparse columns by levels on, without a variance for every weight, and limits
// count the others.
func TestRest(t *testing.T) {
	run := func(levels int) ability.LevelRun { return ability.LevelRun{Key: "g", Levels: levels, Columns: 1} }
	few := plain{dense: 2, sizes: []int{2}}.byLevels(run(256))
	many := plain{dense: 2, sizes: []int{2}}.byLevels(run(257))
	for _, c := range []struct {
		features credence.Features
		prior    prior.Normal
		rest     int
		levels   bool
	}{{few, prior.Normal{}, 258, false}, {many, prior.Normal{}, 2, true}, {many, prior.Normal{ARD: true}, 259, false}} {
		if rest, levels := problem.Rest(c.features, c.prior); rest != c.rest || levels != c.levels {
			t.Errorf("%d weights and %v, want %d and %v", rest, levels, c.rest, c.levels)
		}
	}
	wide := plain{dense: 2001, sizes: []int{2001}}.byLevels(run(5000))
	if _, err := New(model(wide, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: param.Integrate}); err == nil || !strings.Contains(err.Error(), "has 2001") {
		t.Errorf("%v", err)
	}
	data := levelTable(37, 40, 2, many)
	e := must.Value(New(model(many, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	if e.rest = 41; reflect.TypeOf(e.newForm(must.Value(e.openRows(context.Background(), data, 0, false))(t), credence.NewWorkspace(1), false)) != reflect.TypeOf(&dual{}) {
		t.Error("fewer rows than weights beside levels have the n×n form")
	}
}

// TestLevelsAndLengthscales: under an intercept, whose column is not that of centred ones, the slope in a lengthscale
// is that of dense algebra, and so is the posterior.
func TestLevelsAndLengthscales(t *testing.T) {
	features := newBent(2, 0)
	features.plain = features.byLevels(ability.LevelRun{Key: "h", Levels: 4, Columns: 1}, ability.LevelRun{Key: "g", Levels: 9, Columns: 1})
	data := levelTable(41, 50, 2, features.plain)
	for i := range data.x.Rows { // means that are far from 0
		data.x.Row(i)[0] += 1.5
	}
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	lambda, at := make([]float64, features.Weights()), values{noise: 0.4}
	for k, g := range e.groups {
		at.prior = append(at.prior, 0.5+0.2*float64(k))
		for j := g.First; j < g.First+g.Count; j++ {
			lambda[j] = at.prior[k]
		}
	}
	compareForm(t, e, forms(t, e, data)["levels"], features, data, at, lambda)
}

// TestLevelsAreIntegrated: what several points of hyper-parameters make of mean and covariance is that of a matrix of
// all weights, in the target's own units, with the degrees of freedom.
func TestLevelsAreIntegrated(t *testing.T) {
	features := plain{dense: 2, sizes: []int{2}}.byLevels(ability.LevelRun{Key: "g", Levels: 8, Columns: 1}, ability.LevelRun{Key: "h", Levels: 5, Columns: 2})
	data := levelTable(43, 60, 2, features).withRoles(44, true, true)
	for i := range data.target {
		data.target[i] *= 30
	}
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	f := forms(t, e, data)["levels"]
	must.Succeed(t, f.load(context.Background(), features))
	at, s := values{noise: 0.4}, slopes{prior: make([]float64, len(e.groups))}
	for range e.groups {
		at.prior = append(at.prior, 0.5)
	}
	must.Value(f.evaluate(context.Background(), &at, &s))(t)
	var p hyper.Point
	f.moments(&at, &p)
	d, unit := features.Weights(), f.base().summary.units.Scale
	if unit < 5 {
		t.Fatalf("a unit of %v", unit)
	}
	var phi credence.Design
	features.Transform(credence.NewWorkspace(1), &phi, data.batch())
	latent, rows, noise, precise := make([]float64, data.Rows()), make([]float64, data.Rows()), 0.0, 0.0
	f.posterior().Latent(credence.NewWorkspace(1), latent, rows, &phi)
	for i, v := range rows { // the squares of residuals are those of the noise, and of what is not known of f
		w := data.weight[i] * data.precision[i]
		noise += data.weight[i]*at.noise + w*v/unit/unit
		precise += w
	}
	near(t, "variance of the noise", p.Variance[d], noise/precise, algebra)
	difference, variance := make([]float64, d+1), make([]float64, d)
	for j := range d {
		difference[j] = math.Cos(float64(3 * j))
	}
	f.spread(p.Linear, 0.3, difference)
	q, ok := f.integrated(p.Mean, p.Linear, 9)
	if df := q.(*posterior.Arrow).LatentDF(); !ok || df != 9 {
		t.Errorf("%v, %v degrees of freedom", ok, df)
	}
	mean := make([]float64, d)
	q.(*posterior.Arrow).Marginals(mean, variance)
	for j := range d {
		near(t, "mean", mean[j], unit*p.Mean[j], algebra)
		near(t, "variance", variance[j], unit*unit*(p.Variance[j]+0.3*difference[j]*difference[j]), algebra)
	}
}
