package frame

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/credence-ml/credence/internal/special"
)

// Function is a transform of one number.
type Function string

// The transforms. Center subtracts the mean of the training rows; Scale
// subtracts it and divides by the standard deviation (by 1 if that is 0). Clip holds
// a number between two; Power is a whole power from the second to the 20th, and comparisons with a number are 1 or 0.
const (
	Log    Function = "log"
	Log1p  Function = "log1p"
	Sqrt   Function = "sqrt"
	Exp    Function = "exp"
	Expm1  Function = "expm1"
	Square Function = "square"
	Abs    Function = "abs"
	Sign   Function = "sign"
	Clip   Function = "clip"
	Center Function = "center"
	Scale  Function = "scale"

	Power    Function = "^"
	Above    Function = ">"
	Below    Function = "<"
	AtLeast  Function = ">="
	AtMost   Function = "<="
	Equal    Function = "=="
	NotEqual Function = "!="
)

// MostPower bounds powers.
const MostPower = 20

// Functions returns the transforms that have names, in the order in which messages list them.
func Functions() []Function {
	return []Function{Log, Log1p, Sqrt, Exp, Expm1, Square, Abs, Sign, Clip, Center, Scale, Year, Month, Day, Weekday, Yearday, Hour}
}

// compares reports whether the function is a comparison with a number.
func (f Function) compares() bool {
	return slices.Contains([]Function{Above, Below, AtLeast, AtMost, Equal, NotEqual}, f)
}

// Known reports whether there is such a transform, and how many numbers it takes beside its operand.
func (f Function) Known() (numbers int, ok bool) {
	switch {
	case f == Clip:
		return 2, true
	case f == Power || f.compares():
		return 1, true
	}
	return 0, slices.Contains(Functions(), f)
}

// learned reports whether the function needs training statistics.
func (f Function) learned() bool { return f == Center || f == Scale }

// Step is one transform of a chain. Mean and SD are the training statistics of
// Center and Scale, set by [Fit].
type Step struct {
	Function Function `json:"function"`
	Mean     float64  `json:"mean,omitempty"`
	SD       float64  `json:"sd,omitempty"`
	// At is the power, what is compared with, or the lower bound of Clip, and To the upper one.
	At float64 `json:"at,omitempty"`
	To float64 `json:"to,omitempty"`
}

// invalid says what is wrong with the numbers of a step, "" for nothing.
func (s Step) invalid() string {
	switch {
	case !special.Finite(s.At) || !special.Finite(s.To):
		return "its numbers must be finite"
	case s.Function == Clip && s.At >= s.To:
		return "the first number must be below the second, as in clip(x, 0, 10)"
	case s.Function == Power && (s.At != math.Floor(s.At) || s.At < 2 || s.At > MostPower):
		return fmt.Sprintf("a power is a whole number from 2 to %d; write sqrt(x) for a root", MostPower)
	}
	return ""
}

// text is the step of an operand.
func (s Step) text(operand string) string {
	switch {
	case s.Function.compares():
		return "(" + operand + " " + string(s.Function) + " " + number(s.At) + ")"
	case s.Function == Power:
		return operand + "^" + number(s.At)
	case s.Function == Clip:
		operand += ", " + number(s.At) + ", " + number(s.To)
	}
	return string(s.Function) + "(" + operand + ")"
}

// apply transforms values in place and returns the index of the first that it
// cannot transform, which it leaves as it was; -1 if none.
func (s Step) apply(values []float64) int {
	for i, v := range values {
		if v != v {
			continue
		}
		result := s.of(v)
		if !special.Finite(result) {
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
	case Log1p:
		return math.Log1p(v)
	case Sqrt:
		return math.Sqrt(v)
	case Exp:
		return math.Exp(v)
	case Expm1:
		return math.Expm1(v)
	case Square:
		return v * v
	case Power:
		return math.Pow(v, s.At)
	case Abs:
		return math.Abs(v)
	case Sign:
		return indicator(v > 0) - indicator(v < 0)
	case Clip:
		return max(s.At, min(v, s.To))
	case Above:
		return indicator(v > s.At)
	case Below:
		return indicator(v < s.At)
	case AtLeast:
		return indicator(v >= s.At)
	case AtMost:
		return indicator(v <= s.At)
	case Equal:
		return indicator(v == s.At)
	case NotEqual:
		return indicator(v != s.At)
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

func indicator(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// number is the shortest text of a number.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// The parts of a date, which is a number of days since 1970-01-01 UTC: the year; the month, 1 to 12; the
// day of the month, 1 to 31; the weekday, 1 for Monday to 7 for Sunday; the day of the year, 1 to 366; the hour, 0 to
// 23.
const (
	Year    Function = "year"
	Month   Function = "month"
	Day     Function = "day"
	Yearday Function = "yearday"
	Weekday Function = "weekday"
	Hour    Function = "hour"
)

// Part reports whether the function is a part of a date.
func (f Function) Part() bool {
	return slices.Contains([]Function{Year, Month, Day, Weekday, Yearday, Hour}, f)
}

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
	case Day:
		return float64(t.Day())
	case Yearday:
		return float64(t.YearDay())
	case Weekday:
		return float64((t.Weekday()+6)%7 + 1)
	}
	return float64(t.Hour())
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
	case Log1p:
		return math.Expm1(y)
	case Expm1:
		return math.Log1p(math.Max(y, -1))
	case Center:
		return y + s.Mean
	case Scale:
		return y*s.SD + s.Mean
	}
	panic("frame: " + string(s.Function) + " has no inverse")
}
