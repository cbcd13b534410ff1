package active

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestRun: one block of a run is the picks of a block in which every pick is included with its own
// label, and a fit to them.
func TestRun(t *testing.T) {
	rows := poolOf(400)
	s := &simulation{
		Options: Options{Pool: 300, Initial: 15, Block: 30, Labels: 45, Every: 30, Threads: 1}, all: *rows,
		model: modelOfPool(),
	}
	order := credence.Rand(1, credence.ActiveSplit, 0).Perm(400)
	pool, test := order[:300], subset{rows, order[300:]}
	curve, err := s.run(context.Background(), Information, 0, pool, test, nil)
	if err != nil || len(curve) != 2 {
		t.Fatalf("%v: %v", err, curve)
	}
	var labels learner
	before := must.Value(s.fit(context.Background(), pool[:15], &labels))(t)
	scorer := must.Value(NewScorer(before, Information, 0, 1))(t)
	var open credence.Batch
	must.Succeed(t, (subset{rows, pool[15:]}).Read(&open, 0, 285))
	block, labelled := blockOf(t, scorer, &open), append([]int(nil), pool[:15]...)
	for range 30 {
		i := block.Next()
		block.Include(i, open.Target[i])
		labelled = append(labelled, pool[15+i])
	}
	after := must.Value(s.fit(context.Background(), labelled, &labels))(t)
	want, err := s.measure(context.Background(), after, &labels, labelled, test)
	if err != nil || !(math.Abs(curve[1].LogLoss-want.LogLoss) <= 1e-12) || curve[1].Error != want.Error {
		t.Errorf("%v: the run ends at %v, by hand at %v", err, curve[1], want)
	}
}

func modelOfPool() credence.Model {
	return credence.Model{
		Features: conform.Columns{Dense: inputs, Intercept: true}, Likelihood: likelihood.Bernoulli{Link: likelihood.Logit}, Prior: prior.Normal{Variance: param.Hold(1)},
	}
}

// TestWithin: what is left out is filled in for the rows there are.
func TestWithin(t *testing.T) {
	o, err := Options{}.within(240)
	if err != nil || o.Pool != 120 || o.Labels != 120 || o.Initial != 100 || o.Block != 10 || o.Repeats != 5 || o.Every != 100 {
		t.Errorf("%v: %+v", err, o)
	}
	if o, err = (Options{}).within(100_000); err != nil || o.Pool != 16_000 || o.Labels != 2000 {
		t.Errorf("%v: %+v", err, o)
	}
}
