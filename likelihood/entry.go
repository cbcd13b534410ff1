package likelihood

import "github.com/credence-ml/credence/spec"

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
