package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence/param"
)

// Arguments reads the arguments of one call, so that every part of the product
// reports unknown, missing and mistyped ones alike. Call the readers for every
// key that the function knows, then [Arguments.Finish]: a key nobody asked for
// is an error. After an error readers return the default, so that Finish is
// the only check needed; it reports the complaint that stands first in the text.
//
// A range given to a reader restricts the numbers it accepts; several must all
// hold.
type Arguments struct {
	call       Call
	source     string
	used       []string          // keys asked for, in order
	takes      map[string]string // what they take, for Options
	means      map[string]string // what they are for
	meant      string            // of the argument that is read next
	fallback   string            // of it, in words
	positional bool              // Positional was asked for
	first      *Error
}

// NewArguments returns a reader of the arguments of call; source is the text
// that call was parsed from, "" if it was built by hand.
func NewArguments(call Call, source string) *Arguments {
	a := &Arguments{call: call, source: source}
	for i, argument := range call.Named { // the parser refuses these; a tree built by hand may hold them
		if slices.ContainsFunc(call.Named[:i], func(b Argument) bool { return b.Key == argument.Key }) {
			a.Errorf(argument, "%s= is given twice", argument.Key).WithRemedy("keep one of the two")
		}
	}
	return a
}

// Errorf records a complaint about node, for Finish to report, and returns it
// for a remedy to be added.
func (a *Arguments) Errorf(node Node, format string, args ...any) *Error {
	e := Errorf(a.source, node, format, args...)
	if a.first == nil || e.Offset < a.first.Offset {
		a.first = e
	}
	return e
}

// Argument returns the argument of that key as written, for values the typed
// readers do not cover.
func (a *Arguments) Argument(key string) (Argument, bool) {
	if !slices.Contains(a.used, key) {
		a.used = append(a.used, key)
	}
	for _, argument := range a.call.Named {
		if argument.Key == key {
			return argument, true
		}
	}
	return Argument{}, false
}

// Has reports whether the key was written.
func (a *Arguments) Has(key string) bool {
	_, ok := a.Argument(key)
	return ok
}

// option returns a value that cannot be a guess.
func (a *Arguments) option(key string) (Argument, bool) {
	argument, ok := a.Argument(key)
	if ok && argument.Guess {
		a.Errorf(argument, "%s is not learned, so it cannot be a starting guess", key).WithRemedy("drop the ~")
		return argument, false
	}
	return argument, ok
}

// number reads one number of the argument.
func (a *Arguments) number(key string, e Expr, ranges []Range) (float64, bool) {
	n, ok := e.(Number)
	if !ok {
		err := a.Errorf(e, "%s must be a number, not %s", key, show(e.String()))
		if c, ok := e.(Column); ok && (strings.EqualFold(c.Name, "inf") || strings.EqualFold(c.Name, "infinity")) {
			err.WithRemedy("infinity is written inf")
		} else {
			err.WithRemedy("write such as %s=0.5", key)
		}
		return 0, false
	}
	for _, r := range ranges {
		if !r.Contains(n.Value) {
			a.Errorf(e, "%s cannot be %s", key, n).WithRemedy("it must be %s", r)
			return 0, false
		}
	}
	return n.Value, true
}

// Float reads a number.
func (a *Arguments) Float(key string, fallback float64, ranges ...Range) float64 {
	a.describeNumber(key, "a number", fallback, ranges)
	if argument, ok := a.option(key); ok {
		if v, ok := a.number(key, argument.Value, ranges); ok {
			return v
		}
	}
	return fallback
}

// Int reads a whole number of at most 2⁵³; 1e6 is one.
func (a *Arguments) Int(key string, fallback int, ranges ...Range) int {
	a.describeNumber(key, "a whole number", float64(fallback), ranges)
	if argument, ok := a.option(key); ok {
		if v, ok := a.Whole(key, argument.Value, ranges...); ok {
			return v
		}
	}
	return fallback
}

