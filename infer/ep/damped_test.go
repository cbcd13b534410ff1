package ep

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestDamped: steps that turn back each time are whole, then halves, then quarters, and so are those of what else is
// learned, which has not turned; steps that keep their direction stay whole.
func TestDamped(t *testing.T) {
	turning, straight := new(pace), new(pace)
	var a, b float64
	f := &fit{paces: map[*float64]*pace{&a: turning, &b: straight}}
	for step := range 20 {
		want := 1.0 // the first step has nothing to turn back from
		switch {
		case step >= quarterTurns:
			want = 0.25
		case step >= halfTurns:
			want = 0.5
		}
		if got := f.damped(turning, math.Pow(-1, float64(step))); math.Abs(got) != want {
			t.Errorf("step %d: %v, want ±%v", step, got, want)
		}
		if got := f.damped(straight, -3); got != -3*want {
			t.Errorf("step %d of the other: %v, want %v", step, got, -3*want)
		}
	}
	f = &fit{paces: map[*float64]*pace{&b: new(pace)}}
	for step := range 20 {
		if got := f.damped(f.paces[&b], 2); got != 2 {
			t.Errorf("straight step %d: %v", step, got)
		}
	}
}

// TestStuckLeavesSites: whether sites rest is tried and leaves no trace, whether they do or not.
func TestStuckLeavesSites(t *testing.T) {
	for seed, sweeps := range map[uint64]int{6: 8, 24: 30} {
		s := conform.NewSelection(40, 200, 5, 0.5, 1, 1, false, seed)
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		if _, settled, err := f.settle(context.Background(), sweeps, 1e-6, f.learn); settled || err != nil {
			t.Fatalf("seed %d: settled %v, %v", seed, settled, err)
		}
		from, variance := &siteState{f.theta(), f.sites(), f.inclusions()}, append([]float64{}, f.q.variance...)
		must.Value(f.stuck(context.Background(), from))(t)
		if after := (&siteState{f.theta(), f.sites(), f.inclusions()}); !reflect.DeepEqual(after, from) {
			t.Errorf("seed %d: sites, inclusions or what is learned moved", seed)
		}
		for j, v := range f.q.variance {
			if !(math.Abs(v/variance[j]-1) <= 1e-6) {
				t.Errorf("seed %d: the variance of weight %d is %v and was %v", seed, j, v, variance[j])
			}
		}
	}
}
