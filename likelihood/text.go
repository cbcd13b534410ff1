package likelihood

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// text builds the form name(key=value, …), leaving out what is left out.
type text struct {
	name      string
	arguments []string
}

func (t *text) add(key, value string) {
	t.arguments = append(t.arguments, key+"="+value)
}

// parameter adds a parameter as the grammar writes it: nothing when it is left
// out, ~value when learning starts there.
func (t *text) parameter(key string, value float64, learn bool) {
	switch {
	case value == 0:
	case learn:
		t.add(key, "~"+number(value))
	default:
		t.add(key, number(value))
	}
}

func (t *text) String() string {
	if len(t.arguments) == 0 {
		return t.name
	}
	return t.name + "(" + strings.Join(t.arguments, ", ") + ")"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// checkPositive refuses a stated parameter that is not a positive number. Zero
// stands for a parameter that is left out.
func checkPositive(family, name string, value float64) error {
	if value >= 0 && !math.IsInf(value, 1) {
		return nil
	}
	return fmt.Errorf("likelihood: %s: %s %v is not a positive number: state a positive one, or leave it out to have it learned",
		family, name, value)
}

func checkLink(family string, link Link, allowed ...Link) error {
	if link == "" {
		return nil
	}
	names := make([]string, len(allowed))
	for i, l := range allowed {
		if l == link {
			return nil
		}
		names[i] = string(l)
	}
	return fmt.Errorf("likelihood: %s: there is no link %q: choose %s", family, string(link), strings.Join(names, " or "))
}

// checkCount says why y is no count, or nil.
func checkCount(family string, y float64) error {
	switch {
	case math.IsNaN(y) || math.IsInf(y, 0):
		return fmt.Errorf("target %v is not a number: %s needs counts 0, 1, 2, …; drop the row or declare it missing", y, family)
	case y < 0:
		return fmt.Errorf("target %v is negative: %s needs counts 0, 1, 2, …; choose gaussian or studentt for signed targets", y, family)
	case y != math.Floor(y) && family == "binomial":
		return fmt.Errorf("target %v is not a whole number: binomial needs the number of successes; multiply a share by its trials, or choose gaussian", y)
	case y != math.Floor(y):
		return fmt.Errorf("target %v is not a whole number: %s needs counts 0, 1, 2, …; choose gamma or gaussian for measured quantities, or give the exposure as offset(log(exposure))", y, family)
	}
	return nil
}

// checkFinite says why y is no real number, or nil.
func checkFinite(family string, y float64) error {
	if math.IsNaN(y) || math.IsInf(y, 0) {
		return fmt.Errorf("target %v is not a number: %s needs finite targets; drop the row or declare it missing", y, family)
	}
	return nil
}

// parameter returns the Parameter for a field: zero means left out.
func parameter(name string, value, start float64, learn bool) Parameter {
	if value == 0 {
		return Parameter{Name: name, Value: start, Positive: true}
	}
	return Parameter{Name: name, Value: value, Positive: true, Given: true, Held: !learn}
}

// checkValues panics unless there is a value for each of want parameters.
func checkValues(family string, values []float64, want int) {
	if len(values) != want {
		panic(fmt.Sprintf("likelihood: %s has %d parameters, got %d values", family, want, len(values)))
	}
}

// isCount says whether y is one of 0, 1, 2, …
func isCount(y float64) bool { return y >= 0 && y == math.Floor(y) && !math.IsInf(y, 1) }
