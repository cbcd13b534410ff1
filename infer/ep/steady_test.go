package ep

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestCalm: where sites that have not settled are left where they moved least, inclusions are those of there, too. What
// is learned rests for a sweep here, and then goes on.
func TestCalm(t *testing.T) {
	s := conform.NewSelection(40, 30, 4, 0.3, 1, 0.5, false, 6)
	e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
	f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
	f.steady = true
	f.begin()
	c := f.newCourse()
	must.Succeed(t, f.follow(context.Background(), c, 500, 0, func(iteration int, _ float64) float64 {
		if iteration > noRest+2 {
			f.logOdds += 0.1
		}
		if iteration == noRest+2 {
			return 0
		}
		return 1
	}, func() error { return nil }))
	if c.Settled || c.Calmest != noRest+2 {
		t.Fatalf("settled %t, calmest %d", c.Settled, c.Calmest)
	}
	told := f.inclusions()
	must.Value(f.sweep(0))(t)
	for j, a := range f.inclusions() {
		if !(math.Abs(a-told[j]) <= 1e-9) {
			t.Errorf("weight %d is in by %v, of the sites that are left by %v", j, told[j], a)
		}
	}
}

// TestSteady: sites that start again leave no weight wider than the slab, and end where they moved least; the slab
// and inclusions that had f vary far beyond the target have drifted.
func TestSteady(t *testing.T) {
	ctx := context.Background()
	for _, groups := range []bool{false, true} {
		s := conform.NewSelection(25, 120, 4, 0.9, 1, 0.3, false, 6)
		if groups {
			s.Features = conform.Columns{Dense: 120, Intercept: true, Together: []credence.Block{{First: 2, Count: 5}, {First: 30, Count: 20}}}
		}
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
		f := must.Value(e.newFit(ctx, conform.Memory{All: &s.Batch}))(t)
		f.steady = true
		f.begin()
		least := math.Inf(1)
		f.settle(ctx, 200, 0, func(iteration int, changed float64) float64 {
			moved := f.learn(iteration, changed)
			if far := math.Max(changed, moved); iteration > noRest {
				least = math.Min(least, far)
			}
			return moved
		})
		slab := math.Exp(2 * f.logSlab)
		for j, v := range f.q.variance[1:] {
			if v > slab*1.05 {
				t.Errorf("groups %t: weight %d has a variance of %.3g slabs", groups, j+1, v/slab)
			}
		}
		changed, err := f.sweep(0)
		if err != nil || changed > 20*least+1e-3 {
			t.Errorf("groups %t: the sites that are left move by %.2g, the least was %.2g (%v)", groups, changed, least, err)
		}
		if f.drifted() {
			t.Error("the steady sites have drifted")
		}
		if f.logSlab += 4; !f.drifted() {
			t.Error("a slab of 3,000 times the size has not drifted")
		}
	}
}