// Ints reads a whole number or a list of them; nil if the key was not written.
func (a *Arguments) Ints(key string, ranges ...Range) (values []int) {
	a.describe(key, "a whole number or a list of them")
	argument, ok := a.option(key)
	if !ok {
		return nil
	}
	items := []Expr{argument.Value}
	if list, ok := argument.Value.(List); ok {
		items = list.Items
	}
	for _, item := range items {
		v, ok := a.Whole(key, item, ranges...)
		if !ok {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// Whole reads a whole number from a positional argument, which messages call
// name: the 3 of poly(x, 3).
func (a *Arguments) Whole(name string, e Expr, ranges ...Range) (int, bool) {
	v, ok := a.number(name, e, ranges)
	if ok && (!isWhole(v) || float64(int(v)) != v) {
		a.Errorf(e, "%s cannot be %s", name, formatNumber(v)).WithRemedy("it must be a whole number")
		return 0, false
	}
	return int(v), ok
}

// Setting reads a model parameter: stated is held, left out is learned, ~ is a
// starting guess.
func (a *Arguments) Setting(key string, ranges ...Range) param.Parameter {
	a.describeNumber(key, "a number, learned if left out", 0, ranges)
	if argument, ok := a.Argument(key); ok {
		if v, ok := a.number(key, argument.Value, ranges); ok {
			return param.Parameter{Value: v, State: argument.state()}
		}
	}
	return param.Parameter{}
}

// Settings reads a model parameter that may be a list.
func (a *Arguments) Settings(key string, ranges ...Range) param.List {
	a.describeNumber(key, "a number or a list, learned if left out", 0, ranges)
	argument, ok := a.Argument(key)
	if !ok {
		return param.List{}
	}
	items := []Expr{argument.Value}
	if list, ok := argument.Value.(List); ok {
		if items = list.Items; len(items) == 0 {
			a.Errorf(list, "%s is an empty list", key).WithRemedy("write at least one number in it")
			return param.List{}
		}
	}
	values := make([]float64, len(items))
	for i, item := range items {
		if values[i], ok = a.number(key, item, ranges); !ok {
			return param.List{}
		}
	}
	return param.List{Values: values, State: argument.state()}
}

func (a Argument) state() param.State {
	if a.Guess {
		return param.Guess
	}
	return param.Held
}

// Bool reads true or false.
func (a *Arguments) Bool(key string, fallback bool) bool {
	a.describe(key, fmt.Sprintf("true or false (default %v)", fallback))
	argument, ok := a.option(key)
	if !ok {
		return fallback
	}
	if c, ok := argument.Value.(Column); ok && (c.Name == "true" || c.Name == "false") {
		return c.Name == "true"
	}
	a.Errorf(argument.Value, "%s must be true or false, not %s", key, show(argument.Value.String())).
		WithRemedy("write %s=true or %s=false", key, key)
	return fallback
}

// Word reads a word or quoted text, one of allowed; without allowed, any.
func (a *Arguments) Word(key, fallback string, allowed ...string) string {
	a.describeWord(key, fallback, allowed)
	argument, ok := a.option(key)
	if !ok {
		return fallback
	}
	var word string
	switch v := argument.Value.(type) {
	case Column:
		word = v.Name
	case Text:
		word = v.Value
	default:
		word = v.String()
		if len(allowed) == 0 {
			a.Errorf(v, "%s must be a word, not %s", key, show(word)).WithRemedy(`write a word, in "quotes" if it holds other characters`)
			return fallback
		}
	}
	if len(allowed) > 0 && !slices.Contains(allowed, word) {
		a.Errorf(argument.Value, "%s cannot be %s", key, show(word)).WithRemedy("%s", choices(word, allowed))
		return fallback
	}
	return word
}

// File reads the path of a file reference, @path, @"a path with spaces" or
// "@a path with spaces"; "" if the key was not written.
func (a *Arguments) File(key string) string {
	a.describe(key, "@file.csv")
	argument, ok := a.option(key)
	if !ok {
		return ""
	}
	file, ok := argument.Value.(File)
	if ok {
		return file.Path
	}
	like := "file.csv"
	switch v := argument.Value.(type) {
	case Column:
		like = v.Name
	case Text:
		if path, ok := strings.CutPrefix(v.Value, "@"); ok && path != "" {
			return path
		}
		like = v.Value
	}
	a.Errorf(argument.Value, "%s must name a file, not %s", key, show(argument.Value.String())).
		WithRemedy("write %s=%s", key, File{Path: like})
	return ""
}

// Positional returns the arguments without a key. If it is never called,
// Finish complains about any.
func (a *Arguments) Positional() []Expr {
	a.positional = true
	return a.call.Args
}

// Finish returns the first complaint in the text as an [*Error], or nil.
func (a *Arguments) Finish() error {
	for _, argument := range a.call.Named {
		if slices.Contains(a.used, argument.Key) {
			continue
		}
		key := argument
		key.Length = len(key.Key) // point at the key, not at its value
		err := a.Errorf(key, "%s has no argument %s", a.call.Name, show(argument.Key))
		if len(a.used) == 0 {
			err.WithRemedy("it takes no key=value arguments")
		} else {
			err.WithRemedy("%s", choices(argument.Key, a.used))
		}
	}
	if !a.positional && len(a.call.Args) > 0 {
		err := a.Errorf(a.call.Args[0], "%s takes no argument without a key", a.call.Name)
		if len(a.used) > 0 {
			err.WithRemedy("write %s(%s=%s)", a.call.Name, a.used[0], a.call.Args[0])
		} else {
			err.WithRemedy("write %s alone", a.call.Name)
		}
	}
	if a.first == nil {
		return nil
	}
	return a.first
}

// choices is the remedy for a word that is none of the allowed.
func choices(word string, allowed []string) string {
	one := "write " + strings.Join(allowed, ", ")
	if last := len(allowed) - 1; last > 0 {
		one = "write " + strings.Join(allowed[:last], ", ") + " or " + allowed[last]
	}
	if len(allowed) == 1 && Suggest(word, allowed) != "" {
		one = ""
	}
	return suggested(word, allowed, one)
}
