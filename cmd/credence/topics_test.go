package main

import (
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
)

// The pages of help list every part of the registry with its options, each of which the part takes.
func TestTopicsListEveryOption(t *testing.T) {
	registry := fit.Default()
	page := must(t, "help", "engines")
	for i := range registry.Engines {
		e := &registry.Engines[i]
		_, section, found := strings.Cut(page, "\n\n"+e.Name+"  "+e.About+"\n")
		if !found || e.About == "" || len(e.Options()) == 0 {
			t.Errorf("engine %s is not on the page, or has no options", e.Name)
		}
		section, _, _ = strings.Cut(section, "\n\n")
		if got := strings.Count(section, "=  "); got < len(e.Options())-1 {
			t.Errorf("engine %s: %d options of %d:\n%s", e.Name, got, len(e.Options()), section)
		}
		command := "fit"
		if e.Batch == nil {
			command = "stream"
		}
		for _, o := range e.Options() {
			told := invoke(t, "", command, "gone.csv", "--target", "y", "--engine", e.Name+"("+o.Key+"=nonsense)")
			if strings.Contains(told.err, "has no argument") && e.Online == nil {
				t.Errorf("%s has no %s: %s", e.Name, o.Key, told.err)
			}
		}
	}
	families, priors, terms := must(t, "help", "families"), must(t, "help", "priors"), must(t, "help", "terms")
	for _, f := range registry.Families {
		if !strings.Contains(families, "\n"+f.Zero.Name()+"\n") {
			t.Errorf("there is no family %s on the page", f.Zero.Name())
		}
	}
	for _, p := range registry.Priors {
		if !strings.Contains(priors, "\n"+p.Zero.Name()+"\n") {
			t.Errorf("there is no prior %s on the page", p.Zero.Name())
		}
	}
	for _, want := range []string{"\nrbf  ", "lengthscale_prior=", "frequencies=", "bits=", "centres=", "degree=", "\nkeep  ", "\nprecision  "} {
		if !strings.Contains(terms, want) {
			t.Errorf("the page of terms lacks %q", want)
		}
	}
}

func TestValuesAreCompleted(t *testing.T) {
	for _, c := range []struct{ command, flag, start, want string }{
		{"fit", "--engine", "ex", "exact"}, {"select", "--prior", "spike", "spikeslab"}, {"fit", "--family", "neg", "negbinomial"},
		{"stream", "--engine", "f", "ftrl"}, {"inspect", "--sort", "i", "inclusion"}, {"predict", "--format", "p", "parquet"},
	} {
		out := must(t, "__complete", c.command, c.flag, c.start)
		if !strings.Contains("\n"+out, "\n"+c.want+"\n") { // the shell picks those that begin as typed
			t.Errorf("%s %s %s: %q, want %s", c.command, c.flag, c.start, out, c.want)
		}
	}
	if out := must(t, "__complete", "stream", "--engine", ""); strings.Contains(out, "exact") {
		t.Errorf("stream completes %q", out)
	}
}
