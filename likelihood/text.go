package likelihood

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// checkPositive refuses a parameter that is not a positive number, unless it is left out and not
// yet known.
func checkPositive(family, name string, p param.Parameter) error {
	switch {
	case p.State > param.Held:
		return fmt.Errorf("likelihood: %s: %s is in the unknown state %d: hold it, guess it, or leave it out", family, name, p.State)
	case p.Value > 0 && !math.IsInf(p.Value, 1), p == param.Parameter{}:
		return nil
	}
	return fmt.Errorf("likelihood: %s: %s %v is not a positive number: state a positive one, or leave it out to have it learned",
		family, name, p.Value)
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

// textOf is the text form of a family with what is stated of its parameters.
func textOf(l interface {
	Named
	Parametric
}) string {
	t := param.Text{Name: l.Name()}
	for _, p := range l.Parameters() {
		t.Parameter(p.Name, p.Parameter)
	}
	return t.String()
}

// linkText is the text form of a family with a link, which is left out where it is the default.
func linkText(name string, link Link) string {
	t := param.Text{Name: name}
	if link != "" {
		t.Add("link", string(link))
	}
	return t.String()
}

// parameter returns the Parameter for a field.
func parameter(name string, p param.Parameter, start float64) Parameter {
	return Parameter{Name: name, Parameter: p.At(p.Or(start)), Positive: true}
}

// checkValues panics unless there is a value for each of want parameters.
func checkValues(family string, values []float64, want int) {
	if len(values) != want {
		panic(fmt.Sprintf("likelihood: %s has %d parameters, got %d values", family, want, len(values)))
	}
}

// isCount says whether y is one of 0, 1, 2, …
func isCount(y float64) bool { return y >= 0 && y == math.Floor(y) && !math.IsInf(y, 1) }

// Described is what a family says of itself to those who read texts and targets, and to people.
type Described interface {
	// Name is the name in the text form, without arguments.
	Name() string
	// Describe returns the function that takes the mean of y to f, and what y is.
	Describe() (Link, TargetKind)
}

// Describe is Describe of any family: "" and [Measurements] where it does not say.
func Describe(l Family) (Link, TargetKind) {
	if d, ok := l.(Described); ok {
		return d.Describe()
	}
	return "", Measurements
}

// Support returns the ends between which the targets of any family lie, and whether they are whole numbers: any numbers
// where it does not say.
func Support(l Family) (lower, upper float64, discrete bool) {
	if s, ok := l.(Supported); ok {
		lower, upper = s.Support()
		return lower, upper, s.Discrete()
	}
	return math.Inf(-1), math.Inf(1), false
}

// TargetKind says what the numbers y of a family are.
type TargetKind uint8

// The kinds of targets.
const (
	Measurements TargetKind = iota // any number, or any positive one
	Classes                        // 0 or 1
	Successes                      // 0, 1, …, out of a number of trials
	Counts                         // 0, 1, 2, …
	Grades                         // 0, 1, …, in order
)

// Graded is the ability of a family to take its number of grades from the data.
type Graded interface {
	// Grades returns the number of grades, 0 where the data decide.
	Grades() int
	// WithGrades returns the family for a number of grades, with everything to be learned.
	WithGrades(grades int) Family
}

// Named is a family with a name, as a table of families holds it.
type Named interface {
	Family
	Name() string
}

// Entry is a family in a table: its name, how its arguments are read, and its type for model files.
type Entry = spec.Entry[Named]

// All returns the families of this package, in the order of messages.
func All() []Entry {
	return []Entry{
		{Zero: Gaussian{}, Read: readGaussian},
		{Zero: Bernoulli{}, Read: readBernoulli},
		{Zero: Binomial{}, Read: readBinomial},
		{Zero: Poisson{}, Read: readPoisson},
		{Zero: NegativeBinomial{}, Read: readNegativeBinomial},
		{Zero: Gamma{}, Read: readGamma},
		{Zero: StudentT{}, Read: readStudentT},
		{Zero: Ordinal{}, Read: readOrdinal},
	}
}
