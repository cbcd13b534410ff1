package active_test

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func simulated(t *testing.T, rows *credence.Batch, o active.Options) *active.Simulation {
	t.Helper()
	found, err := active.Simulate(context.Background(), modelOf(rows), conform.Memory{All: rows}, o)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func modelOf(rows *credence.Batch) credence.Model {
	return credence.Model{
		Features: conform.Columns{Dense: rows.X.Cols, Intercept: true}, Likelihood: likelihood.Bernoulli{Link: likelihood.Logit}, Prior: prior.Normal{Variance: param.Hold(1)},
	}
}

// TestSimulate: curves have their points, the last one under random labels is what a fit to the whole
// pool gives where the whole pool is labelled, results do not depend on threads, and information needs
// fewer labels than chance.
func TestSimulate(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 1500, 12, 4)
	for i := range 1500 { // most rows are far from the boundary
		for j := range 12 {
			rows.X.Row(i)[j] *= 1 + 2*float64(i%2)
		}
	}
	o := active.Options{Pool: 700, Initial: 20, Block: 5, Labels: 120, Repeats: 3, Every: 50, Scores: []active.Score{active.Information, active.Random, active.BALD}, Seed: 1, Threads: 1}
	found := simulated(t, rows, o)
	area := map[active.Score]float64{}
	for _, score := range o.Scores {
		curve := found.Scores[score]
		if len(curve) != 3 || curve[0].Labels != 20 || curve[1].Labels != 70 || curve[2].Labels != 120 || len(found.Repeats[score]) != 3 {
			t.Fatalf("%s: %v of %d repeats", score, curve, len(found.Repeats[score]))
		}
		if curve[0] != found.Scores[active.Random][0] {
			t.Errorf("%s starts at %v, random at %v", score, curve[0], found.Scores[active.Random][0])
		}
		for k, at := range curve {
			mean := 0.0
			for _, c := range found.Repeats[score] {
				mean += c[k].LogLoss / 3
			}
			if !(math.Abs(mean-at.LogLoss) <= 1e-12) {
				t.Errorf("%s: mean log loss %v, want %v", score, at.LogLoss, mean)
			}
		}
		area[score] = curve[1].LogLoss + curve[2].LogLoss
	}
	t.Logf("log losses at 70 and 120 labels together: %v; full %v", area, found.Full)
	if !(area[active.Information] < area[active.Random]) {
		t.Errorf("information %v, random %v", area[active.Information], area[active.Random])
	}
	if o.Threads = 2; !reflect.DeepEqual(found, simulated(t, rows, o)) {
		t.Error("two threads give another result")
	}
	o.Pool, o.Labels, o.Repeats, o.Block, o.Scores = 60, 60, 1, 7, []active.Score{active.Random, active.Uncertainty}
	all := simulated(t, rows, o)
	for _, score := range o.Scores {
		last := all.Scores[score][len(all.Scores[score])-1]
		if last.Labels != 60 || math.Abs(last.LogLoss-all.Full.LogLoss) > 6e-3 { // one step a block is that near
			t.Errorf("%s: the whole pool by blocks gives %v, at once %v", score, last, all.Full)
		}
	}
}

// TestLast: a run ends at the labels asked for, whatever the block, and rows picked by chance are classed
// about as well as the rows outside the pool.
func TestLast(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 200, 2, 4)
	for i := range rows.Target {
		if rows.Target[i] = 0; rows.X.Row(i)[0] > 0 {
			rows.Target[i] = 1
		}
	}
	found := simulated(t, rows, active.Options{Pool: 100, Initial: 30, Block: 7, Labels: 75, Every: 45, Repeats: 1, Audit: 0.5, Scores: []active.Score{active.Information}, Threads: 1})
	curve := found.Scores[active.Information]
	last := curve[len(curve)-1]
	if last.Labels != 75 || last.Audit == nil || last.Audit.Rows < 15 || last.Audit.Error > 0.25 {
		t.Errorf("%+v, audit %+v", last, last.Audit)
	}
	// The mean over repeats is of all rows that were picked by chance.
	found = simulated(t, rows, active.Options{Pool: 100, Initial: 30, Block: 7, Labels: 75, Every: 45, Repeats: 3, Audit: 0.5, Scores: []active.Score{active.Information}, Threads: 1})
	last, audited, wrong := found.Scores[active.Information][len(curve)-1], 0, 0.0
	for _, repeat := range found.Repeats[active.Information] {
		a := repeat[len(curve)-1].Audit
		audited, wrong = audited+a.Rows, wrong+a.Error*float64(a.Rows)
	}
	if last.Audit.Rows != audited || !(math.Abs(last.Audit.Error-wrong/float64(audited)) <= 1e-12) {
		t.Errorf("audit %+v, want %v wrong of %d", last.Audit, wrong, audited)
	}
}

