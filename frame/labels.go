package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Labels read the classes or the grades of a target, whatever brings its rows.
type Labels struct {
	names  []string           // in the order of their codes, none where they need no explanation; "" is all the rest
	values []float64          // of the names, as numbers; NaN where they are none
	lately map[string]float64 // codes of texts, -1 of what is none
}

// mostLately is how many texts labels remember: more than a target has classes.
const mostLately = 64

// NewLabels returns labels by their names in the order of their codes, the first of which is "" where it is all that is
// not the other. Without names 1 stands against 0 or -1, and true against false. The numbers of the target are of a
// kind, as training had them; where both names are boolean words numbers are 1 and 0 for them.
func NewLabels(names []string, kind credence.Kind) *Labels {
	l := &Labels{names: names}
	for _, name := range names {
		v, finite, ok := cell.ParseNumber([]byte(name))
		if truth, boolean := cell.ParseBoolean([]byte(name)); boolean && (kind == credence.Boolean || kind == credence.Numeric && !ok && names[0] != "") {
			v, finite, ok = truth, true, true
		}
		if !ok || !finite {
			v = math.NaN()
		}
		l.values = append(l.values, v)
	}
	return l
}

// Of returns the code of a text: of the name that is the same text, the same number, or the same boolean word in
// whatever case.
func (l *Labels) Of(text []byte) (code float64, ok bool) {
	code, known := l.lately[string(text)]
	if !known {
		if l.lately == nil || len(l.lately) == mostLately {
			l.lately = make(map[string]float64)
		}
		code = l.of(string(text))
		l.lately[string(text)] = code
	}
	return code, code >= 0
}

func (l *Labels) of(text string) float64 {
	if len(l.names) == 0 {
		if v, ok := cell.ParseBoolean([]byte(text)); ok && len(text) > 1 {
			return v
		}
		v, finite, ok := cell.ParseNumber([]byte(text))
		if !ok || !finite {
			return -1
		}
		return standard(v)
	}
	return l.rest(slices.IndexFunc(l.names, func(name string) bool { return sameLabel(text, name) }))
}

// OfNumber returns the code of a number or a boolean.
func (l *Labels) OfNumber(v float64) (code float64, ok bool) {
	if len(l.names) == 0 {
		code = standard(v)
	} else {
		code = l.rest(slices.Index(l.values, v))
	}
	return code, code >= 0
}

// rest is the code of a name, 0 where any other is meant.
func (l *Labels) rest(place int) float64 {
	if l.names[0] == "" && place != 1 {
		return 0
	}
	return float64(place)
}

// standard reads a class that needs no explanation; -1 is none.
func standard(v float64) float64 {
	switch v {
	case 1:
		return 1
	case 0, -1:
		return 0
	}
	return -1
}

// sameLabel says whether a label is that of a class: the same text, the same number, or the same boolean word in
// whatever case.
func sameLabel(label, class string) bool {
	if label == class {
		return true
	}
	if want, finite, ok := cell.ParseNumber([]byte(class)); ok && finite {
		v, _, ok := cell.ParseNumber([]byte(label))
		return ok && v == want
	}
	_, boolean := cell.ParseBoolean([]byte(label))
	return boolean && strings.EqualFold(label, class)
}

// Roles say what columns of a table are beside inputs, for models of columns and of keys alike, and what is done about
// rows that lack a value.
type Roles struct {
	Target *Expr `json:"target,omitempty"` // nil: none
	// Positive is the class that counts as 1, and Negative the only other; without it, all others. Without both the
	// data say what the classes are.
	Positive  string `json:"positive,omitempty"`
	Negative  string `json:"negative,omitempty"`
	Weight    *Expr  `json:"weight,omitempty"`    // how many times a row counts
	Offset    []Expr `json:"offset,omitempty"`    // added up
	Precision *Expr  `json:"precision,omitempty"` // divides the dispersion of a row
	Trials    *Expr  `json:"trials,omitempty"`
	Time      *Expr  `json:"time,omitempty"` // when a row came; nil where nobody asks
	Missing   Policy `json:"missing,omitempty"`
	// DropTarget leaves rows without a target out, whatever Missing says of inputs.
	DropTarget bool `json:"drop_target,omitempty"`
}

// TargetColumn returns the column of the target, "" where there is none.
func (r *Roles) TargetColumn() string {
	if r.Target == nil {
		return ""
	}
	return r.Target.Column
}

// Drops says whether a row that lacks the value of a column is left out.
func (r *Roles) Drops(column string) bool {
	return r.Missing == Drop || r.DropTarget && r.Target != nil && column == r.Target.Column
}

// Labels returns what reads the classes of the target: those that are named, or 1 against 0 or -1.
func (r *Roles) Labels() []string {
	if r.Positive == "" {
		return nil
	}
	return []string{r.Negative, r.Positive}
}

// Expressions returns all that is read in the roles, in their order.
func (r *Roles) Expressions() []*Expr {
	all := []*Expr{r.Target, r.Weight, r.Precision, r.Trials, r.Time}
	for i := range r.Offset {
		all = append(all, &r.Offset[i])
	}
	return slices.DeleteFunc(all, func(e *Expr) bool { return e == nil })
}

// BadWeight refuses what is no weight of a row, by the expression that says it.
func BadWeight(e string, w float64) error {
	return fmt.Errorf("weight %s is %s: weights must be 0 or more; correct the row or leave it out", e, number(w))
}

func badPrecision(e *Expr, p float64) error {
	return fmt.Errorf("precision %s is %s: precisions must be above 0; correct the row or leave it out", e, number(p))
}
