package param

import (
	"strconv"
	"strings"
)

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
