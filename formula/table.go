package formula

import (
	"context"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// Function is a function of formulas.
type Function struct {
	Name    string
	About   string // what it is, in a line
	Options []spec.Option

	example string // of a call, where a column is not enough
	// compile reads a call, and feature makes its term; nil for what makes none. Of more than one kind of random
	// features there is one of each.
	compile func(c *compiler, call spec.Call) error
	feature func(f *function, m *making) (feature.Term, error)
	// needsData says that the term takes something from all rows, and taken, of which an online engine learns none,
	// what; "" where keys are learned.
	needsData bool
	taken     string
}

// making is what terms are made of.
type making struct {
	in          *feature.Inputs
	frame       *frame.Frame
	data        credence.Data
	seed, place uint64
}

// functions are those that make terms, in the order of messages.
func functions() []Function {
	return []Function{
		{Name: "poly", About: "powers: poly(x, 3)", example: "poly(z, 2)", compile: (*compiler).poly, feature: func(f *function, _ *making) (feature.Term, error) {
			return &feature.Polynomial{Name: f.label, Inputs: f.inputs, Degree: f.degree}, nil
		}},
		{Name: "s", About: "a smoothing spline of one column: s(income), s(hour, period=24)", compile: (*compiler).spline, feature: smooth, needsData: true, taken: "its knots"},
		{Name: "radial", About: "Gaussian bumps at centres among the rows", compile: (*compiler).bumps, needsData: true, taken: "its centres", feature: func(f *function, m *making) (feature.Term, error) {
			bumps, err := f.bumps(m)
			return &feature.Radial{Bumps: bumps}, err
		}},
		{Name: "sigmoid", About: "sigmoids at centres among the rows", compile: (*compiler).bumps, needsData: true, taken: "its centres", feature: func(f *function, m *making) (feature.Term, error) {
			bumps, err := f.bumps(m)
			return &feature.Sigmoid{Bumps: bumps}, err
		}},
		{Name: "rbf", About: "a Gaussian process with the squared exponential kernel, by random features", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "laplacian", About: "the same with the Laplacian kernel", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "cauchy", About: "the same with the Cauchy kernel", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "matern12", About: "the same with the Matérn kernel, ν = 1/2", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "matern32", About: "the same with the Matérn kernel, ν = 3/2", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "matern52", About: "the same with the Matérn kernel, ν = 5/2", compile: (*compiler).fourier, feature: atFrequencies},
		{Name: "spectral", About: "a Gaussian process of several periods, which are learned: spectral(t, components=4)", compile: (*compiler).spectral, feature: atFrequencies, needsData: true},
		{Name: "hsgp", About: "a Gaussian process of one to three columns in fixed functions, for many rows", compile: (*compiler).hsgp, feature: box, needsData: true, taken: "what it covers"},
		{Name: "periodic", About: "a Gaussian process that repeats: periodic(hour, period=24)", example: "periodic(z, period=24)", compile: (*compiler).periodic, feature: smooth, needsData: true, taken: "what it covers"},
		{Name: "onehot", About: "a weight for every level of one column, or of a part of a date: onehot(hour(t)), or number: onehot(code); a block of its own", compile: (*compiler).oneHot, feature: func(f *function, _ *making) (feature.Term, error) {
			return &feature.OneHot{Name: f.label, Input: f.inputs[0]}, nil
		}},
		{Name: "hash", About: "a weight for every value of any columns, taken as text, or of parts of dates; hash(a:b) crosses them, hash(a):x multiplies", compile: (*compiler).hash, needsData: true, feature: func(f *function, m *making) (feature.Term, error) {
			term := &feature.Hash{Name: f.label, Crosses: f.crosses, Segment: f.segment, Without: f.without, Bits: f.bits}
			return term.Met(m.in, credence.Batches(context.Background(), m.data))
		}},
		{Name: "keep", About: "columns that selection never leaves out", compile: (*compiler).together, feature: func(f *function, m *making) (feature.Term, error) {
			return &feature.Kept{Name: f.label, Inputs: f.withIndicators(m.frame)}, nil
		}},
		{Name: "group", About: "columns that selection takes in or leaves out together", compile: (*compiler).together, feature: func(f *function, m *making) (feature.Term, error) {
			return &feature.Group{Name: f.label, Inputs: f.withIndicators(m.frame)}, nil
		}},
		{Name: "offset", About: "a known part of f; where it is missing nothing is filled in: --missing drop leaves the row out"},
		{Name: "weight", About: "the row counts so many times, which need not be whole, but for gibbs of classes"},
		{Name: "precision", About: "the dispersion of the row is divided by this"},
		{Name: "log"}, {Name: "log1p", About: "log(1 + x)"}, {Name: "sqrt"}, {Name: "exp"}, {Name: "expm1", About: "exp(x) - 1"},
		{Name: "square", About: "x^2; whole powers up to x^20 are written so"},
		{Name: "abs"}, {Name: "sign", About: "1, 0 or -1"},
		{Name: "clip", About: "held between two numbers: clip(x, 0, 10); a comparison with a number is 1 or 0: (x > 3)"},
		{Name: "center", About: "less the mean of training"},
		{Name: "scale", About: "less the mean, over the standard deviation"},
		{Name: "year"}, {Name: "month"}, {Name: "day", About: "of the month, 1 to 31"}, {Name: "weekday", About: "1 for Monday to 7"},
		{Name: "yearday", About: "1 to 366"}, {Name: "hour"},
	}
}

// functionOf returns the function of a name, or one without a name.
func functionOf(name string) Function {
	list := functions()
	if k := slices.IndexFunc(list, func(f Function) bool { return f.Name == name }); k >= 0 {
		return list[k]
	}
	return Function{}
}

// atFrequencies are random features at frequencies that are given.
func atFrequencies(f *function, _ *making) (feature.Term, error) {
	term := f.random()
	term.Given, term.Frequencies = true, f.frequencies
	return term, nil
}

// bumps are at centres among the rows.
func (f *function) bumps(m *making) (feature.Bumps, error) {
	centres, err := f.centres(m.data, credence.Rand(m.seed, credence.DrawCentres, m.place))
	return feature.Bumps{Name: f.label, Inputs: f.inputs, Lengthscale: f.lengthscale, Centres: centres}, err
}
