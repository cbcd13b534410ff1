package ep

import (
	"context"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestElsewhere: two pairs of columns have nearly the same sum, and either pair may be in. Sites with one in do not
// come back to those with the other in, and do come back to their own.
func TestElsewhere(t *testing.T) {
	ctx := context.Background()
	s := conform.NewSelection(40, 6, 0, 0, 1, 0.1, false, 3)
	for i := range s.Batch.Target {
		row := s.Batch.X.Row(i)
		row[3] = row[0] + row[1] - row[2] + 0.02*row[3]
		s.Batch.Target[i] += row[0] + row[1]
	}
	e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.05)}, Prior: prior.SpikeSlab{Inclusion: param.Hold(0.1), Slab: param.Hold(1)}}, Config{}))(t)
	f := must.Value(e.newFit(ctx, conform.Memory{All: &s.Batch}))(t)
	var modes []*evaluated
	for _, in := range [][]int{{1, 2}, {3, 4}} {
		f.begin()
		for j := range f.weights {
			if j > 0 && !slices.Contains(in, j) {
				f.weights[j] = site{1e4, 0}
			}
		}
		must.Succeed(t, f.q.take(f.weights, f.rows, false))
		_, settled, err := f.settle(ctx, 500, settledTolerance, nil)
		must.Succeed(t, err)
		start := &siteState{f.theta(), f.sites(), f.inclusions()}
		modes = append(modes, must.Value(f.evaluated(start, settled, false))(t))
		for j, a := range f.inclusions()[1:] {
			if !settled || (a > 0.5) != slices.Contains(in, j+1) {
				t.Fatalf("settled %v with %v, want %v in", settled, f.inclusions(), in)
			}
		}
	}
	for k, from := range modes {
		for other, at := range modes {
			if far := must.Value(f.elsewhere(ctx, &from.siteState, at))(t); far != (k != other) {
				t.Errorf("from %d at %d: elsewhere %v", k+1, other+1, far)
			}
		}
	}
}
