package frame

import (
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/special"
)

// missingLevel is the level of a category that stands for a missing value.
const missingLevel = "(missing)"

// mostWeight is the largest sum of weights whose square is a number.
const mostWeight = 1e150

// fewLevels is up to how many levels a category may have in as few rows as it likes.
const fewLevels = 20

// Frame ends the last round: it makes the frame of the rows that were counted. Errors name every
// column with missing values at once.
func (c *Census) Frame() (*Frame, error) {
	if len(c.pending) > 0 {
		return nil, fmt.Errorf("frame: the census has another round to go: add all rows once more")
	}
	total, err := c.total()
	if err != nil {
		return nil, err
	}
	copied := *c.frame
	f := &finisher{Census: c, frame: &copied, total: total}
	f.frame.Inputs = slices.Clone(c.frame.Inputs)
	if c.frame.Target != nil {
		f.frame.Target = new(*c.frame.Target)
	}
	f.frame.Rows, f.frame.Dropped, f.frame.WeightSum, f.frame.Fractions = total.Rows, total.Dropped, total.Weight, total.Fractions
	if total.Rows == 0 {
		if total.Dropped > 0 {
			return nil, fmt.Errorf("frame: every row has a missing value: fill them with --missing mean or --missing indicator")
		}
		return nil, fmt.Errorf("frame: the table has no rows: check that the file holds more than a header")
	}
	if err := f.refuseMissing(); err != nil {
		return nil, err
	}
	return f.frame, f.finish()
}

// finisher makes a frame of what all rows add up to.
type finisher struct {
	*Census
	frame *Frame
	total *tally
}

// refuseMissing names all columns whose missing values the policy does not fill.
func (f *finisher) refuseMissing() error {
	var names []string
	noted := map[string]bool{}
	filled := f.options.Missing == Mean || f.options.Missing == Indicator
	note := func(column string, count int) {
		if text := fmt.Sprintf("%s (%d)", column, count); count > 0 && !noted[text] {
			noted[text] = true
			names = append(names, text)
		}
	}
	inputs := 0
	if !filled {
		for i := range f.frame.Inputs {
			if e := &f.frame.Inputs[i].Expr; !e.Keyed {
				note(e.Column, f.total.Inputs[i].Missing)
			}
		}
		inputs = len(names)
	}
	for i := range f.frame.Offset {
		note(f.frame.Offset[i].Column, f.total.Missing[f.frame.Offset[i].Column])
	}
	for _, e := range []*Expr{f.frame.Weight, f.frame.Precision, f.frame.Trials} {
		if e != nil {
			note(e.Column, f.total.Missing[e.Column])
		}
	}
	others := len(names) - inputs
	target, missing := f.frame.Target, 0
	if target != nil {
		missing = f.total.Target.Missing
	}
	switch {
	case len(names) == 0 && missing == 0:
		return nil
	case len(names) == 0:
		first := ""
		if f.reader != nil && f.reader.lacks != "" {
			first = f.reader.lacks + ": "
		}
		return fmt.Errorf("frame: %starget %s is missing in %d %s: leave such rows out with --missing drop-target",
			first, target.Expr, missing, cell.Plural(missing, "row", "rows"))
	}
	remedy := "fill them with --missing mean or --missing indicator, or leave such rows out with --missing drop"
	if missing > 0 {
		note("target "+target.Expr.Column, missing)
		remedy = "fill those of inputs and leave rows without a target out with --missing mean,drop-target, or leave all such rows out with --missing drop"
	}
	if others > 0 {
		remedy = "leave such rows out with --missing drop"
	}
	return fmt.Errorf("frame: missing values in %s: %s", strings.Join(names, ", "), remedy)
}

