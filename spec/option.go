package spec

import (
	"cmp"
	"fmt"
	"strings"
)

// Option is a key=value argument that a part takes.
type Option struct {
	Key   string
	Means string // what it is for, "" where the part does not say
	Takes string // what may stand behind the =, and what holds without it
}

// Options returns the arguments that were asked for so far, in that order: all that a part has, once it
// has read them.
func (a *Arguments) Options() []Option {
	options := make([]Option, len(a.used))
	for i, key := range a.used {
		options[i] = Option{key, a.means[key], cmp.Or(a.takes[key], "a column, or a value")}
	}
	return options
}

// Means says, for [Arguments.Options], what the argument that is read next is for, and what holds where it is left out
// and the reader of it does not say that: a.Means("draws that are kept", "1,000").Int("draws", 0).
func (a *Arguments) Means(text, fallback string) *Arguments {
	a.meant, a.fallback = text, fallback
	return a
}

// describe says what an argument is for and takes, for [Arguments.Options].
func (a *Arguments) describe(key, takes string) {
	if a.takes == nil {
		a.takes, a.means = map[string]string{}, map[string]string{}
	}
	if a.fallback != "" {
		takes += " (default " + a.fallback + ")"
	}
	if _, told := a.takes[key]; !told {
		a.takes[key], a.means[key] = takes, a.meant
	}
	a.meant, a.fallback = "", ""
}

// describeNumber describes a number in ranges; a fallback of 0 is one that the part chooses.
func (a *Arguments) describeNumber(key, what string, fallback float64, ranges []Range) {
	for _, r := range ranges {
		what += ", " + strings.TrimSuffix(r.String(), " and finite")
	}
	if fallback > 0 && a.fallback == "" {
		what += fmt.Sprintf(" (default %v)", fallback)
	}
	a.describe(key, what)
}

// describeWord describes a word out of several.
func (a *Arguments) describeWord(key, fallback string, allowed []string) {
	what := "a word"
	if len(allowed) > 0 {
		what = strings.Join(allowed, " or ")
	}
	if fallback != "" && a.fallback == "" {
		what += " (default " + fallback + ")"
	}
	a.describe(key, what)
}

// Entry is a line of a table of parts of one role: families, or priors.
type Entry[T interface{ Name() string }] struct {
	// Zero is the part without arguments. Its Name is what texts and model files call it.
	Zero T
	// Read makes the part from its arguments. Complaints go to a; see [Arguments].
	Read func(a *Arguments) T
}

// Choose reads name or name(key=value, …) by the entry of that name. role is what
// messages call the parts of the table. An error is an [*Error].
func Choose[T interface{ Name() string }](text, role string, table []Entry[T]) (T, Call, error) {
	var none T
	call, err := ParseSpec(text)
	if err != nil {
		return none, call, err
	}
	names := make([]string, len(table))
	for i, entry := range table {
		if names[i] = entry.Zero.Name(); names[i] != call.Name {
			continue
		}
		a := NewArguments(call, text)
		part := entry.Read(a)
		return part, call, a.Finish()
	}
	at := call
	at.Length = len(call.Name)
	return none, call, Errorf(text, at, "there is no %s %q in this version", role, call.Name).
		WithRemedy("%s", choices(call.Name, names))
}
