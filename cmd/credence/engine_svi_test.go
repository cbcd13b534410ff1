package main

import (
	"strings"
	"testing"
)

// Targets, trials and exposures that a family cannot have: one line with the row and what to do.
func TestGeneralisedTargets(t *testing.T) {
	for _, c := range []struct{ name, content, formula, family, want string }{
		{"more successes than trials", "y,x,n\n0,1,2\n1,2,2\n3,5,2\n", "y ~ x", "binomial(trials=n)", ":4: column \"y\": target 3 is more than the 2 trials: binomial(trials=…) names the number of trials"},
		{"share of successes", "y,x,n\n0.5,1,2\n1,2,2\n", "y ~ x", "binomial(trials=n)", ":2: column \"y\": target 0.5 is not a whole number: binomial needs the number of successes; multiply a share by its trials"},
		{"no trials", "y,x,n\n0,1,2\n1,2,0\n", "y ~ x", "binomial(trials=n)", ":3: column \"y\": trials are 0: leave out rows without trials"},
		{"half a trial", "y,x,n\n0,1,2\n1,2,2.5\n", "y ~ x", "binomial(trials=n)", ":3: column \"y\": trials 2.5 is not a positive whole number"},
		{"negative count", "y,x\n0,1\n-1,2\n", "y ~ x", "poisson", ":3: column \"y\": target -1 is negative: poisson needs counts 0, 1, 2, …; choose gaussian or studentt"},
		{"negative count", "y,x\n0,1\n-1,2\n", "y ~ x", "negbinomial", ":3: column \"y\": target -1 is negative: negbinomial needs counts"},
		{"fractional count", "y,x\n0,1\n1.5,2\n", "y ~ x", "poisson", ":3: column \"y\": target 1.5 is not a whole number: poisson needs counts 0, 1, 2, …; choose gamma or gaussian"},
		{"three classes", "y,x\n0,1\n1,2\n2,3\n", "y ~ x", "bernoulli", "target y has 3 classes, 0, 1 and 2: pick one against the rest with --positive"},
		{"one class", "y,x\n1,1\n1,2\n1,3\n", "y ~ x", "bernoulli", "target y is 1 in every row: two classes are needed: add rows of the other class, or name another target"},
		{"zero duration", "y,x\n1,1\n0,2\n", "y ~ x", "gamma", ":3: column \"y\": target 0 is not positive, which gamma needs: drop or shift such rows, or choose poisson or negbinomial"},
		{"negative duration", "y,x\n1,1\n-2,2\n", "y ~ x", "gamma", ":3: column \"y\": target -2 is not positive, which gamma needs"},
		{"no exposure", "y,x,e\n1,1,1\n0,2,0\n", "y ~ x + offset(log(e))", "poisson", ":3: log(e): e is 0, and log needs a number above 0: correct the row, leave it out"},
	} {
		o := invoke(t, "", "fit", file(t, "t.csv", c.content), "-f", c.formula, "--family", c.family)
		if o.code != exitFailed || strings.Count(o.err, "\n") != 1 || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: exit %d: %s", c.name, o.code, o.err)
		}
	}
}

// Data that can be fitted but teach less than it seems are warned about.
func TestGeneralisedWarnings(t *testing.T) {
	for _, c := range []struct {
		name, content, formula, family string
		want                           []string
	}{
		{"separable classes", "y,x\n0,1\n0,2\n0,3\n0,4\n1,5\n1,6\n1,7\n1,8\n", "y ~ x", "bernoulli",
			[]string{"warning: the classes are perfectly separable: the size of the weights is set by the prior alone"}},
		{"separable trials", "y,n,x\n0,5,1\n0,5,2\n0,4,3\n5,5,5\n3,3,7\n5,5,8\n", "y ~ x", "binomial(trials=n)",
			[]string{"warning: the classes are perfectly separable"}},
		{"equal counts", "y,x\n1,1\n1,2\n1,3\n1,4\n", "y ~ x", "poisson",
			[]string{"warning: every target is 1: nothing can be learned about what makes it vary"}},
		{"zero column", "y,x,z\n0,1,0\n1,2,0\n1,0.5,0\n0,1.5,0\n1,1.1,0\n", "y ~ x + z", "bernoulli",
			[]string{"warning: the feature column linear.z is zero in every row: its weight keeps its prior"}},
	} {
		o := invoke(t, "", "fit", file(t, "t.csv", c.content), "-f", c.formula, "--family", c.family)
		for _, want := range c.want {
			if o.code != exitDone || strings.Count(o.err, want) != 1 {
				t.Errorf("%s: exit %d, %q is not in: %s", c.name, o.code, want, o.err)
			}
		}
		if strings.Contains(o.err, "Pareto") || strings.Contains(o.err, "iterations=") {
			t.Errorf("%s: %s", c.name, o.err)
		}
	}
}

// The option diagnostics: left out, so many draws, or none.
func TestDiagnosticDraws(t *testing.T) {
	path := file(t, "t.csv", "y,x\n0,1\n2,2\n1,3\n4,4\n3,5\n")
	for engine, judged := range map[string]bool{"svi": true, "svi(diagnostics=0)": false, "svi(diagnostics=100)": true} {
		fit := decode(t, must(t, "fit", path, "-f", "y ~ x", "--family", "poisson", "--engine", engine, "--json"))
		if _, found := fit["pareto_k"]; found != judged {
			t.Errorf("%s: pareto_k in %v", engine, fit)
		}
	}
	if o := invoke(t, "", "fit", path, "-f", "y ~ x", "--family", "poisson", "--engine", "svi(diagnostics=-2)"); o.code != exitMisuse {
		t.Errorf("negative draws: exit %d: %s", o.code, o.err)
	}
}
