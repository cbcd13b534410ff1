package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// bound returns the bound of k components under a prior variance of 1.
func bound(t *testing.T, rows *credence.Batch, features credence.Features, lik problem.Likelihood, k int) *Bound {
	t.Helper()
	unit := prior.Normal{Variance: param.Parameter{Value: 1, State: param.Held}}
	groups := must.Value(base.Groups("test", features, unit))(t)
	p := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, lik, rows), Features: features, Likelihood: lik, Prior: unit, Groups: groups, Dims: features.Weights()}
	q := NewBound(p, k, must.Value(p.Start(context.Background(), p.Rows(0), p.Rows(0)))(t).Family)
	q.Tune()
	return q
}

// TestSamplerIsUnbiased: over many minibatches' worth of draws, sampled gradients agree with
// integrals over f within five standard errors, those of lengthscales too.
func TestSamplerIsUnbiased(t *testing.T) {
	for _, features := range []credence.Features{conform.Columns{Dense: 2, Sparse: 1}, fourier(t, 3, 4)} {
		lik := likelihood.NegativeBinomial{}
		rows := conform.Regression(lik, 50, 3, 2)
		rows.Weight = make([]float64, 50)
		for i := range 50 {
			rows.Weight[i] = float64(i % 3)
		}
		q := bound(t, rows, features, lik, 2)
		rng := rand.New(rand.NewPCG(3, 4))
		x := make([]float64, q.Size())
		for i := range x {
			x[i] = 0.3 * rng.NormFloat64()
		}
		all := q.Rows(0)
		all.Move(features) // Pullback needs the inputs
		b := must.Value(all.Block(context.Background(), 0))(t)
		take := func(gradient []float64, draws *sampler) float64 {
			q.Begin(x)
			q.add(b, x, 7, draws, features)
			return q.Finish(gradient, x)
		}
		want := make([]float64, len(x)+1)
		want[len(x)] = take(want[:len(x)], nil)
		const repeats = 400
		mean, square := make([]float64, len(x)+1), make([]float64, len(x)+1)
		for i := range repeats {
			got := make([]float64, len(x)+1)
			got[len(x)] = take(got[:len(x)], &sampler{draws: 10, rng: credence.Rand(1, "test", uint64(i))})
			for j, v := range got {
				gap := v - mean[j]
				mean[j] += gap / float64(i+1)
				square[j] += gap * (v - mean[j])
			}
		}
		for j, m := range mean {
			if se := math.Sqrt(square[j]) / repeats; !(math.Abs(m-want[j]) <= 5*se+1e-9) {
				t.Errorf("variable %d: sampled slope %g ± %g, integrated %g", j, m, se, want[j])
			}
		}
	}
}

// TestFeed: minibatches show every row once an epoch, and with the factor N/M their bounds and
// gradients average to those of all rows, for equal sizes exactly (rounding).
func TestFeed(t *testing.T) {
	if got := problem.Scale(1000, 50); got != 20 {
		t.Errorf("N/M of 1000 and 50 is %g", got)
	}
	features := conform.Columns{Dense: 3}
	q := bound(t, conform.Regression(likelihood.Bernoulli{}, 60, 3, 2), features, likelihood.Bernoulli{}, 1)
	x := []float64{0.3, -0.2, 0.1, -1, -2, -1.5}
	want, mean := make([]float64, 7), make([]float64, 7)
	var err error
	want[6], err = q.Evaluate(context.Background(), q.Rows(0), want[:6], x)
	must.Succeed(t, err)
	feed := newFeed(q.Problem, 12, 0)
	feed.shuffle(3)
	batches, seen := 0, map[float64]int{}
	for len(feed.left) > 0 {
		b := must.Value(feed.next(context.Background(), features))(t)
		for i := range b.Rows() {
			seen[b.Phi.Dense.Row(i)[0]]++
		}
		got := make([]float64, 7)
		q.Begin(x)
		q.add(b, x, problem.Scale(feed.Data.Total(), b.Rows()), nil, features)
		got[6] = q.Finish(got[:6], x)
		for j, v := range got {
			mean[j] += v / 5
		}
		batches++
	}
	if batches != 5 || len(seen) != 60 {
		t.Errorf("%d minibatches show %d rows, want 5 and 60", batches, len(seen))
	}
	for j, v := range want {
		if !(math.Abs(mean[j]-v) <= 1e-10) {
			t.Errorf("mean %d is %g, want %g", j, mean[j], v)
		}
	}
}

// TestStartsDrawApart: the draws of a step are of its start, and the same whenever it is taken.
func TestStartsDrawApart(t *testing.T) {
	features := conform.Columns{Dense: 3}
	q := bound(t, conform.Regression(likelihood.Bernoulli{}, 60, 3, 2), features, likelihood.Bernoulli{}, 1)
	f := New(q, nil, Options{Seed: 1, Minibatches: &Minibatches{Batch: 60, Samples: 4, Rate: 0.1}})
	first := func(start int) []float64 {
		state := &Epochs{z: []float64{0.3, -0.2, 0.1, -1, -2, -1.5}, scale: slices.Repeat([]float64{1}, 6), Largest: 1}
		c := &stochastic{f, f.Minibatches, state, start, newFeed(q.Problem, 60, 1)}
		c.feed.shuffle(3)
		gradient := make([]float64, 6)
		must.Value(c.step(context.Background(), gradient, make([]float64, 6)))(t)
		return gradient
	}
	if one := first(1); slices.Equal(one, first(2)) || !slices.Equal(one, first(1)) {
		t.Errorf("the slopes of the first step of two starts are %v and %v, and again %v", one, first(2), first(1))
	}
}

