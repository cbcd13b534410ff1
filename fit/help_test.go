package fit_test

import (
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/spec"
)

// TestOptionsAreExplained: every option of every engine says what it is for, what it takes, and what holds without it.
func TestOptionsAreExplained(t *testing.T) {
	registry := fit.Default()
	for _, e := range registry.Engines {
		for _, o := range e.Options() {
			if len(o.Means) < 4 || strings.Count(o.Takes, "(default ") != 1 {
				t.Errorf("%s(%s=): %q, %q", e.Name, o.Key, o.Means, o.Takes)
			}
			// A number that is stated where the argument is read is told by its reader.
			if strings.Contains(o.Takes, "(default )") || strings.HasSuffix(o.Means, ".") {
				t.Errorf("%s(%s=): %q, %q", e.Name, o.Key, o.Means, o.Takes)
			}
		}
	}
	named := map[string][]spec.Option{}
	for _, f := range registry.Families {
		a := spec.NewArguments(spec.Call{Name: f.Zero.Name()}, "")
		f.Read(a)
		named[f.Zero.Name()] = a.Options()
	}
	for _, p := range registry.Priors {
		a := spec.NewArguments(spec.Call{Name: p.Zero.Name()}, "")
		p.Read(a)
		named[p.Zero.Name()] = append(named[p.Zero.Name()], a.Options()...)
	}
	for _, f := range formula.Functions() {
		named[f.Name] = f.Options
	}
	for name, options := range named {
		for _, o := range options {
			if len(o.Means) < 4 && o.Key != "trials" { // of which the name says all
				t.Errorf("%s(%s=): %q", name, o.Key, o.Takes)
			}
		}
	}
}
