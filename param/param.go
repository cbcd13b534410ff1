// Package param has the one type of a model parameter: what is left out of a
// text is learned, what is stated is held, and a value behind "~" is where
// learning starts. Grammar, likelihoods, priors and features all use it.
package param

import (
	"strconv"
	"strings"
)

// State says what a fit may do with a parameter.
type State uint8

// The states of a parameter.
const (
	Learned State = iota // left out: the engine finds the value
	Guess                // key=~value: the engine starts from the value
	Held                 // key=value: the value is fixed
)

// String is "learned", "guess" or "held".
func (s State) String() string {
	switch s {
	case Guess:
		return "guess"
	case Held:
		return "held"
	}
	return "learned"
}

// Parameter is a positive model parameter. The zero value is learned from a
// start that the engine chooses. A fit changes the value and not the state.
type Parameter struct {
	Value float64 `json:"value,omitempty"` // 0 where State is Learned and nothing is known yet
	State State   `json:"state,omitempty"`
}

// Named is a parameter with its name in the text form of a part.
type Named struct {
	Name string
	Parameter
}

// Hold returns a parameter that is held at a value.
func Hold(value float64) Parameter { return Parameter{value, Held} }

// From returns a parameter that is learned from a value on.
func From(value float64) Parameter { return Parameter{value, Guess} }

// At returns the parameter with another value.
func (p Parameter) At(value float64) Parameter { return Parameter{value, p.State} }

// Or returns the value, or the fallback where nothing is known.
func (p Parameter) Or(fallback float64) float64 {
	if p.Value == 0 {
		return fallback
	}
	return p.Value
}

// List is a model parameter with several values, such as one for each column. Values is nil where
// State is Learned and nothing is known yet.
type List struct {
	Values []float64 `json:"values,omitempty"`
	State  State     `json:"state,omitempty"`
}

// Text builds the text form name(key=value, …) of a part, without what is left out.
type Text struct {
	Name      string
	arguments []string
}

// Add adds an argument.
func (t *Text) Add(key, value string) { t.arguments = append(t.arguments, key+"="+value) }

// Parameter adds a parameter as the grammar writes it: nothing where it is left out, ~value where
// learning starts there.
func (t *Text) Parameter(key string, p Parameter) {
	if p.State != Learned {
		t.Add(key, p.State.mark()+Number(p.Value))
	}
}

// List adds a parameter of several values.
func (t *Text) List(key string, l List) {
	if l.State == Learned {
		return
	}
	values := make([]string, len(l.Values))
	for i, v := range l.Values {
		values[i] = Number(v)
	}
	t.Add(key, l.State.mark()+"["+strings.Join(values, ", ")+"]")
}

// mark stands before a value that is a guess.
func (s State) mark() string {
	if s == Guess {
		return "~"
	}
	return ""
}

// String is the text.
func (t *Text) String() string {
	if len(t.arguments) == 0 {
		return t.Name
	}
	return t.Name + "(" + strings.Join(t.arguments, ", ") + ")"
}

// Number is the shortest text that reads as v again.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Treatment says what is done about hyper-parameters that are not stated.
type Treatment string

// The treatments. The empty one is the engine's default.
const (
	Integrate         Treatment = "integrate" // integrated under their priors
	Mode              Treatment = "mode"      // the mode under the same priors
	MaximumLikelihood Treatment = "ml"        // type-II maximum likelihood: no priors
	Heldout           Treatment = "heldout"   // prior variances by the log loss of rows that are left out
)
