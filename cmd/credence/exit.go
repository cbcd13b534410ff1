package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/spec"
)

// The exit codes, which scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitMisuse      = 2 // what can be decided without opening the data
	exitAgain       = 3 // merge has a job that asks another round
	exitInterrupted = 130
)

// misused marks an error that can be decided without opening the data: flags, grammar, unknown names
// of parts, a model that the engine refuses.
func misused(err error) error {
	if err == nil {
		return nil
	}
	return &fit.Misuse{Err: err}
}

// interrupted is the error of a command that was interrupted and saved its work.
type interrupted struct {
	error
	note string // what was saved
}

func (i interrupted) Unwrap() error { return i.error }

// exitCode is the code that a command ending in err exits with.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, fit.ErrMisuse):
		return exitMisuse
	case errors.As(err, new(again)):
		return exitAgain
	}
	return exitFailed
}

// tellError prints err as one clear line, and below it, where the error is about a
// place in a formula or spec, that text with a caret under the place.
func tellError(w io.Writer, err error) {
	var stopped interrupted
	if errors.As(err, &stopped) {
		fmt.Fprintf(w, "credence: interrupted: %s\n", printable(stopped.note))
		return
	}
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(w, "credence: interrupted; nothing was changed")
		return
	}
	if asks := new(again); errors.As(err, asks) && asks.error == nil { // which was told
		return
	}
	message := err.Error()
	if errors.Is(err, formula.ErrNoTarget) {
		message += "; credence look DATA shows the columns"
	}
	var misuse *fit.Misuse
	if errors.As(err, &misuse) && misuse.Option != "" { // which is a flag here
		flag := "--" + strings.NewReplacer("hold_out", "holdout", "_", "-").Replace(misuse.Option)
		message = strings.Replace(message, misuse.Error(), flag+": "+misuse.Err.Error(), 1)
	}
	fmt.Fprintf(w, "credence: %s\n", printable(withoutPackage(message)))
	var place *spec.Error
	if errors.As(err, &place) && place.Caret() != "" {
		for line := range strings.Lines(place.Caret()) {
			fmt.Fprintln(w, escaped(shortened(strings.TrimSuffix(line, "\n"), longestText)))
		}
	}
}

// packages are those beside engines whose errors begin with their name, which tells users nothing.
var packages = []string{"active", "arrow", "atomicfile", "calibration", "checkpoint", "credence", "criticism", "dataset", "effect", "feature", "fit", "formula", "frame", "hyper", "imaging", "kernel", "keyed", "learn",
	"likelihood", "linop", "look", "metric", "modelfile", "online", "plot", "posterior", "predict", "prior", "rowcache", "safetensors", "score",
	"selection", "shards", "spec", "stream", "table", "text"}

// withoutPackage takes the names of packages and engines off the beginning of a message: what is left begins with
// the file and the line, where there is one.
func withoutPackage(message string) string {
	engines := fit.Default().Engines
	for {
		name, rest, found := strings.Cut(message, ": ")
		if !found || !slices.Contains(packages, name) && !slices.ContainsFunc(engines, func(e fit.Engine) bool { return e.Name == name }) {
			return message
		}
		message = rest
	}
}

// A message is shown up to longestText characters, and a name up to longestName.
const (
	longestText = 2000
	longestName = 100
)

// nameText makes a name printable.
func nameText(name string) string { return printable(shortened(name, longestName)) }

// shortened leaves the middle out of what is longer than most characters: a message ends with the remedy.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most*2/3]) + "…" + string(runes[len(runes)-most/3:])
}

// printable makes one line of a text.
func printable(text string) string {
	return escaped(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(shortened(text, longestText), string(unicode.ReplacementChar))))
}

// escaped writes what a terminal would obey as JSON and Go do: a name or a text of the data may have
// brought control characters, or some that turn the direction of a line.
func escaped(text string) string {
	obeyed := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if strings.IndexFunc(text, obeyed) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if obeyed(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// harmless returns the arguments of a line with their texts made printable.
func harmless(args []any) []any {
	out := slices.Clone(args)
	for i, arg := range out {
		switch arg := arg.(type) {
		case string:
			out[i] = printable(arg)
		case error:
			out[i] = printable(arg.Error())
		case fmt.Stringer:
			out[i] = printable(arg.String())
		}
	}
	return out
}
