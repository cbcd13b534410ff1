package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// Field is an option that is kept in a Go value: its key, the place of its value, what it may be, what it is for, and
// what holds without it. 0, "" and false in its place mean that the option is left out. [Arguments.Fields] reads fields
// from a text, [Check] refuses values that a program has put there, and [Arguments.Options] says what they are for.
type Field struct {
	read  func(a *Arguments)
	check func() error // nil: every value will do
}

// Int is a whole number; it is for what means says, and without it holds what fallback says, if its place is 0.
func Int(key string, place *int, allowed Range, means, fallback string) Field {
	return Field{
		func(a *Arguments) { *place = a.Means(means, fallback).Int(key, *place, allowed) },
		func() error { return inRange(key, float64(*place), allowed) },
	}
}

// IntOrNone is a whole number of which 0, once written, means none. Its place then has −1, for 0 there means that it is
// left out; every number below 0 is none.
func IntOrNone(key string, place *int, allowed Range, means, fallback string) Field {
	return Field{
		func(a *Arguments) {
			switch v := a.Means(means, fallback).Int(key, -1, allowed); {
			case v > 0:
				*place = v
			case v == 0:
				*place = -1
			}
		},
		func() error { return inRange(key, float64(max(0, *place)), allowed) },
	}
}

// Float is a number.
func Float(key string, place *float64, allowed Range, means, fallback string) Field {
	return Field{
		func(a *Arguments) { *place = a.Means(means, fallback).Float(key, *place, allowed) },
		func() error { return inRange(key, *place, allowed) },
	}
}

// Word is one of several words.
func Word[W ~string](key string, place *W, words []W, means, fallback string) Field {
	allowed := make([]string, len(words))
	for i, word := range words {
		allowed[i] = string(word)
	}
	return Field{
		func(a *Arguments) { *place = W(a.Means(means, fallback).Word(key, string(*place), allowed...)) },
		func() error {
			if *place == "" || slices.Contains(words, *place) {
				return nil
			}
			return fmt.Errorf("%s cannot be %s: %s", key, cmp.Or(show(string(*place)), "empty"), choices(string(*place), allowed))
		},
	}
}

// Bool is true or false, false without it.
func Bool(key string, place *bool, means string) Field {
	return Field{read: func(a *Arguments) { *place = a.Means(means, "").Bool(key, *place) }}
}

// inRange refuses a number that is neither 0 nor allowed.
func inRange(key string, v float64, allowed Range) error {
	if v == 0 || allowed.Contains(v) {
		return nil
	}
	return fmt.Errorf("%s cannot be %s: it must be %s, or left out", key, formatNumber(v), allowed)
}

// Fields reads what the text states of the fields, each into its place; what is left out stays as it is. A field that
// was read before, under another help, keeps the first.
func (a *Arguments) Fields(fields []Field) {
	for _, f := range fields {
		f.read(a)
	}
}

// Check refuses the first field whose place has a value that is not allowed; part stands before the error.
func Check(part string, fields []Field) error {
	for _, f := range fields {
		if f.check == nil {
			continue
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}

// Range is an interval of allowed numbers, for the readers of [Arguments].
type Range struct {
	low, high         float64
	lowOpen, highOpen bool // the end itself is excluded
}

// Finite is every number but ±∞.
func Finite() Range {
	return Range{low: math.Inf(-1), high: math.Inf(1), lowOpen: true, highOpen: true}
}

// Positive is 0 < v < ∞.
func Positive() Range { return Above(0) }

// Fraction is 0 < v < 1.
func Fraction() Range { return Within(0, 1) }

// Between is low ≤ v ≤ high.
func Between(low, high float64) Range { return Range{low: low, high: high} }

// Within is low < v < high.
func Within(low, high float64) Range {
	return Range{low: low, high: high, lowOpen: true, highOpen: true}
}

// AtLeast is low ≤ v < ∞.
func AtLeast(low float64) Range { return Range{low: low, high: math.Inf(1), highOpen: true} }

// Above is low < v < ∞.
func Above(low float64) Range {
	return Range{low: low, high: math.Inf(1), lowOpen: true, highOpen: true}
}

// Contains reports whether v is allowed. NaN never is.
func (r Range) Contains(v float64) bool {
	above := v > r.low || v == r.low && !r.lowOpen
	below := v < r.high || v == r.high && !r.highOpen
	return above && below
}

// String completes the sentence "it must be …".
func (r Range) String() string {
	var s string
	switch noLow, noHigh := math.IsInf(r.low, -1), math.IsInf(r.high, 1); {
	case noLow && noHigh:
		return "finite"
	case noHigh && r.lowOpen && r.low == 0:
		s = "positive"
	case noHigh && r.lowOpen:
		s = "greater than " + formatNumber(r.low)
	case noHigh:
		s = formatNumber(r.low) + " or more"
	default:
		s = "between " + formatNumber(r.low) + " and " + formatNumber(r.high)
		if r.lowOpen && r.highOpen {
			s += ", both excluded"
		}
	}
	if math.IsInf(r.high, 1) {
		s += " and finite"
	}
	return s
}

// isWhole bounds integers to those that float64 holds exactly and every int
// of 64 bits holds too, ±2⁵³.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }
