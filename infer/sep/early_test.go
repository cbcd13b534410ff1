package sep

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/safetensors"
)

// Rows that are learned again until nothing moves are learned by expectation propagation with a
// factor for every row, whatever the first pass left: the oracle has the same fixed point.
func TestReplayAgainstEP(t *testing.T) {
	const tolerance = 0.003 // of inclusion: half of what a pass of one that has converged may move
	for name, p := range map[string]*simulated{"dense": denseProblem(2000, 50, 7), "few": denseProblem(300, 10, 3)} {
		l := learnerOf(t, p, Config{}, p.hyper())
		before := rmse(p.ofLearner(l).inclusion, p.fullEP(60).inclusion)
		if _, converged, err := l.replay(mostPasses, false, nil); !converged || err != nil {
			t.Fatalf("%s: a replay does not converge (%v)", name, err)
		}
		after := rmse(p.ofLearner(l).inclusion, p.fullEP(60).inclusion)
		t.Logf("%s: inclusion RMSE to EP %.4f after one pass, %.4f when learned again", name, before, after)
		if after > tolerance || before < 1.5*after {
			t.Errorf("%s: inclusion RMSE to EP %.4f after one pass, %.4f when learned again", name, before, after)
		}
	}
}

// learnerOf is a learner that has learned the rows of a problem once.
func learnerOf(t *testing.T, p *simulated, cfg Config, hyper Hyper) *Learner {
	t.Helper()
	l := must.Value(NewLearner(cfg, hyper))(t)
	l.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
	return l
}

// A row of weight 2 is learned again as the row twice is, and one of weight 4 among few rows as four, where it shows
// what a row is made anew without.
func TestReplayOfWeights(t *testing.T) {
	for _, c := range []struct{ rows, features, weight int }{{300, 10, 2}, {40, 4, 4}} {
		p := denseProblem(c.rows, c.features, 5)
		weighted, copied := batchOf(p.x, p.y), *p
		for i := range p.rows {
			weight := 1 + i%2*(c.weight-1)
			weighted.Weight = append(weighted.Weight, float64(weight))
			for range weight - 1 {
				copied.x, copied.y = append(copied.x, p.x[i]), append(copied.y, p.y[i])
			}
		}
		copied.rows = len(copied.x)
		a := learnerOf(t, &copied, Config{}, p.hyper())
		b, _ := NewLearner(Config{}, p.hyper())
		b.Learn(weighted, make([]float64, p.rows))
		a.Finish()
		b.Finish()
		for j := range p.features {
			v, w := a.Weight(j), b.Weight(j)
			// Either is without one copy of the row where its factor is made: they differ by how far they converged.
			if !(math.Abs(v.Mean-w.Mean) <= 0.02*math.Sqrt(v.Variance)) || !(math.Abs(v.Inclusion-w.Inclusion) <= included) {
				t.Errorf("of %d rows weight %d is %+v where rows are repeated, %+v where they have weights", c.rows, j, v, w)
			}
		}
	}
}

// Rows whose offsets tell the class say next to nothing of a feature that goes with it, the second time as the first.
func TestReplayOfOffsets(t *testing.T) {
	p := denseProblem(300, 1, 5)
	weight := func(offset float64) float64 {
		batch := batchOf(p.x, p.y)
		for i := range p.rows {
			batch.Sparse.Value[i] = float64(2*p.y[i] - 1)
			batch.Offset = append(batch.Offset, offset*float64(2*p.y[i]-1))
		}
		l, _ := NewLearner(Config{}, p.hyper())
		l.Learn(batch, make([]float64, p.rows))
		l.Finish()
		return l.Weight(0).Mean
	}
	if with, without := weight(8), weight(0); !(math.Abs(with) < 0.2*math.Abs(without)) {
		t.Errorf("where offsets tell the class the weight is %v, without them %v", with, without)
	}
}

