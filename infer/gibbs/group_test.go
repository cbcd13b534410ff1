package gibbs

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

// TestGroups compares inclusions and weights with the enumeration of the models in which groups are in or out,
// of groups whose odds are always known and of large ones.
func TestGroups(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, large := range []bool{false, true} {
		for _, n := range []int{15, 40} {
			s := conform.NewSelection(n, 12, 4, 0.3, 0.3, 0.5, n == 15, uint64(n)+1)
			f := s.Features.(conform.Columns)
			f.Together = []credence.Block{{First: 2, Count: 3}, {First: 7, Count: 4}}
			s.Features = f
			l, p := likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, prior.SpikeSlab{Inclusion: param.Hold(0.3), Slab: param.Hold(1)}
			c := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, Config{}))(t).testChain(t, s)
			want, weights, _ := s.Enumerate(0.3, 1, 0.5, c.Units.Centre, 100*c.Units.Scale*c.Units.Scale)
			for _, g := range c.groups {
				g.large = large
			}
			r := must.Value(c.run(context.Background(), plan{flips: 40_000, warm: 1000, every: 7}))(t)
			for j := range want {
				got, mean := r.inclusion[j+1]/r.total, r.mean[j+1]/r.total*c.Units.Scale
				if !(math.Abs(got-want[j]) <= 0.015) || !(math.Abs(mean-weights[j]) <= 0.01) {
					t.Errorf("n = %d, large %t: inclusion of column %d is %.4f and its weight %.4f, by enumeration %.4f and %.4f", n, large, j+1, got, mean, want[j], weights[j])
				}
			}
		}
	}
}

// TestGroupOdds: the odds of a group are the same seen from without and from within, whatever the slab.
func TestGroupOdds(t *testing.T) {
	s := conform.NewSelection(40, 12, 4, 0.3, 0.3, 0.5, false, 41)
	f := s.Features.(conform.Columns)
	f.Together = []credence.Block{{First: 2, Count: 3}, {First: 7, Count: 4}}
	s.Features = f
	l, p := likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, prior.SpikeSlab{Inclusion: param.Hold(0.3), Slab: param.Hold(0.2)}
	c := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, Config{}))(t).testChain(t, s)
	for _, g := range c.groups {
		before := c.takeGroup(g, 0, 0)
		c.reverse(g)
		must.Succeed(t, c.refresh())
		if after := c.takeGroup(g, 0, 0); !(math.Abs(after-before) <= 1e-9*before) {
			t.Errorf("columns %d to %d: odds %v, and %v now that they are in %t", g.First, g.End()-1, before, after, c.in[g.First])
		}
	}
}

// TestLargeAlone: with large groups alone there is no flip to choose, and the moves go on.
func TestLargeAlone(t *testing.T) {
	s := conform.NewSelection(60, 140, 3, 0, 1, 0.2, false, 4)
	f := s.Features.(conform.Columns)
	f.Together = []credence.Block{{First: 0, Count: 70}, {First: 70, Count: 70}}
	s.Features = f
	for j := range s.Weights {
		for i := range s.Target {
			s.Target[i] += 0.3 * s.X.Row(i)[j] * float64(1-j/70) // the first group matters
		}
	}
	got := inclusions(fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{Inclusion: param.Hold(0.5)}, Config{Flips: 2000, Chains: 2}))
	if got[0] != got[69] || got[0] < 0.9 || got[70] > 0.7 {
		t.Errorf("inclusions %v and %v", got[0], got[70])
	}
}