// finish turns the statistics into the frame.
func (f *finisher) finish() error {
	frame := f.frame
	if frame.WeightSum == 0 {
		return fmt.Errorf("frame: every weight is 0: leave out weight(%s), or correct it", frame.Weight.Written())
	}
	if frame.WeightSum > mostWeight {
		return fmt.Errorf("frame: weight %s adds up to %s over the rows, and sums over rows overflow: divide the weights by a constant", frame.Weight, number(frame.WeightSum))
	}
	if frame.Dropped > 0 {
		f.remark("%d of %d rows have missing values and are left out", frame.Dropped, frame.Dropped+frame.Rows)
	}
	if frame.Target != nil {
		levels := f.words
		if frame.Target.Kind == credence.Category {
			levels = f.levels[frame.Target.Expr.Column].Levels
		}
		hint, err := frame.Target.finish(f.total.Target, levels, f.options.Positive)
		if err != nil {
			return err
		}
		if hint != "" {
			f.warn("%s", hint)
		}
	}
	var indicators []Input
	indicated, used := map[string]bool{}, map[string]bool{}
	for i := range frame.Inputs {
		used[frame.Inputs[i].Name] = true
	}
	for i := range frame.Inputs {
		in, s := &frame.Inputs[i], &f.total.Inputs[i]
		filled := frame.Missing == Mean || frame.Missing == Indicator
		if s.Count == 0 && !in.Expr.Keyed && !(filled && in.Kind == credence.Numeric) {
			return fmt.Errorf("frame: column %q has no value in any row: leave it out of the formula with - %s", in.Expr.Column, cell.Column(in.Expr.Column))
		}
		if in.Kind == credence.Category {
			f.finishCategory(in, s)
		} else {
			if s.Count > 0 { // a number that is missing in every row is 0
				in.Fill = s.centre()
				if s.Weight > 0 && !in.Segment && !in.Expr.Keyed {
					in.Ends = &[2]float64{s.Low, s.High}
				}
			}
			if in.Kind == credence.Numeric && !frame.Raw && !in.Segment && !s.constant() {
				in.Center, in.Scale = in.Fill, s.deviation()
			}
			if !special.Finite(1 / in.Scale) { // so small that dividing overflows
				in.Scale = 1
			}
			if !special.Finite(in.Center) || !special.Finite(in.Scale) {
				return fmt.Errorf("frame: %s: the numbers are too large to have a standard deviation: use a larger unit, or --raw", in.Name)
			}
			if s.Missing > 0 && frame.Missing == Indicator && !indicated[in.Expr.Column] {
				indicated[in.Expr.Column] = true
				indicators = append(indicators, Input{
					Name: in.Expr.Column + "_missing", Expr: Column(in.Expr.Column),
					Kind: credence.Boolean, Scale: 1, Indicates: true, Segment: in.Segment,
				})
			}
		}
		if s.Missing > 0 && !in.Expr.Keyed {
			with := "the mean"
			if in.Kind == credence.Category {
				with = "level " + in.Levels[int(in.Fill)]
			}
			f.remark("input %s: %d missing %s filled with %s", in.Name, s.Missing, cell.Plural(s.Missing, "value is", "values are"), with)
		}
	}
	f.warnRepeated()
	for _, in := range indicators {
		for used[in.Name] {
			in.Name += "_"
		}
		used[in.Name] = true
		frame.Inputs = append(frame.Inputs, in)
	}
	return nil
}

// mostRepeated is how many pairs of equal inputs are named.
const mostRepeated = 5

// finishCategory keeps the levels that occur, in the source's order, or sorted where there is none.
func (f *finisher) finishCategory(in *Input, s *inputTally) {
	list := f.levels[in.Expr.root()]
	most := 0.0
	for k, count := range s.Counts {
		if count == 0 {
			continue
		}
		in.Levels = append(in.Levels, list.Levels[k])
		most = max(most, s.weightOf(k))
	}
	if list.Sort {
		cell.SortLevels(in.Levels)
	}
	codes, _ := levelCodes(list.Levels, in.Levels)
	first := slices.IndexFunc(codes, func(code float64) bool { return s.weightOf(int(code)) == most })
	in.Fill = float64(max(0, first)) // of equally frequent levels the first fills
	if n := len(in.Levels); n > fewLevels && 2*n > s.Count && !in.Expr.Keyed && !in.Expr.Grouped {
		f.warn("column %s is a category with %d levels in %d rows: each level has a weight of its own; is it an identifier (leave it out: - %s), or numbers written in another way?",
			in.Expr, n, s.Count, cell.Column(in.Expr.Column))
	}
	if s.Missing > 0 && (f.frame.Missing == Indicator || in.Expr.Keyed || in.Expr.Grouped) {
		in.Fill = float64(len(in.Levels))
		in.Levels = append(in.Levels, missingLevel)
	}
}

// warnRepeated warns about inputs that are equal to another, and remarks on those that are the same in every row.
func (f *finisher) warnRepeated() {
	var constant []string
	type key struct {
		hash     uint64
		category bool
	}
	first, repeated := map[key]string{}, 0
	for i := range f.frame.Inputs {
		in, s := &f.frame.Inputs[i], &f.total.Inputs[i]
		if in.Segment || in.Expr.Keyed || in.Expr.Grouped {
			continue
		}
		category := in.Kind == credence.Category
		if s.Missing == 0 && (category && len(in.Levels) == 1 || !category && s.constant()) {
			constant = append(constant, in.Name)
			continue
		}
		k := key{s.Hash, category}
		if other, known := first[k]; known {
			if repeated++; repeated <= mostRepeated {
				f.warn("inputs %s and %s have the same values in every row", other, in.Name)
			}
		} else {
			first[k] = in.Name
		}
	}
	if more := repeated - mostRepeated; more > 0 {
		f.warn("%d more %s the values of another in every row", more, cell.Plural(more, "input has", "inputs have"))
	}
	if len(constant) > 0 {
		f.remark("%s %s the same in every row", cell.Plural(len(constant), "input", "inputs"),
			list(constant)+cell.Plural(len(constant), " is", " are"))
	}
}

func (f *finisher) warn(format string, args ...any) {
	f.frame.Warnings = append(f.frame.Warnings, fmt.Sprintf(format, args...))
}

// remark says what was done as was asked, or does no harm.
func (f *finisher) remark(format string, args ...any) {
	f.frame.Remarks = append(f.frame.Remarks, fmt.Sprintf(format, args...))
}
