package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Expr is a column of a table under a chain of transforms, innermost first, or
// without a column the constant Value.
type Expr struct {
	Column string  `json:"column,omitempty"`
	Value  float64 `json:"value,omitempty"`
	Steps  []Step  `json:"steps,omitempty"`
	// Keyed says that the column's levels are those that hash takes: a missing value is a level of its
	// own, and one that training did not have is none, whatever the policies say.
	Keyed bool `json:"keyed,omitempty"`
	// Level says that what the steps make of the column, such as the hour of a time, is a level and no number.
	Level bool `json:"level,omitempty"`
	// Grouped says that the levels are groups of rows, whose effects have a law of their own: a missing value is a
	// level of its own, and one that training did not have is drawn from the law, unless refusing is stated.
	Grouped bool `json:"grouped,omitempty"`
	// Idle says that nothing looks at the levels: those that training did not have are neither counted nor refused.
	Idle bool `json:"-"`
}

// Column returns the expression that is a column itself.
func Column(name string) Expr { return Expr{Column: name} }

// Constant returns the expression that is the same number in every row.
func Constant(value float64) Expr { return Expr{Value: value} }

// With returns e under a further transform, which takes no numbers.
func (e Expr) With(f Function) Expr {
	e.Steps = append(slices.Clip(e.Steps), Step{Function: f})
	return e
}

// WithNumbers returns e under a further transform: a power, a comparison with the number at, or Clip to [at, to]. A
// power of 2 is [Square]. It refuses numbers that the transform cannot take.
func (e Expr) WithNumbers(f Function, at, to float64) (Expr, error) {
	if f == Power && at == 2 {
		f, at = Square, 0
	}
	e = e.With(f)
	step := &e.Steps[len(e.Steps)-1]
	step.At, step.To = at, to
	if wrong := step.invalid(); wrong != "" {
		return e, fmt.Errorf("%s: %s", e, wrong)
	}
	return e, nil
}

// AsLevel returns e as a level.
func (e Expr) AsLevel() Expr {
	e.Level = true
	return e
}

// root tells what an expression begins with from others: its column, or the levels that its steps make of it.
func (e *Expr) root() string {
	if e.Level {
		return e.Column + "\x00" + e.String()
	}
	return e.Column
}

// String is the expression for people, "log(price)": the column's name stands as
// it is, without quotes.
func (e Expr) String() string { return e.prefix(len(e.Steps)) }

// Written is the expression as formulas read it, for people to type: its column in backquotes where it needs them.
func (e Expr) Written() string {
	if e.Column != "" {
		text, _ := credence.CutText(e.Column)
		e.Column = cell.Column(text)
	}
	return e.String()
}

// prefix is the text of the expression after its first count steps.
func (e Expr) prefix(count int) string {
	text, _ := credence.CutText(e.Column)
	if text == "" {
		text = number(e.Value)
	}
	for _, step := range e.Steps[:count] {
		text = step.text(text)
	}
	return text
}

// place names the expression where a message has named the file and the row before.
func (e Expr) place() string {
	if len(e.Steps) > 0 || e.Column == "" {
		return e.String()
	}
	return "column " + strconv.Quote(e.Column)
}

// clone returns a copy that shares no memory with e.
func (e Expr) clone() Expr {
	e.Steps = append([]Step(nil), e.Steps...)
	return e
}

// cellError is a complaint about one value of a block.
type cellError struct {
	row     int // within the block
	message string
}

func (e *cellError) Error() string { return e.message }

// Apply returns the expression of one value of its column. NaN, a missing value, stays NaN; every
// other result is finite, or the error says why not, after the place of the value.
func (e Expr) Apply(v float64) (float64, error) {
	if len(e.Steps) == 0 && !math.IsInf(v, 0) {
		return v, nil
	}
	value := [1]float64{v}
	if err := e.apply(value[:], len(e.Steps)); err != nil {
		return 0, err
	}
	return value[0], nil
}

// ValidateRow refuses an expression whose value does not depend on one row alone.
func (e Expr) ValidateRow() error {
	for _, step := range e.Steps {
		if _, known := step.Function.Known(); !known || step.Function.learned() {
			return fmt.Errorf("%s: %s does not act on one row alone: use log, sqrt, exp or square", e, step.Function)
		}
	}
	return nil
}

// apply transforms values in place by the first count steps of e. NaN, a missing
// value, stays NaN; every other result is finite, or the error says why not.
func (e Expr) apply(values []float64, count int) *cellError {
	for i, v := range values {
		if math.IsInf(v, 0) {
			return &cellError{i, fmt.Sprintf("column %q is infinite: correct the value or leave the row out", e.Column)}
		}
	}
	for at, step := range e.Steps[:count] {
		bad := step.apply(values)
		if bad < 0 {
			continue
		}
		message := fmt.Sprintf("%s: %s is %s, ", e.prefix(at+1), e.prefix(at), number(values[bad]))
		switch step.Function {
		case Log:
			message += "and log needs a number above 0"
		case Log1p:
			message += "and log1p needs a number above -1"
		case Sqrt:
			message += "and sqrt needs a number of at least 0"
		case Year, Month, Day, Weekday, Yearday, Hour:
			message += "and is no day of the calendar"
		default:
			message += "and the result overflows"
		}
		return &cellError{bad, message + ": correct the row, leave it out, or use " + Expr{Column: e.Column, Steps: e.Steps[:at]}.Written() + " without " + string(step.Function)}
	}
	return nil
}

// Invertible reports whether every value of the expression has one value of its column, which grows
// with it: true where log, log1p, sqrt, exp, expm1, center and scale are the only transforms.
func (e Expr) Invertible() bool {
	return e.Column != "" && !slices.ContainsFunc(e.Steps, func(s Step) bool {
		return !slices.Contains([]Function{Log, Log1p, Sqrt, Exp, Expm1, Center, Scale}, s.Function)
	})
}

// Invert returns the value of the column at which an invertible expression is y, and the nearest value
// where it is never y: 0 for sqrt(x) = −1. A result beyond all numbers is infinite.
func (e Expr) Invert(y float64) float64 {
	for i := len(e.Steps) - 1; i >= 0; i-- {
		y = e.Steps[i].inverse(y)
	}
	return y
}

// LogSlope returns log |dy/dx| of an invertible expression y of a column x, at the x where it is y: what
// the log density of x has above that of y.
func (e Expr) LogSlope(y float64) float64 {
	sum := 0.0
	for i := len(e.Steps) - 1; i >= 0; i-- {
		s := e.Steps[i]
		switch s.Function {
		case Log, Log1p: // 1/x, x = e^y, and 1/(1 + x), 1 + x = e^y
			sum -= y
		case Sqrt: // 1/2√x
			sum -= math.Log(2 * y)
		case Exp:
			sum += math.Log(y)
		case Expm1:
			sum += math.Log1p(y)
		case Scale:
			sum -= math.Log(s.SD)
		}
		y = s.inverse(y)
	}
	return sum
}
