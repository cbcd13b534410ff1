package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/spec"
)

// A single far index makes two billion weights: the fit is refused in one line,
// whatever the engine, before anything of that size is allocated.
func TestHugeIndicesAreRefused(t *testing.T) {
	huge := file(t, "huge.libsvm", "1 2000000000:1\n-1 1:1\n1 3:2\n")
	for _, args := range [][]string{
		{"--family=gaussian"}, {"--engine=svi"}, {"--engine=sep", "--family=bernoulli(link=probit)", "--prior=spikeslab"},
		{"--family=gaussian", "--formula=label ~ . - x7"},
	} {
		o := invoke(t, "", append([]string{"fit", huge}, args...)...)
		if o.code != exitFailed || !strings.Contains(o.err, "weights, for which engine ") ||
			!strings.Contains(o.err, " GB are available: use indices without gaps, or fewer features") || strings.Count(o.err, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
	// Those that the formula names are enough.
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", huge, "--family=gaussian", "--formula=label ~ x2000000000 + x1", "-o", model)
	if out := must(t, "predict", model, huge, "-q"); strings.Count(out, "\n") != 4 {
		t.Errorf("predictions %q", out)
	}
}

// Components by the million need every pair of them, and are refused like features.
func TestHugeMixturesAreRefused(t *testing.T) {
	o := invoke(t, "", "fit", file(t, "t.csv", houses(20)), "--target=price", "--engine=svi(components=10000000)", "-q")
	if o.code != exitFailed || !strings.Contains(o.err, "use fewer components, or fewer features") || strings.Count(o.err, "\n") != 1 {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

func TestMemoryByHand(t *testing.T) {
	exact, svi := exactEngine(), sviEngine()
	full, err := spec.ParseSpec("svi(covariance=full)")
	if err != nil {
		t.Fatal(err)
	}
	mixture, err := spec.ParseSpec("svi(components=100)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		entry         engineEntry
		call          spec.Call
		rows, weights int
		bytes         float64
	}{
		{exact, spec.Call{}, 3, 1000, 1000*(64+96) + 8*3*9},
		{exact, spec.Call{}, 5000, 1000, 1000*64 + 8*4*1e6},
		{svi, spec.Call{}, 100, 1000, 1000 * (64 + 8*208)},
		{svi, full, 100, 1000, 1000 * (64 + 8*(4000+200))},
		{svi, mixture, 100, 1000, 1000*(64+8*1000) + 16*1e4},
		{sepEngine(), spec.Call{}, 100, 1000, 64000},
	} {
		if err := refuseSize(&c.entry, c.call, c.rows, c.weights, c.bytes); err != nil {
			t.Errorf("%s in %g bytes: %v", c.entry.name, c.bytes, err)
		}
		if err := refuseSize(&c.entry, c.call, c.rows, c.weights, c.bytes-1); err == nil {
			t.Errorf("%s is not refused in %g bytes", c.entry.name, c.bytes-1)
		}
	}
	if err := refuseSize(&exact, spec.Call{}, 3, 2_000_000_000, 24<<30); err == nil ||
		err.Error() != "the model has 2000000000 weights, for which engine exact needs 298.1 GB of memory, and 24 GB are available: use indices without gaps, or fewer features" {
		t.Errorf("the refusal reads %v", err)
	}
	if memory := availableMemory(); memory < 1<<20 || memory > 1<<50 {
		t.Errorf("%g bytes are available", memory)
	}
}
