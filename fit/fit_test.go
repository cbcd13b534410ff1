package fit_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
)

// Whatever no data could mend is refused as misuse, before any data.
func TestMisuse(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{`{"formula": "y ~ x +"}`, "formula: "},
		{`{"formula": "y ~ wave(x)"}`, "formula: "},
		{`{"family": "gauss"}`, `family: column 1: there is no family "gauss"`},
		{`{"prior": "cauchy"}`, `prior: column 1: there is no prior "cauchy"`},
		{`{"engine": "magic"}`, `engine: column 1: there is no engine "magic" in this version: use auto, exact, svi, ep`},
		{`{"engine": "ftrl"}`, `engine "ftrl" learns online, from rows as they come: it is one of the command stream: use auto, exact, svi, ep`},
		{`{"engine": "auto(starts=2)"}`, "engine: column 1: auto takes no arguments"},
		{`{"engine": "exact(starts=1000000)"}`, "engine: column 14: starts cannot be 1000000: it must be between 1 and 1000"},
		{`{"engine": "exact(draws=1e12)"}`, "draws cannot be 1000000000000: it must be between"},
		{`{"engine": "svi(samples=1e9)"}`, "samples cannot be 1000000000"},
		{`{"engine": "svi(diagnostics=1e9)"}`, "diagnostics cannot be 1000000000"},
		{`{"engine": "exact", "family": "poisson"}`, "engine exact cannot fit this model: it needs the family gaussian, not poisson; use --engine svi"},
		{`{"family": "poisson", "prior": "spikeslab"}`, "no engine of this version fits family poisson with prior spikeslab: exact: "},
		{`{"family": "poisson", "positive": "yes"}`, "family poisson has none"},
		{`{"missing": "median"}`, "use error, mean, indicator or drop"},
		{`{"unseen": "guess"}`, "use error or prior"},
		{`{"threads": 1000000000}`, "threads: there cannot be 1000000000: use 1 to 1024"},
		{`{"threads": -1}`, "threads: there cannot be -1"},
		{`{"memory": -1}`, "memory: -1 bytes is negative"},
	} {
		var options fit.Options
		must.Succeed(t, json.Unmarshal([]byte(c.options), &options))
		if _, err := fit.New(options); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.options, err, c.want)
		}
	}
}

// Options are JSON and back, and what is left out is what a program leaves out.
func TestOptionsAreData(t *testing.T) {
	const text = `{"formula":"y ~ .","family":"gaussian","prior":"normal","engine":"exact","seed":7,"target":"y","positive":"a","missing":"mean","unseen":"prior","raw":true,"threads":2,"memory":1000,"checkpoint":"c"}`
	var options fit.Options
	must.Succeed(t, json.Unmarshal([]byte(text), &options))
	again, err := json.Marshal(options)
	if err != nil || string(again) != text {
		t.Errorf("%s, %v", again, err)
	}
	if empty, err := json.Marshal(fit.Options{}); err != nil || string(empty) != "{}" {
		t.Errorf("%s, %v", empty, err)
	}
}

// The engines that learn online are chosen by the same texts, and refuse what is not theirs.
func TestOnline(t *testing.T) {
	o, err := fit.NewOnline(fit.Options{})
	if err != nil || o.Engine != "sep" || o.Call != "sep" || o.Prior != "spikeslab" || o.Passes != 1 {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = fit.NewOnline(fit.Options{Engine: "ftrl(alpha=0.1, passes=3)"})
	if err != nil || o.Engine != "ftrl" || o.Call != "ftrl(alpha=0.1, passes=3)" || o.Prior != "" || o.Passes != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, c := range []struct {
		options fit.Options
		want    string
	}{
		{fit.Options{Engine: "exact"}, `engine "exact" needs a table that can be read again: it is one of the command fit: use sep, ftrl, adpredictor, sgd`},
		{fit.Options{Engine: "ftrl", Prior: "spikeslab(slab=1)"}, "engine ftrl has no prior"},
		{fit.Options{Prior: "normal"}, "it needs the prior spikeslab, not normal"},
		{fit.Options{Prior: "spikeslab(spike=0.1)"}, "engine sep has its spike at 0"},
		{fit.Options{Engine: "adpredictor(passes=2)"}, "passes cannot be 2"},
		{fit.Options{Engine: "sep(half_life=2, forget=10)"}, "half_life goes with neither"},
	} {
		if _, err := fit.NewOnline(c.options); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.options, err, c.want)
		}
	}
}