// Scores are those before a row was learned at all: up to the replay they are those of a learner
// without one, to the bit, and behind it they are better.
func TestScoresAreFromBeforeTheReplay(t *testing.T) {
	p := oneHotProblem(earlyRows+4000, []int{5, 40, 400}, 3)
	batch := batchOf(p.x, p.y)
	again, _ := NewLearner(Config{}, Hyper{})
	once, _ := NewLearner(Config{}, Hyper{})
	once.early.stage = sample
	a, b := make([]float64, p.rows), make([]float64, p.rows)
	again.Learn(batch, a)
	once.Learn(batch, b)
	if !slices.Equal(a[:earlyRows], b[:earlyRows]) {
		t.Error("scores of the rows that are kept changed")
	}
	if slices.Equal(a[earlyRows:], b[earlyRows:]) {
		t.Error("the rows were not learned again")
	}
	if again.early.stage != sample || again.early.rows.Rows != earlyRows {
		t.Errorf("stage %d with %d rows behind the replay", again.early.stage, again.early.rows.Rows)
	}
	few := oneHotProblem(earlyRows+10, []int{5, 40}, 3)
	for i := range few.y {
		few.y[i] = 0
		if i < rarerReplay-1 {
			few.y[i] = 1
		}
	}
	again, _ = NewLearner(Config{}, Hyper{})
	once, _ = NewLearner(Config{}, Hyper{})
	once.early.stage = sample
	again.Learn(batchOf(few.x, few.y), make([]float64, few.rows))
	once.Learn(batchOf(few.x, few.y), make([]float64, few.rows))
	if again.Weight(0) != once.Weight(0) {
		t.Error("rows with hardly any of one class are learned again")
	}
}

// Entries bound the rows that are kept, and later passes add none.
func TestEarlyRowsAreBounded(t *testing.T) {
	p := oneHotProblem(600, []int{5, 40}, 3)
	l := learnerOf(t, p, Config{}, Hyper{})
	if l.EndPass(); l.early.stage != whole {
		t.Errorf("stage %d behind the first pass", l.early.stage)
	}
	l.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
	if l.early.rows.Rows != p.rows {
		t.Errorf("%d rows are kept of %d", l.early.rows.Rows, p.rows)
	}
	l, _ = NewLearner(Config{}, Hyper{})
	l.early.entries = 300
	l.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
	if l.early.stage != sample || l.early.rows.Rows != 150 { // of two entries each
		t.Errorf("stage %d with %d rows of 300 entries", l.early.stage, l.early.rows.Rows)
	}
	if l, _ = NewLearner(Config{Forget: 100}, Hyper{}); l.early.stage != sample {
		t.Error("a learner that forgets keeps its first rows")
	}
}

// An inclusion above a half is learned where most weights matter, without rare features being
// called selected; at the bound a warning says so.
func TestLargeInclusion(t *testing.T) {
	p := oneHotProblem(20000, []int{5, 10, 20, 3000}, 4)
	p.y, p.testTruth = nil, nil
	p.draw(rand.New(rand.NewPCG(6, 6)), p.x, p.testX, 0.9, 0.7, -0.8)
	l := learnerOf(t, p, Config{}, Hyper{})
	l.Finish()
	t.Logf("inclusion %.3f, slab %.3f: %d of %d selected", l.prior.inclusion, l.prior.slab, l.selected, l.features)
	if l.prior.inclusion < 0.4 || l.prior.inclusion > 0.95 {
		t.Errorf("inclusion %.3f where most weights matter", l.prior.inclusion)
	}
	if l.selected < 15 || l.selected > l.features/10 {
		t.Errorf("%d of %d features are selected", l.selected, l.features)
	}
	if len(l.warnings()) > 0 {
		t.Errorf("warnings %q", l.warnings())
	}
	l.setPrior(largestInclusion, l.prior.slab)
	if w := l.warnings(); len(w) != 1 || !strings.Contains(w[0], "up to its bound, 0.99") {
		t.Errorf("warnings at the bound: %q", w)
	}
	l.setPrior(1/(1+math.Exp(-smallestLogit)), math.Exp(largestLogSlab))
	if w := l.warnings(); len(w) != 2 || !strings.Contains(w[0], "down to its bound, 2e-09") || !strings.Contains(w[1], "slab was learned to its bound, 7e+10") {
		t.Errorf("warnings at the other bounds: %q", w)
	}
	l.setPrior(largestInclusion, 1)
	l.hyper.Inclusion = held(largestInclusion)
	if w := l.warnings(); len(w) > 0 {
		t.Errorf("warnings of a stated inclusion: %q", w)
	}
}