// TestSettled: minibatches stop where two epochs gain less than the tolerance says, and not before.
func TestSettled(t *testing.T) {
	for gain, want := range map[float64]bool{0.9: true, 1.1: false, -5: true} {
		bounds := []float64{3, 7, 7.5, 7.25, 7.5 + gain, 7.25 + gain}
		if got := settled(bounds, 1); got != want {
			t.Errorf("a gain of %g in two epochs, of at least 1, is settled: %v", gain, got)
		}
		if settled(bounds[3:], 100) {
			t.Error("three epochs cannot be settled")
		}
	}
}

// TestRulesByHand: three steps of every rule along one variable, by the formulas of the papers written out.
func TestRulesByHand(t *testing.T) {
	g := [3]float64{2, -0.5, 1}
	const rate = 0.3
	sq := func(x float64) float64 { return x * x }
	for rule, want := range map[Rule]func(moves *[3]float64){
		SGD: func(m *[3]float64) {
			for k := range m {
				m[k] = rate * g[k]
			}
		},
		Momentum: func(m *[3]float64) {
			m[0], m[1] = rate*g[0], rate*(0.9*g[0]+g[1])
			m[2] = rate * (0.81*g[0] + 0.9*g[1] + g[2])
		},
		AdaGrad: func(m *[3]float64) {
			sum := 0.0
			for k := range m {
				sum += sq(g[k])
				m[k] = rate * g[k] / math.Sqrt(sum)
			}
		},
		AdaDelta: func(m *[3]float64) {
			of, moves := 0.0, 0.0
			for k := range m {
				of = 0.95*of + 0.05*sq(g[k])
				move := g[k] * math.Sqrt((moves+1e-6)/(of+1e-6))
				moves = 0.95*moves + 0.05*sq(move)
				m[k] = rate * move
			}
		},
		Adam: func(m *[3]float64) {
			first := [3]float64{0.1 * g[0], 0.09*g[0] + 0.1*g[1], 0.081*g[0] + 0.09*g[1] + 0.1*g[2]}
			second := [3]float64{0.001 * sq(g[0]), 0.000999*sq(g[0]) + 0.001*sq(g[1]), 0.000998001*sq(g[0]) + 0.000999*sq(g[1]) + 0.001*sq(g[2])}
			for k := range m {
				n := float64(k + 1)
				m[k] = rate * first[k] / (1 - math.Pow(0.9, n)) / math.Sqrt(second[k]/(1-math.Pow(0.999, n)))
			}
		},
	} {
		var moves [3]float64
		want(&moves)
		z, of := []float64{7, 1}, memory{}
		for k := range g {
			before := z[1]
			rule.step(&of, k+1, z, []float64{0, g[k]}, rate)
			if got := z[1] - before; !(math.Abs(got-moves[k]) <= 1e-6*math.Abs(moves[k])) || z[0] != 7 {
				t.Errorf("%s: step %d goes by %v, want %v; one without a slope stands at %v", rule, k+1, got, moves[k], z[0])
			}
		}
	}
}

// TestMinibatchesHaveTheirRows: a minibatch has as many rows as were asked for, but for the last of an epoch and what
// runs of equal length leave, in runs of up to 16 rows that stand together; every row comes once an epoch.
func TestMinibatchesHaveTheirRows(t *testing.T) {
	const rows = 1100
	q := bound(t, conform.Regression(likelihood.Bernoulli{}, rows, 1, 2), conform.Columns{Dense: 1}, likelihood.Bernoulli{}, 1)
	for batch, c := range map[int]struct{ run, size int }{1: {1, 1}, 60: {1, 60}, 64: {2, 64}, 100: {3, 99}, 256: {8, 256}, 1000: {16, 992}, 5000: {16, rows}} {
		feed := newFeed(q.Problem, batch, 4)
		feed.shuffle(2)
		total := 0
		for len(feed.left) > 0 {
			starts := slices.Clone(feed.left)
			b := must.Value(feed.next(context.Background(), q.Features))(t)
			taken := starts[:len(starts)-len(feed.left)]
			want := 0
			for _, first := range taken {
				want += min(c.run, rows-first)
			}
			if b.Rows() != want || len(feed.left) > 0 && (b.Rows() > c.size || b.Rows() <= c.size-c.run) {
				t.Fatalf("batch %d: %d rows in %d runs, want %d", batch, b.Rows(), len(taken), c.size)
			}
			total += b.Rows()
		}
		if total != rows {
			t.Errorf("batch %d: an epoch has %d rows", batch, total)
		}
	}
}
