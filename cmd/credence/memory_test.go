package main

import (
	"path/filepath"
	"strings"
	"testing"
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
		if o.code != exitFailed || !strings.Contains(o.err, "huge.libsvm:1: the row has an index beyond 10000000, the most columns of a fit: hash the features, with hash(., bits=22)") ||
			strings.Count(o.err, "\n") != 1 {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
	// Below that, few rows are fitted whatever their columns, and those that the formula names are enough.
	large := file(t, "large.libsvm", "1 1500000:1\n-1 1:1\n1 3:2\n")
	if o := invoke(t, "", "fit", large, "--family=gaussian", "--engine=svi(covariance=full)"); o.code != exitDone || !strings.Contains(o.out, "1500001 weights") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", large, "--family=gaussian", "--formula=label ~ x1500000 + x1", "-o", model)
	if out := must(t, "predict", model, large, "-q"); strings.Count(out, "\n") != 4 {
		t.Errorf("predictions %q", out)
	}
}

// Components by the million need every pair of them, and are refused like features.
func TestHugeMixturesAreRefused(t *testing.T) {
	o := invoke(t, "", "fit", file(t, "t.csv", houses(20)), "--target=price", "--engine=svi(components=10000000)")
	if o.code != exitFailed || !strings.Contains(o.err, "use fewer components, or fewer features") || strings.Count(o.err, "\n") != 1 {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
