package formula

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/periodogram"
	"github.com/credence-ml/credence/spec"
)

const (
	usualComponents = 4
	mostComponents  = 20
	periodStarts    = 16 // of searches in several columns
)

// spectral compiles spectral(x, …), which is a term for every component.
func (c *compiler) spectral(call spec.Call) error {
	a := c.arguments(call)
	f := newFunction(call)
	f.kernel = string(feature.RBF)
	args := a.Positional()
	f.components = a.Means("periods, each with a variance of its own", "4").Int("components", usualComponents, spec.Between(1, mostComponents))
	f.count = a.Means("frequencies of each component, two weights each", "50").Int("n", 0, spec.Between(1, mostFrequencies))
	f.sampling = feature.Sampling(a.Means("how frequencies are drawn", "quasi for one column or two, else orthogonal, or iid; fastfood is for hundreds of columns").
		Word("kind", "", string(feature.Quasi), string(feature.IID), string(feature.Orthogonal), string(feature.Fastfood)))
	f.periods = a.Means("periods of the first components, in the unit of the column", "those of the largest waves").Settings("period", spec.Positive())
	var err error
	if f.inputs, f.segment, _, err = c.group(call, args); err != nil {
		return err
	}
	if f.segment {
		return c.formula.Errorf(call, "spectral takes columns by name, and . holds a sparse segment").WithRemedy("name the columns")
	}
	c.lengthscale(&f, a, spec.Positive())
	if err := a.Finish(); err != nil {
		return err
	}
	if stated, ok := a.Argument("period"); ok && len(f.inputs) > 1 {
		return c.formula.Errorf(stated, "a component of several columns has a period in each").WithRemedy("leave period= out, or write a term for each column")
	} else if ok && len(f.periods.Values) > f.components {
		return c.formula.Errorf(stated, "%d periods are given for %d components", len(f.periods.Values), f.components).WithRemedy("write components=%d", len(f.periods.Values))
	}
	for k := range f.components {
		one := f
		if one.component = k; f.components > 1 {
			one.suffix = fmt.Sprintf("[%d]", k+1)
			one.label += one.suffix
		}
		c.plan.functions = append(c.plan.functions, one)
	}
	return nil
}

// searched returns the periods of every component: the stated ones, and for those that are left out where they are
// searched for. Those of one column start at the peaks of the periodogram of what the others leave, those of several at
// draws between the bounds.
func (f *function) searched(fr *frame.Frame, in *feature.Inputs, data credence.Data, rng *rand.Rand) ([]feature.Lengthscale, error) {
	bounds := &feature.Periods{}
	var low, step float64 // of the one column, in its own unit
	for _, input := range f.inputs {
		values, err := sample(data, []int{input}, smoothValues, credence.Rand(0, credence.DrawCentres, 0))
		if err != nil {
			return nil, err
		}
		slices.Sort(values)
		values = slices.Compact(values)
		column := &in.Dense[input]
		if len(values) < leastValues {
			return nil, fmt.Errorf("formula: %s: %s has %d different %s, and a period needs %d: write %[6]s for a line, or onehot(%[7]s)",
				f.label, column.Name, len(values), cell.Plural(len(values), "value", "values"), leastValues, fr.Inputs[input].Expr.Written(), cell.Column(fr.Inputs[input].Expr.Column))
		}
		scale := cmp.Or(column.Scale, 1)
		gaps := make([]float64, len(values)-1)
		for i := range gaps {
			gaps[i] = scale * (values[i+1] - values[i])
		}
		width := scale * (values[len(values)-1] - values[0])
		slices.Sort(gaps)
		low, step = column.Center+scale*values[0], gaps[len(gaps)/2]
		bounds.Lower, bounds.Upper = append(bounds.Lower, min(2*step, width)), append(bounds.Upper, width)
		for _, period := range f.periods.Values {
			if period > mostPeriod*width || period < leastPeriod*width {
				return nil, fmt.Errorf("formula: %s: a period of %g is not between %g and %g times the range of %s, which is %.3g: give the period in the unit of the column",
					f.label, period, leastPeriod, mostPeriod, column.Name, width)
			}
		}
	}
	list := make([]feature.Lengthscale, f.components)
	for k := range list {
		of := *bounds
		list[k] = feature.Lengthscale{NoPrior: true, Periods: &of}
		if len(f.inputs) > 1 {
			for range periodStarts {
				start := make([]float64, len(f.inputs))
				for j := range start {
					start[j] = bounds.Lower[j] * math.Pow(bounds.Upper[j]/bounds.Lower[j], rng.Float64())
				}
				of.Starts = append(of.Starts, start)
			}
		}
	}
	if len(f.inputs) == 1 {
		peaks, err := f.peaks(in, data, low, bounds.Lower[0]/2, bounds.Upper[0])
		if err != nil {
			return nil, err
		}
		for k, period := range peaks {
			list[k].Periods.Starts = [][]float64{{period}}
			if k < len(f.periods.Values) {
				list[k].State = f.periods.State
			}
		}
	}
	for k := range list {
		list[k].Values = list[k].Periods.Starts[0]
	}
	return list, nil
}

// peaks returns the stated periods and those of the largest waves that they leave in the target.
func (f *function) peaks(in *feature.Inputs, data credence.Data, low, step, width float64) ([]float64, error) {
	waves := periodogram.New(low, step, width)
	column, input := &in.Dense[f.inputs[0]], f.inputs[0]
	scale := cmp.Or(column.Scale, 1)
	for b, err := range credence.Batches(context.Background(), data) {
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			y := 0.0
			if b.Target != nil {
				y = b.Target[i]
			}
			if b.Offset != nil {
				y -= b.Offset[i]
			}
			waves.Add(column.Center+scale*b.X.Row(i)[input], y, b.WeightOf(i))
		}
	}
	periods := slices.Clone(f.periods.Values)
	for _, period := range periods {
		waves.Remove(period)
	}
	for len(periods) < f.components {
		period := waves.Largest()
		waves.Remove(period)
		periods = append(periods, period)
	}
	return periods, nil
}
