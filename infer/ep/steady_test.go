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
