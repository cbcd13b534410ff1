package score_test

import (
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/score"
)

// The members of a fit that averages may come in any order: what is told is of all of them, but for what
// credence.Fitted says is the first's.
func TestMembersInAnyOrder(t *testing.T) {
	f := fitted(t, columns(t, 300, 3), fit.Options{Formula: "y ~ . + rbf(x1, n=8)", Engine: "exact(draws=3, starts=1)"})
	turned := *f
	turned.Members = slices.Clone(f.Members)
	slices.Reverse(turned.Members)
	if len(f.Members) < 3 {
		t.Fatalf("%d members", len(f.Members))
	}
	tell := func(f *credence.Fitted) (out []float64) {
		for _, term := range must.Value(score.Terms(f, score.TermOptions{}))(t) {
			if term.Block != "rbf(x1)" { // whose features each member draws
				out = append(out, term.Mean, float64(term.SD))
			}
		}
		for _, s := range score.Smooths(f) {
			out = append(out, s.Lowest.At, s.Lowest.Mean, s.Lowest.SD, s.Highest.Mean, s.Highest.SD)
		}
		p := must.Value(score.Row(f, map[string]any{"x1": .4, "x2": -.3, "x3": .7}))(t)
		return append(out, p.Mean, p.SD, p.Lower, p.Upper)
	}
	got, want := tell(&turned), tell(f)
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*(1+math.Abs(want[i]))) {
			t.Errorf("number %d is %v, want %v", i, got[i], want[i])
		}
	}
}
