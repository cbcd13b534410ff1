package spec

import (
	"math"
	"strings"
	"testing"
)

// options is a Go value with an option of each kind.
type options struct {
	starts, draws int
	rate          float64
	rule          word
	anneal        bool
}

type word string

func (o *options) fields() []Field {
	return []Field{
		Int("starts", &o.starts, Between(1, 64), "starting points", "4"),
		IntOrNone("draws", &o.draws, Between(0, 100), "draws that are kept; 0 leaves them out", "10"),
		Float("rate", &o.rate, Within(0, 1), "first step", ""),
		Word("rule", &o.rule, []word{"adam", "sgd"}, "rule of steps", "adam"),
		Bool("anneal", &o.anneal, "narrow the spike"),
	}
}

// TestFieldsAreRead: what a text states ends in its place, what it leaves out stays as it was.
func TestFieldsAreRead(t *testing.T) {
	for text, want := range map[string]options{
		"e":                               {starts: 3, rate: 0.25},
		"e(starts=64)":                    {starts: 64, rate: 0.25},
		"e(draws=0)":                      {starts: 3, draws: -1, rate: 0.25},
		"e(draws=7, rule=sgd)":            {starts: 3, draws: 7, rate: 0.25, rule: "sgd"},
		"e(anneal=true, rate=.5)":         {starts: 3, rate: 0.5, anneal: true},
		"e(starts=65)":                    {},
		"e(draws=101)":                    {},
		"e(draws=-1)":                     {},
		"e(rate=1)":                       {},
		"e(rate=0)":                       {},
		"e(rule=momentum)":                {},
		"e(anneal=2)":                     {},
		"e(start=2)":                      {},
		"e(starts=~2)":                    {},
		"e(starts=1.5)":                   {},
		"e(rule=adam, starts=1, draws=1)": {starts: 1, draws: 1, rate: 0.25, rule: "adam"},
	} {
		call, err := ParseSpec(text)
		if err != nil {
			t.Fatal(err)
		}
		got, a := options{starts: 3, rate: 0.25}, NewArguments(call, text)
		a.Fields(got.fields())
		if err := a.Finish(); (err != nil) != (want == options{}) || err == nil && got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestFieldsAreChecked: a value that a text may not state is refused in a program, too, and a value that is left out is
// not.
func TestFieldsAreChecked(t *testing.T) {
	for want, o := range map[string]options{
		"": {},
		"e: starts cannot be 65: it must be between 1 and 64, or left out":              {starts: 65},
		"e: starts cannot be -1: it must be between 1 and 64, or left out":              {starts: -1},
		"e: draws cannot be 101: it must be between 0 and 100, or left out":             {draws: 101},
		"e: rate cannot be 1: it must be between 0 and 1, both excluded, or left out":   {rate: 1, draws: -1},
		"e: rate cannot be NaN: it must be between 0 and 1, both excluded, or left out": {rate: math.NaN(), draws: -7},
		"e: rate cannot be inf: it must be between 0 and 1, both excluded, or left out": {rate: math.Inf(1)},
		`e: rule cannot be "momentum": write adam or sgd`:                               {rule: "momentum", starts: 64},
		`e: rule cannot be "sdg": did you mean sgd? (write adam or sgd)`:                {rule: "sdg", anneal: true},
	} {
		err := Check("e", o.fields())
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}

// TestFieldsAreTold: help says once what holds without an option, and what two parts read is told by the first.
func TestFieldsAreTold(t *testing.T) {
	first, second := options{starts: 2, rate: 0.25}, options{}
	a := NewArguments(Call{Name: "e"}, "")
	a.Fields(first.fields())
	a.Fields([]Field{Int("starts", &second.starts, AtLeast(1), "other words", "9")})
	var lines []string
	for _, o := range a.Options() {
		lines = append(lines, o.Key+": "+o.Means+"; "+o.Takes)
	}
	want := `starts: starting points; a whole number, between 1 and 64 (default 4)
draws: draws that are kept; 0 leaves them out; a whole number, between 0 and 100 (default 10)
rate: first step; a number, between 0 and 1, both excluded (default 0.25)
rule: rule of steps; adam or sgd (default adam)
anneal: narrow the spike; true or false (default false)`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("%s", got)
	}
}
