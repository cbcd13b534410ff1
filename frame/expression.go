package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// Function is a transform of one number.
type Function string

// The transforms. Center subtracts the mean of the training rows; Scale
// subtracts it and divides by the standard deviation (by 1 if that is 0).
const (
	Log    Function = "log"
	Sqrt   Function = "sqrt"
	Exp    Function = "exp"
	Square Function = "square"
	Center Function = "center"
	Scale  Function = "scale"
)

// Functions returns the transforms in the order in which messages list them.
func Functions() []Function {
	return []Function{Log, Sqrt, Exp, Square, Center, Scale, Year, Month, Weekday, Hour}
}

// learned reports whether the function needs training statistics.
func (f Function) learned() bool { return f == Center || f == Scale }

// Step is one transform of a chain. Mean and SD are the training statistics of
// Center and Scale, set by [Fit].
type Step struct {
	Function Function `json:"function"`
	Mean     float64  `json:"mean,omitempty"`
	SD       float64  `json:"sd,omitempty"`
}

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
}

// Column returns the expression that is a column itself.
func Column(name string) Expr { return Expr{Column: name} }

// Constant returns the expression that is the same number in every row.
func Constant(value float64) Expr { return Expr{Value: value} }

// With returns e under a further transform.
func (e Expr) With(f Function) Expr {
	steps := make([]Step, len(e.Steps), len(e.Steps)+1)
	copy(steps, e.Steps)
	e.Steps = append(steps, Step{Function: f})
	return e
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

// prefix is the text of the expression after its first count steps.
func (e Expr) prefix(count int) string {
	text, _ := credence.CutText(e.Column)
	if text == "" {
		text = number(e.Value)
	}
	for _, step := range e.Steps[:count] {
		text = string(step.Function) + "(" + text + ")"
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
		if !slices.Contains(Functions(), step.Function) || step.Function.learned() {
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
		operand := e.prefix(at)
		message := fmt.Sprintf("%s: %s is %s, ", e.prefix(at+1), operand, number(values[bad]))
		switch step.Function {
		case Log:
			message += "and log needs a number above 0"
		case Sqrt:
			message += "and sqrt needs a number of at least 0"
		case Year, Month, Weekday, Hour:
			message += "and is no day of the calendar"
		default:
			message += "and the result overflows"
		}
		return &cellError{bad, message + ": correct the row, leave it out, or use " + operand + " without " + string(step.Function)}
	}
	return nil
}

// apply transforms values in place and returns the index of the first that it
// cannot transform, which it leaves as it was; -1 if none.
func (s Step) apply(values []float64) int {
	for i, v := range values {
		result := s.of(v)
		if v == v && !special.Finite(result) {
			return i
		}
		values[i] = result
	}
	return -1
}

// of is the transform of a number, which is not finite where there is none.
func (s Step) of(v float64) float64 {
	switch s.Function {
	case Log:
		return math.Log(v)
	case Sqrt:
		return math.Sqrt(v)
	case Exp:
		return math.Exp(v)
	case Square:
		return v * v
	case Center:
		return v - s.Mean
	case Scale:
		return (v - s.Mean) / s.SD
	}
	if s.Function.Part() {
		return s.Function.part(v)
	}
	panic("frame: unknown function " + string(s.Function))
}

// number is the shortest text of a number.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// The parts of a date, which is a number of days since 1970-01-01 UTC: the year; the month, 1 to 12; the
// weekday, 1 for Monday to 7 for Sunday; the hour, 0 to 23.
const (
	Year    Function = "year"
	Month   Function = "month"
	Weekday Function = "weekday"
	Hour    Function = "hour"
)

// Part reports whether the function is a part of a date.
func (f Function) Part() bool { return f == Year || f == Month || f == Weekday || f == Hour }

// part returns a part of the date that is so many days after 1970-01-01 UTC; none of a date beyond the
// calendar.
func (f Function) part(days float64) float64 {
	const farthest = 3e6 // days: eight thousand years
	if !(math.Abs(days) < farthest) {
		return math.NaN()
	}
	// Times of day are whole milliseconds; the nearest is what was written.
	t := time.UnixMilli(int64(math.Round(days * 24 * 60 * 60 * 1000))).UTC()
	switch f {
	case Year:
		return float64(t.Year())
	case Month:
		return float64(t.Month())
	case Weekday:
		return float64((t.Weekday()+6)%7 + 1)
	}
	return float64(t.Hour())
}

// Invertible reports whether every value of the expression has one value of its column, which grows
// with it: true unless a square, or a part of a date, is among the transforms.
func (e Expr) Invertible() bool {
	return e.Column != "" && !slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Function == Square || s.Function.Part() })
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
		case Log: // 1/x, x = e^y
			sum -= y
		case Sqrt: // 1/2√x
			sum -= math.Log(2 * y)
		case Exp:
			sum += math.Log(y)
		case Scale:
			sum -= math.Log(s.SD)
		}
		y = s.inverse(y)
	}
	return sum
}

// inverse returns where the transform is y.
func (s Step) inverse(y float64) float64 {
	switch s.Function {
	case Log:
		return math.Exp(y)
	case Sqrt:
		return math.Max(y, 0) * math.Max(y, 0)
	case Exp:
		return math.Log(math.Max(y, 0))
	case Center:
		return y + s.Mean
	case Scale:
		return y*s.SD + s.Mean
	}
	panic("frame: " + string(s.Function) + " has no inverse")
}
