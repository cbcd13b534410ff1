package formula

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/spec"
)

const (
	usualKnots   = 10   // and harmonics
	leastValues  = 4    // different ones of the column of a smooth
	leastPeriod  = 1e-9 // times the range of the column
	mostPeriod   = 1e3
	smoothValues = 1 << 20 // rows that a column's different values are taken from
)

// spline compiles s(x), the curve; the straight part of a column that does not repeat joins the linear block.
func (c *compiler) spline(call spec.Call) error {
	a := c.arguments(call)
	f := newFunction(call)
	args := a.Positional()
	f.count = a.Means("knots, at quantiles of the column's different values; under period= harmonics", "10, fewer if there are fewer different values").
		Int("k", 0, spec.Between(1, feature.MostHarmonics))
	f.period = a.Means("after how much of the column the curve repeats, in its own unit: 24 for hours", "it does not repeat").Float("period", 0, spec.Positive())
	if k, ok := a.Argument("k"); ok && f.period == 0 && f.count < 3 {
		a.Errorf(k.Value, "k cannot be %d", f.count).WithRemedy("a curve needs 3 knots: write 3 or more, or the column itself for a line")
	}
	if err := a.Finish(); err != nil {
		return err
	}
	var segment bool
	var err error
	if f.inputs, segment, _, err = c.group(call, args); err != nil {
		return err
	}
	if len(f.inputs) != 1 || segment {
		return c.formula.Errorf(call, "s takes one column").WithRemedy("write s(x) + s(z) for a curve of each, or hsgp(x, z) for one function of both")
	}
	if f.period == 0 {
		c.addLinear(c.plan.Frame.Inputs[f.inputs[0]])
	}
	c.plan.functions = append(c.plan.functions, f)
	return nil
}

// smooth makes the term of s and of periodic.
func smooth(f *function, m *making) (feature.Term, error) {
	// The values are drawn like centres, from all rows while these are few.
	values, err := sample(m.data, f.inputs, smoothValues, credence.Rand(0, credence.DrawCentres, 0))
	if err != nil {
		return nil, err
	}
	slices.Sort(values)
	values = slices.Compact(values)
	if f.period > 0 {
		return f.cyclic(m, values)
	}
	k, err := f.size(m, len(values), len(values), min(usualKnots, len(values)-1))
	if err != nil {
		return nil, err
	}
	knots := make([]float64, k)
	for i := range knots {
		at := float64(i) * float64(len(values)-1) / float64(k-1)
		below := min(int(at), len(values)-2)
		share := at - float64(below)
		knots[i] = values[below]*(1-share) + values[below+1]*share
	}
	return &feature.Spline{Name: f.label, Input: f.inputs[0], Knots: knots}, nil
}

// cyclic makes the term of s under period=, for the different values of its column as they enter the fit, in order.
func (f *function) cyclic(m *making, values []float64) (feature.Term, error) {
	input := &m.in.Dense[f.inputs[0]]
	scale := cmp.Or(input.Scale, 1)
	if width := scale * (values[len(values)-1] - values[0]); width > 0 && (f.period > mostPeriod*width || f.period < leastPeriod*width) {
		return nil, fmt.Errorf("formula: %s: a period of %g is not between %g and %g times the range of %s, which is %.3g: give the period in the unit of the column",
			f.label, f.period, leastPeriod, mostPeriod, input.Name, width)
	}
	places := map[int]bool{} // in the period, but for rounding
	for _, v := range values {
		const parts = 1e9
		turns := (input.Center + scale*v) / f.period
		places[int(math.Round((turns-math.Floor(turns))*parts))%parts] = true
	}
	usual := usualKnots
	if f.kind == "periodic" {
		usual = usualHarmonics
	}
	count, err := f.size(m, len(places), len(places)/2, min(usual, len(places)/2))
	if err != nil {
		return nil, err
	}
	if f.kind == "periodic" {
		return &feature.Periodic{Name: f.label, Input: f.inputs[0], Period: f.period, Harmonics: count, Lengthscale: f.lengthscale}, nil
	}
	return &feature.Cyclic{Name: f.label, Input: f.inputs[0], Period: f.period, Harmonics: count}, nil
}

// size is k=, or what it usually is, of a column with so many different values, which allow so many knots or harmonics.
func (f *function) size(m *making, values, most, usual int) (int, error) {
	within, column := "", m.frame.Inputs[f.inputs[0]].Expr
	if f.period > 0 {
		within = fmt.Sprintf(" within a period of %g", f.period)
	}
	if values < leastValues {
		return 0, fmt.Errorf("formula: %s: %s has %d different %s%s, and a curve needs %d: write %[7]s for a line, or onehot(%[8]s)",
			f.label, column, values, cell.Plural(values, "value", "values"), within, leastValues, column.Written(), cell.Column(column.Column))
	}
	if f.count > most {
		argument := "k"
		if f.kind == "periodic" {
			argument = "m"
		}
		return 0, fmt.Errorf("formula: %s: %[7]s=%[2]d is more than the %d that the %d different values of %s%s allow: write %[7]s=%[3]d, or leave out %[7]s=", f.label, f.count, most, values, column, within, argument)
	}
	if f.count > 0 {
		return f.count, nil
	}
	return usual, nil
}
