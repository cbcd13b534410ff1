package svi

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// wideRows are classes of rows with more columns, of which the first three matter, by a size.
func wideRows(n, p int, seed uint64, size float64) *memory {
	data := &memory{x: linop.NewDense(n, p), y: make([]float64, n)}
	rng := credence.Rand(seed, credence.SVIStarts, 0)
	for i := range n {
		row := data.x.Row(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		if rng.Float64() < special.Sigmoid(size*(row[0]+row[1]-row[2])) {
			data.y[i] = 1
		}
	}
	return data
}

// lossBy is the mean −log p of left-out rows at every share of the variances, by fits of the engine with a stated
// variance to rows of which those left out have no weight.
func lossBy(t *testing.T, model credence.Model, data *memory, fold []int, count int, variance float64) []float64 {
	t.Helper()
	sums := make([]float64, len(spreads))
	model.Prior = prior.Normal{Variance: param.Hold(variance)}
	for k := range count {
		part := *data
		part.weight = make([]float64, len(fold))
		for i := range fold {
			if fold[i] != k {
				part.weight[i] = 1
			}
		}
		q := fitted(t, model, Config{Diagnostics: -1, Hyper: param.Mode}, &part).Members[0].Posterior.(*posterior.Diagonal)
		for i := range fold {
			if fold[i] != k {
				continue
			}
			mean, square := 0.0, 0.0
			for j, v := range part.x.Row(i) {
				mean += v * q.Mean[j]
				square += v * v * q.Variance[j]
			}
			for l, share := range spreads {
				logZ, _, _ := likelihood.Bernoulli{}.TiltedMoments(data.y[i], mean, share*square)
				sums[l] -= logZ / float64(len(fold))
			}
		}
	}
	return sums
}

// TestHeldOutOracle: the variance and the share are those of the least loss over refits with stated variances; without
// an intercept these are of the same model.
func TestHeldOutOracle(t *testing.T) {
	const n, p, seed = 60, 90, 5
	data := wideRows(n, p, 3, 6)
	model := credence.Model{Features: plain{p: p}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	got := fitted(t, model, Config{Hyper: param.Heldout, Seed: seed}, data)
	total := 0.0
	for i := range n {
		for _, v := range data.x.Row(i) {
			total += v * v / n
		}
	}
	scale := likelihood.LatentScale(likelihood.Bernoulli{})
	square := scale * scale / total
	weights := slices.Repeat([]float64{1}, n)
	fold, count := folds.Deal(credence.Rand(seed, credence.FoldRows, 2), weights, data.y, 5)
	best, chosen := math.Inf(1), [2]float64{}
	look := func(step int) {
		variance := square * math.Pow(10, float64(step)/2)
		for l, loss := range lossBy(t, model, data, fold, count, variance) {
			if loss < best {
				best, chosen = loss, [2]float64{variance, spreads[l]}
			}
		}
	}
	for step := 0; step <= 8; step += 2 {
		look(step)
	}
	top := int(math.Round(2 * math.Log10(chosen[0]/square)))
	look(top - 1)
	look(top + 1)
	values := map[string]float64{}
	for _, v := range got.Report.Hyper {
		values[v.Name] = v.Value
	}
	closeTo(t, "variance", values["prior_variance.linear"], chosen[0], 1e-9)
	closeTo(t, "share", values["spread"], chosen[1], 0)
	// folds end a tenth of a standard deviation from their optimum
	closeTo(t, "loss", values["held_out_log_loss"], best, 0.01)
	if got.Report.Hyperparameters != "heldout" || got.Report.ELBO == nil || got.Report.ELBOMode != nil || got.Report.HyperPrior != nil ||
		got.Report.ParetoK != nil || got.Report.HyperEvaluations != 35 || len(got.Report.Warnings) > 0 {
		t.Errorf("%+v", got.Report)
	}
	weights = nil
	for k, m := range got.Members {
		a := got.Report.Averaged[k]
		variance := a.Variances[0].Value
		model.Prior = prior.Normal{Variance: param.Hold(variance)}
		stated := fitted(t, model, Config{Diagnostics: -1, Hyper: param.Mode}, data)
		if k == 0 {
			closeTo(t, "bound", *got.Report.ELBO, *stated.Report.ELBO, 1e-6)
		}
		q, want := m.Posterior.(*posterior.Diagonal), stated.Members[0].Posterior.(*posterior.Diagonal)
		for j := range q.Mean {
			if sd := math.Sqrt(want.Variance[j]); !(math.Abs(q.Mean[j]-want.Mean[j]) <= 1e-2*sd) || !(math.Abs(q.Variance[j]/(a.Spread*want.Variance[j])-1) <= 1e-2) {
				t.Fatalf("member %d, weight %d: %v, %v, stated %v, %v", k, j, q.Mean[j], q.Variance[j], want.Mean[j], want.Variance[j])
			}
		}
		closeTo(t, "law", m.Model.Prior.(prior.Normal).Variances[0], a.Spread*variance, 1e-12*variance)
		losses := lossBy(t, model, data, fold, 5, variance)
		closeTo(t, "loss of a member", a.Loss, losses[slices.Index(spreads, a.Spread)], 0.01)
		closeTo(t, "density of a member", math.Log(m.Weight/got.Members[0].Weight), n*(got.Report.Averaged[0].Loss-a.Loss), 1e-9)
		weights = append(weights, m.Weight)
	}
	closeTo(t, "weights", kernel.Sum(weights), 1, 1e-12)
	if len(weights) < 2 || !slices.IsSortedFunc(weights, func(a, b float64) int { return cmp.Compare(b, a) }) || weights[len(weights)-1] < leastPart*weights[0] {
		t.Errorf("weights of members %v", weights)
	}
	must.Succeed(t, got.CheckWeights())
}

// TestHeldOutDefault: it is the default of classes and counts with many weights that are learned, and of nothing else.
func TestHeldOutDefault(t *testing.T) {
	wide := plain{p: base.FullWeights + 1}
	for _, c := range []struct {
		features credence.Features
		family   credence.Likelihood
		prior    prior.Normal
		config   Config
		want     param.Treatment
	}{
		{wide, likelihood.Bernoulli{}, normal, Config{}, param.Heldout},
		{wide, likelihood.Poisson{}, normal, Config{}, param.Heldout},
		{wide, likelihood.OrdinalGrades(3), normal, Config{}, param.Heldout},
		{plain{p: base.FullWeights}, likelihood.Bernoulli{}, normal, Config{}, param.Mode},
		{exclusive{wide}, likelihood.Bernoulli{}, normal, Config{}, param.Mode},
		{fourier(t, 1, 1500, false), likelihood.Bernoulli{}, normal, Config{}, param.Mode},
		{wide, likelihood.Gaussian{}, normal, Config{}, param.Mode},
		{wide, likelihood.Gamma{}, normal, Config{}, param.Mode},
		{wide, likelihood.Bernoulli{}, held(1), Config{}, param.Mode},
		{wide, likelihood.Bernoulli{}, prior.Normal{ARD: true}, Config{}, param.Mode},
		{wide, likelihood.Bernoulli{}, normal, Config{Components: 2}, param.Mode},
		{wide, likelihood.Bernoulli{}, normal, Config{Batch: 50}, param.Mode},
		{wide, likelihood.Bernoulli{}, normal, Config{Covariance: Full}, param.Mode},
		{wide, likelihood.Bernoulli{}, normal, Config{Hyper: param.Mode}, param.Mode},
	} {
		if e := must.Value(New(credence.Model{Features: c.features, Likelihood: c.family, Prior: c.prior}, c.config))(t); e.config.Hyper != c.want {
			t.Errorf("%T %v %v %+v: %s", c.features, c.family, c.prior, c.config, e.config.Hyper)
		}
	}
	for _, c := range []struct {
		prior    prior.Normal
		features credence.Features
		config   Config
		want     string
	}{
		{normal, wide, Config{Covariance: Full}, "one component of independent weights on all rows"},
		{normal, wide, Config{Components: 3}, "one component of independent weights on all rows"},
		{normal, wide, Config{Epochs: 3}, "one component of independent weights on all rows"},
		{normal, wide, Config{Approximation: Laplace}, "one component of independent weights on all rows"},
		{prior.Normal{ARD: true}, wide, Config{}, "leave ard=true out"},
		{normal, fourier(t, 2, 8, true), Config{}, "learns no hyper-parameters of features: state"},
	} {
		c.config.Hyper = param.Heldout
		if _, err := New(credence.Model{Features: c.features, Likelihood: likelihood.Bernoulli{}, Prior: c.prior}, c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.config, err)
		}
	}
}

// exclusive are columns of which a row has one at most.
type exclusive struct{ plain }

func (f exclusive) LevelRuns() []ability.LevelRun {
	last := f.plain.Blocks()[len(f.plain.Blocks())-1]
	return []ability.LevelRun{{Key: last.Name, First: last.First, Levels: last.Count, Columns: 1}}
}

func (f exclusive) DenseWeights() int { return f.Weights() }

// blocks are plain columns in two blocks.
type blocks struct {
	plain
	first int
}

func (f blocks) Blocks() []credence.Block {
	return []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "few", First: 1, Count: f.first}, {Name: "many", First: 1 + f.first, Count: f.p - f.first}}
}

