package spec

import (
	"cmp"
	"fmt"
	"slices"
)

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