// TestMeasure: the error and the log loss of the whole pool are those of a fit and its predictions.
func TestMeasure(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 300, 3, 4)
	rows.Weight = make([]float64, 300)
	for i := range rows.Weight {
		rows.Weight[i] = float64(1 + i%2)
	}
	found := simulated(t, rows, active.Options{Pool: 200, Initial: 200, Labels: 200, Repeats: 1, Scores: []active.Score{active.Random}, Threads: 1})
	order := credence.Rand(0, credence.ActiveSplit, 0).Perm(300)
	train := &credence.Batch{}
	test := map[int]bool{}
	for k, i := range order {
		if k < 200 {
			train.X.Data = append(train.X.Data, rows.X.Row(i)...)
			train.Target, train.Weight = append(train.Target, rows.Target[i]), append(train.Weight, rows.Weight[i])
		} else {
			test[i] = true
		}
	}
	train.X.Rows, train.X.Cols, train.X.Stride = 200, 3, 3
	engine, err := convex.New(modelOf(rows), convex.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := engine.Fit(context.Background(), conform.Memory{All: train})
	if err != nil {
		t.Fatal(err)
	}
	dist, err := fitted.Distribution(credence.NewWorkspace(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	loss, wrong, mass := 0.0, 0.0, 0.0
	for i := range test {
		p, _ := dist.Moments(i)
		if rows.Target[i] == 0 {
			p = 1 - p
		}
		loss -= rows.Weight[i] * math.Log(p)
		mass += rows.Weight[i]
		if p < 0.5 {
			wrong += rows.Weight[i]
		}
	}
	if !(math.Abs(found.Full.LogLoss-loss/mass) <= 1e-6) || !(math.Abs(found.Full.Error-wrong/mass) <= 1e-12) {
		t.Errorf("error %v and log loss %v, want %v and %v", found.Full.Error, found.Full.LogLoss, wrong/mass, loss/mass)
	}
}

// TestOptions: what makes no sense is refused.
func TestOptions(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 50, 2, 4)
	for _, o := range []active.Options{
		{Pool: 50}, {Pool: -1}, {Pool: 20, Labels: 21}, {Initial: 9, Labels: 8}, {Scores: []active.Score{"best"}},
		{Scores: []active.Score{active.Random, active.Random}},
	} {
		if _, err := active.Simulate(context.Background(), modelOf(rows), conform.Memory{All: rows}, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	numbers := modelOf(rows)
	numbers.Likelihood = likelihood.Gaussian{NoiseVariance: param.Hold(1)}
	if _, err := active.Simulate(context.Background(), numbers, conform.Memory{All: rows}, active.Options{}); err == nil {
		t.Error("numbers are taken")
	}
}

// TestSimulationIsOfItsRows: the runs of a checkpoint are taken up for the same rows alone.
func TestSimulationIsOfItsRows(t *testing.T) {
	rows := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 60, 2, 4)
	rows.Weight, rows.Offset = make([]float64, 60), make([]float64, 60)
	for i := range rows.Weight {
		rows.Weight[i] = 1
	}
	o := active.Options{Pool: 30, Initial: 10, Block: 5, Labels: 20, Repeats: 1, Scores: []active.Score{active.Random}, Seed: 1, Checkpoint: filepath.Join(t.TempDir(), "runs")}
	if found := simulated(t, rows, o); !reflect.DeepEqual(found, simulated(t, rows, o)) {
		t.Error("another result from the checkpoint")
	}
	for what, value := range map[string]*float64{"weight": &rows.Weight[7], "offset": &rows.Offset[7], "target": &rows.Target[7], "column": &rows.X.Data[7]} {
		before := *value
		*value = before + 1
		if what == "target" {
			*value = 1 - before
		}
		if _, err := active.Simulate(t.Context(), modelOf(rows), conform.Memory{All: rows}, o); err == nil || !strings.Contains(err.Error(), "it is of other data") {
			t.Errorf("another %s: %v", what, err)
		}
		*value = before
	}
}

// What a simulation is not for is said with what it was given.
func TestSimulationRefusals(t *testing.T) {
	if err := (active.Options{Repeats: 1_000_000_000}).Validate(); err == nil {
		t.Error("repeats without a bound are taken")
	}
	model := credence.Model{Likelihood: likelihood.Gaussian{}}
	if _, err := active.Simulate(t.Context(), model, nil, active.Options{}); err == nil || !strings.Contains(err.Error(), "not gaussian: name a target of two classes") {
		t.Errorf("numbers: %v", err)
	}
}
