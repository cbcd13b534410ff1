package fit

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func TestMemoryByHand(t *testing.T) {
	exact, svi := exactEngine(), sviEngine()
	full, err := spec.ParseSpec("svi(covariance=full)")
	if err != nil {
		t.Fatal(err)
	}
	spread, err := spec.ParseSpec("ep(covariance=diagonal)")
	if err != nil {
		t.Fatal(err)
	}
	mixture, err := spec.ParseSpec("svi(components=100)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		entry         Engine
		call          spec.Call
		rows, weights int
		bytes         float64
		normal        bool
	}{
		{exact, spec.Call{}, 3, 1000, 1000*(64+96) + 8*3*9, false},
		{exact, spec.Call{}, 5000, 1000, 1000*64 + 8*4*1e6, false},
		{svi, spec.Call{}, 100, 1000, 1000 * (64 + 8*208), false},
		{svi, full, 1000, 1000, 1000 * (64 + 8*(17000+200)), false},
		{svi, full, 3000, 3000, 3000 * (64 + 8*(18000+200)), false},
		{svi, full, 98, 3000, 3000*(64+8*2*98) + 8*100*(35*100+200), false},
		{svi, mixture, 100, 1000, 1000*(64+8*1000) + 16*1e4, false},
		{sepEngine(), spec.Call{}, 100, 1000, 64000, false},
		{epEngine(), spec.Call{}, 100, 1000, 64000 + 8*3*1e4, false},
		{epEngine(), spec.Call{}, 20_000, 100_000, 64 * 1e5, false}, // columns may be sparse
		{epEngine(), spread, 100, 1000, 64000, false},
		{gibbsEngine(), spec.Call{}, 50_000, 20, 64*20 + 8*4*(3e5+200), false},
		{laplaceEngine(), spec.Call{}, 100, 1000, 64000 + 8*(60*1000+2*1e4), false},
		{laplaceEngine(), spec.Call{}, 1000, 1000, 1000 * (64 + 8*(17000+200)), true},
		{penalisedEngine("lasso", 1, 0), spec.Call{}, 20_000, 100_000, 64 * 1e5, false},
	} {
		var p credence.Prior = prior.SpikeSlab{}
		if c.normal {
			p = prior.Normal{}
		}
		if err := refuseSize(&c.entry, c.call, p, c.rows, c.weights, c.weights, c.bytes); err != nil {
			t.Errorf("%s in %g bytes: %v", c.entry.Name, c.bytes, err)
		}
		if err := refuseSize(&c.entry, c.call, p, c.rows, c.weights, c.weights, c.bytes-1); err == nil {
			t.Errorf("%s is not refused in %g bytes", c.entry.Name, c.bytes-1)
		}
	}
	if err := refuseSize(&exact, spec.Call{}, prior.Normal{}, 3, 2_000_000_000, 2_000_000_000, 24<<30); err == nil ||
		err.Error() != "the model has 2000000000 weights, for which engine exact needs 298.1 GB of memory, and 24 GB are available: use indices without gaps, or fewer features" {
		t.Errorf("the refusal reads %v", err)
	}
	if memory := (&Job{options: Options{Memory: 7}}).memory(); memory != 7 {
		t.Errorf("7 bytes stated are %g", memory)
	}
	if memory := (&Job{}).memory(); memory < 1<<20 || memory > 1<<50 {
		t.Errorf("%g bytes are available", memory)
	}
}