// TestHeldOutAverage: choices count by the density of all rows left out, from a twentieth of the best on, eight at
// most; one that was tried twice counts once.
func TestHeldOutAverage(t *testing.T) {
	r := newFit(t, credence.Model{Features: plain{p: 3}, Likelihood: likelihood.Bernoulli{}, Prior: normal}, Config{Hyper: param.Heldout}, wideRows(20, 3, 1, 1))
	r.start = must.Value(r.Start(t.Context(), r.Rows(0), r.All()))(t)
	average := func(sums ...[]float64) (weights []float64) {
		c := &choice{fit: r, state: new(tries), learned: []int{0}, squares: []float64{1}, weight: 10}
		for k, s := range sums {
			c.state.Tried = append(c.state.Tried, tried{Steps: []int{k / 2 * 2}, Sums: s}) // every second again
		}
		for _, a := range c.average() {
			weights = append(weights, a.Weight)
		}
		return weights
	}
	for _, c := range []struct{ got, want []float64 }{
		{average([]float64{-5, -5 - math.Log(19), -5 - math.Log(21)}), []float64{0.95, 0.05}},
		{average([]float64{-7, -900, -900}, []float64{-7.001, -900, -900}, []float64{-7 - math.Ln2, -900, -900}), []float64{2.0 / 3, 1.0 / 3}},
		{average([]float64{0, 0, 0}, nil, []float64{0, 0, 0}, nil, []float64{0, 0, 0}), slices.Repeat([]float64{0.125}, 8)},
	} {
		if !slices.EqualFunc(c.got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("weights %v, want %v", c.got, c.want)
		}
	}
}