// Early rows of a state that were not learned are refused.
func TestEarlyStates(t *testing.T) {
	p := oneHotProblem(600, []int{5, 40}, 3)
	l := learnerOf(t, p, Config{}, Hyper{})
	document, tensors, err := l.State()
	must.Succeed(t, err)
	for name, tensor := range map[string]safetensors.Tensor{
		"labels":  safetensors.Of(statePrefix+"early.labels", slices.Repeat([]uint8{2}, p.rows)),
		"weights": safetensors.Of(statePrefix+"early.weights", make([]float64, p.rows)),
		"offsets": safetensors.Of(statePrefix+"early.offsets", slices.Repeat([]float64{math.Inf(1)}, p.rows)),
		"lengths": safetensors.Of(statePrefix+"early.lengths", slices.Repeat([]int32{3}, p.rows)),
		"slots":   safetensors.Of(statePrefix+"early.slots", slices.Repeat([]int32{45}, 2*p.rows)),
		"values":  safetensors.Of(statePrefix+"early.values", make([]float64, 3)),
	} {
		changed := slices.Clone(tensors)
		changed[slices.IndexFunc(changed, func(t safetensors.Tensor) bool { return t.Name == tensor.Name })] = tensor
		if _, err := restoreAny(t, document, changed); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
}

// With few rows a cavity differs much from q, and what is left of a row in it shows. Where no prior
// factor would be negative the fixed point is one and the same.
func TestReplayCavities(t *testing.T) {
	const tolerance = 1e-3
	for _, seed := range []uint64{4, 5, 7, 9} {
		p := denseProblem(40, 4, seed)
		l := learnerOf(t, p, Config{}, p.hyper())
		l.Finish()
		if l.events.NegativeSites > 0 {
			t.Fatalf("seed %d: %d negative sites", seed, l.events.NegativeSites)
		}
		ep, got := p.fullEP(300), p.ofLearner(l)
		if distance := rmse(got.inclusion, ep.inclusion); distance > tolerance {
			t.Errorf("seed %d: inclusion RMSE to EP %.5f", seed, distance)
		}
		if distance := rmse(got.test, ep.test); distance > tolerance {
			t.Errorf("seed %d: RMSE of predictions to EP %.5f", seed, distance)
		}
	}
}

// A replay ends where ρ0 and τ0 have been learned from what it found.
func TestReplayLearnsThePrior(t *testing.T) {
	l := learnerOf(t, denseProblem(600, 30, 3), Config{}, Hyper{})
	start := l.prior
	l.Finish()
	end := l.prior
	l.moveHyper(l.sampled())
	moved := math.Hypot(l.prior.logit-end.logit, math.Log(l.prior.slab/end.slab))
	if began := math.Hypot(start.logit-end.logit, math.Log(start.slab/end.slab)); moved > 0.02 || began < 0.1 {
		t.Errorf("ρ0 and τ0 move by %.4f behind a replay, and by %.4f in it", moved, began)
	}
}

// Rows that are kept have slots, which pruning changes.
func TestPruningDropsEarlyRows(t *testing.T) {
	p := oneHotProblem(1200, []int{5, 40}, 3)
	l := learnerOf(t, p, Config{Prune: 0.4}, Hyper{Inclusion: held(0.01), Slab: held(0.1)})
	if l.Prune() == nil {
		t.Fatal("nothing is pruned")
	}
	if l.early.rows.Rows > 0 || l.early.stage != sample {
		t.Errorf("%d rows of other slots are kept", l.early.rows.Rows)
	}
}
