package formula

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/spec"
)

// usualFunctions are those of hsgp, for each of one to three columns.
var usualFunctions = [...]int{30, 12, 7}

const (
	usualBoundary  = 1.5
	usualHarmonics = 30 // of periodic
)

// statedLengthscales of hsgp and periodic leave the squares and the Bessel functions of both ends accurate.
var statedLengthscales = spec.Between(1e-4, 1e6)

// hsgp compiles hsgp(x, …).
func (c *compiler) hsgp(call spec.Call) error {
	a := c.arguments(call)
	f := newFunction(call)
	args := a.Positional()
	if kernel, ok := a.Argument("kernel"); ok && kernel.Value.String() == "matern12" {
		return c.formula.Errorf(kernel, "matern12 is too rough for a sum of few waves").WithRemedy("write kernel=matern32, or matern12(…), which is of random features")
	}
	f.kernel = a.Means("the kernel", "rbf").Word("kernel", "rbf", "rbf", "matern32", "matern52")
	f.functions = a.Means("functions along each column, or a list with one number for each", "30 for one column, 12 for two, 7 for three, never more than different values; more where the lengthscale asks for them").
		Ints("m", spec.Between(1, feature.MostFunctions))
	f.boundary = a.Means("where the box ends, in units of half the range of the data about its middle", "1.5, or what the lengthscale asks for").Float("boundary", 0, spec.Between(1, 100))
	var err error
	var segment bool
	if f.inputs, segment, _, err = c.group(call, args); err != nil {
		return err
	}
	d := len(f.inputs)
	if segment || d > len(usualFunctions) {
		return c.formula.Errorf(call, "hsgp takes one to three columns").WithRemedy("write rbf(…), whose number of weights does not grow with that of columns")
	}
	c.lengthscale(&f, a, spec.Positive(), statedLengthscales)
	if err := a.Finish(); err != nil {
		return err
	}
	written, _ := a.Argument("m")
	total := 1
	switch len(f.functions) {
	case 1:
		f.functions = slices.Repeat(f.functions, d)
	case 0, d:
	default:
		return c.formula.Errorf(written, "%d numbers are given for %d columns", len(f.functions), d).WithRemedy("give %d, or a single one for all", d)
	}
	for _, m := range f.functions {
		if total *= m; total > feature.MostFunctions {
			return c.formula.Errorf(written, "%s has more than %d functions in all", call.Name, feature.MostFunctions).WithRemedy("state fewer, or write rbf(…)")
		}
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// periodic compiles periodic(x, period=).
func (c *compiler) periodic(call spec.Call) error {
	a := c.arguments(call)
	f := newFunction(call)
	args := a.Positional()
	f.period = a.Means("after how much of the column the function repeats, in its own unit: 24 for hours", "").Float("period", 0, spec.Positive())
	f.count = a.Means("harmonics", "30, never more than half the different values within a period").Int("m", 0, spec.Between(1, feature.MostHarmonics))
	if !a.Has("period") {
		a.Errorf(call, "periodic needs a period").WithRemedy("write such as periodic(hour, period=24)")
	}
	var err error
	var segment bool
	if f.inputs, segment, _, err = c.group(call, args); err != nil {
		return err
	}
	if segment || len(f.inputs) != 1 {
		return c.formula.Errorf(call, "periodic takes one column").WithRemedy("write a term for each")
	}
	f.lengthscale.Shared = true
	s := a.Means("of the kernel exp(-2 sin²(π d/period)/lengthscale²), without a unit", "").Setting("lengthscale", spec.Positive(), statedLengthscales)
	if s.Value > 0 {
		f.lengthscale.Values, f.lengthscale.State = []float64{s.Value}, s.State
	}
	f.lengthscale.NoPrior = a.Means("prior of the logarithm of learned lengthscales", "").Word("lengthscale_prior", "normal", "none", "normal") == "none"
	if err := a.Finish(); err != nil {
		return err
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// leastReach is the range of a column whose reciprocal is a number, with what lengthscales make of it.
const leastReach = 1e-290

// box makes the term of hsgp, about the middle of the data.
func box(f *function, m *making) (feature.Term, error) {
	term := &feature.HSGP{Name: f.label, Kernel: feature.Kernel(f.kernel), Inputs: f.inputs, Lengthscale: f.lengthscale,
		Functions: f.functions, Fixed: f.boundary > 0}
	for _, input := range f.inputs {
		low, high, different, err := ends(m.data, input)
		if err != nil {
			return nil, err
		}
		if !(high > low) {
			return nil, fmt.Errorf("formula: %s: %s has the same value in every row: leave it out", f.label, m.in.Dense[input].Name)
		}
		if high-low < leastReach {
			return nil, fmt.Errorf("formula: %s: the values of %s lie within %.2g of each other, too close to divide by: multiply the column", f.label, m.in.Dense[input].Name, high-low)
		}
		if f.functions == nil {
			term.Functions, term.Most = append(term.Functions, min(usualFunctions[len(f.inputs)-1], different)), append(term.Most, different)
		}
		term.Middle, term.Reach = append(term.Middle, (low+high)/2), append(term.Reach, (high-low)/2)
		term.Boundary = append(term.Boundary, cmp.Or(f.boundary, usualBoundary))
	}
	return term, nil
}

// ends returns the least and the largest value of an input in rows that count, and how many different ones there are,
// up to MostFrequencies.
func ends(data credence.Data, input int) (low, high float64, different int, err error) {
	low, high = math.Inf(1), math.Inf(-1)
	values := map[float64]bool{}
	for b, err := range credence.Batches(context.Background(), data) {
		if err != nil {
			return 0, 0, 0, err
		}
		for i := range b.Rows() {
			if b.WeightOf(i) == 0 {
				continue
			}
			x := b.X.Row(i)[input]
			low, high = min(low, x), max(high, x)
			if len(values) < MostFrequencies {
				values[x] = true
			}
		}
	}
	return low, high, len(values), nil
}