// TestHeldOutBlocks: of two blocks that one which matters has the larger variance in units of its scale, and the loss
// is below that of a common step.
func TestHeldOutBlocks(t *testing.T) {
	data := wideRows(150, 60, 7, 1.5)
	model := credence.Model{Features: blocks{plain{p: 60, intercept: true}, 3}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	e := must.Value(New(model, Config{Hyper: param.Heldout}))(t)
	steps := map[string][]int{}
	losses := map[string]float64{}
	for _, with := range []string{"each", "common"} {
		r := must.Value(e.newFit(data))(t)
		must.Value(r.diagonal(context.Background(), nil))(t)
		steps[with], losses[with] = stepsOf(r), r.averaged[0].Loss
		if with == "each" && !(steps[with][0] > steps[with][1]) {
			t.Errorf("steps %v", steps[with])
		}
		model.Features = plain{p: 60, intercept: true}
		e = must.Value(New(model, Config{Hyper: param.Heldout}))(t)
	}
	if !(losses["each"] < losses["common"]-0.005) {
		t.Errorf("losses %v at %v", losses, steps)
	}
}

// TestHeldOutSplits: a fifth is left out at a time, once each of few rows and once of more; of many as many as are
// stated. Rows without weight are in no part.
func TestHeldOutSplits(t *testing.T) {
	for _, c := range []struct{ rows, folds, out int }{{100, 5, 20}, {2_000, 5, 400}, {2_001, 1, 401}, {20_000, 1, 4_000}, {40_000, 1, 4_000}, {3, 3, 1}, {1, 0, 0}} {
		data := &memory{x: linop.NewDense(c.rows+7, 1), y: make([]float64, c.rows+7), weight: slices.Repeat([]float64{1}, c.rows+7)}
		for i := range data.y {
			data.y[i] = float64(i % 3 % 2)
			if i%max(1, c.rows/8) == 0 && data.weight[i] > 0 {
				data.weight[i] = 0
			}
		}
		count := 0.0
		for _, w := range data.weight {
			count += w
		}
		for i := 0; count != float64(c.rows); i++ {
			if count > float64(c.rows) && data.weight[i] > 0 {
				data.weight[i], count = 0, count-1
			} else if count < float64(c.rows) && data.weight[i] == 0 {
				data.weight[i], count = 1, count+1
			}
		}
		model := credence.Model{Features: plain{p: 1}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
		r := newFit(t, model, Config{Hyper: param.Heldout}, data)
		s := &choice{fit: r}
		must.Succeed(t, s.deal(context.Background()))
		if len(s.folds) != c.folds {
			t.Errorf("%d rows: %d folds", c.rows, len(s.folds))
		}
		times := make([]float64, len(data.y))
		for _, f := range s.folds {
			out := 0.0
			for i, w := range f.out {
				if out += w; w+f.fitted[i] != data.weight[i] {
					t.Fatalf("row %d of weight %v has %v and %v", i, data.weight[i], w, f.fitted[i])
				}
				times[i] += w
			}
			if !(math.Abs(out-float64(c.out)) <= 1) {
				t.Errorf("%d rows: %v left out", c.rows, out)
			}
		}
		if c.folds > 1 && !slices.Equal(times, data.weight) {
			t.Errorf("%d rows: not every row is left out once", c.rows)
		}
	}
}

// TestHeldOutCarried: a fit to other rows has the prior variances and the share of its start, and none are sought.
func TestHeldOutCarried(t *testing.T) {
	model := credence.Model{Features: blocks{plain{p: 30, intercept: true}, 3}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	first := fitted(t, model, Config{Hyper: param.Heldout}, wideRows(60, 30, 4, 6))
	first.Report.Averaged[0].Spread = 0.125 // whatever rows would choose
	for i := range first.Report.Hyper {
		if first.Report.Hyper[i].Name == spread {
			first.Report.Hyper[i].Value = 0.125
		}
	}
	other := wideRows(90, 30, 5, 6)
	got := fitted(t, model, Config{Hyper: param.Heldout, Start: first}, other)
	if !reflect.DeepEqual(got.Report.Hyper[1:], first.Report.Hyper[1:]) || got.Report.HyperEvaluations != 0 || got.Report.Hyperparameters != "heldout" {
		t.Errorf("%+v, the start has %+v", got.Report, first.Report)
	}
	if len(got.Members) != len(first.Members) || len(first.Members) < 2 || !reflect.DeepEqual(got.Report.Averaged, first.Report.Averaged) {
		t.Errorf("%d members, the start has %d", len(got.Members), len(first.Members))
	}
	again := fitted(t, model, Config{Hyper: param.Heldout, Start: got}, wideRows(60, 30, 4, 6))
	q, want := again.Members[0].Posterior.(*posterior.Diagonal), first.Members[0].Posterior.(*posterior.Diagonal)
	for j := range q.Mean {
		closeTo(t, "mean", q.Mean[j], want.Mean[j], 1e-3*math.Sqrt(want.Variance[j]))
	}
	if _, err := New(model, Config{Start: first}); err == nil || !strings.Contains(err.Error(), "state that, or leave it out") {
		t.Errorf("a start without heldout: %v", err)
	}
}

// TestHeldOutFew: rows too few to leave any out are fitted at the mode, and variances beyond reach are not taken.
func TestHeldOutFew(t *testing.T) {
	model := credence.Model{Features: plain{p: 4}, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	if got := fitted(t, model, Config{Hyper: param.Heldout}, wideRows(1, 4, 1, 1)).Report; got.Hyperparameters != "mode" || got.ELBOMode == nil {
		t.Errorf("one row: %+v", got)
	}
	model.Features = plain{p: 200}
	far := wideRows(40, 200, 2, 6)
	kernel.Scale(60, far.x.Row(0)) // the largest variances are beyond reach there
	got := fitted(t, model, Config{Hyper: param.Heldout}, far)
	if got.Report.Hyperparameters != "heldout" || !(got.Report.HyperEvaluations > 0) {
		t.Errorf("a row far off: %+v", got.Report)
	}
}

// TestHeldOutResumes: a fit that was interrupted wherever goes on to the same bytes, which are those of any number of
// threads; and so it does where a few huge columns take decades past the top, and each block goes on by itself.
func TestHeldOutResumes(t *testing.T) {
	for name, c := range map[string]struct {
		data     *memory
		features credence.Features
	}{
		"alike": {wideRows(80, 40, 9, 1.5), blocks{plain{p: 40, sparse: 20, intercept: true}, 5}},
		"mixed": {hugeRows(100, 20, 3), blocks{plain{p: 22, intercept: true}, 5}},
	} {
		t.Run(name, func(t *testing.T) { resumesHeldOut(t, c.data, c.features, name == "mixed") })
	}
}

func resumesHeldOut(t *testing.T, data *memory, features credence.Features, far bool) {
	model := credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	cfg := Config{Hyper: param.Heldout, Threads: 1}
	numbersOf := func(f *credence.Fitted) []any {
		list := []any{f.Report}
		for _, m := range f.Members {
			list = append(list, m.Posterior, m.Model.Prior, m.Weight)
		}
		return list
	}
	whole := fitted(t, model, cfg, data)
	if r := must.Value(must.Value(New(model, cfg))(t).newFit(data))(t); far {
		must.Value(r.diagonal(context.Background(), nil))(t)
		if slices.Max(stepsOf(r)) <= gridSteps+1 {
			t.Errorf("steps %v do not go past the top", stepsOf(r))
		}
	}
	cfg.Threads = 3
	if got := fitted(t, model, cfg, data); !reflect.DeepEqual(numbersOf(got), numbersOf(whole)) {
		t.Errorf("three threads: %+v, one %+v", got.Report, whole.Report)
	}
	cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	interruptions, stages := 0, map[string]bool{}
	for limit := 1; ; limit++ {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cfg.Progress = func(p credence.Progress) {
			if stages[p.Stage] = true; calls >= limit {
				cancel()
			}
			calls++
		}
		got, err := must.Value(New(model, cfg))(t).Fit(ctx, data)
		cancel()
		if errors.Is(err, context.Canceled) {
			interruptions++
			continue
		}
		must.Succeed(t, err)
		if !reflect.DeepEqual(numbersOf(got), numbersOf(whole)) {
			t.Errorf("after %d interruptions %+v, uninterrupted %+v", interruptions, got.Report, whole.Report)
		}
		break
	}
	if interruptions < 3 || len(stages) < 2 {
		t.Errorf("%d interruptions, stages %v", interruptions, stages)
	}
}
