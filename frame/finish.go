package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
)

// missingLevel is the level of a category that stands for a missing value.
const missingLevel = "(missing)"

// mostWeight is the largest sum of weights whose square is a number.
const mostWeight = 1e150

// fewLevels is up to how many levels a category may have in as few rows as it likes.
const fewLevels = 20

// refuseMissing names all columns whose missing values the policy does not fill.
func (f *fitter) refuseMissing() error {
	var names []string
	filled := f.options.Missing == Mean || f.options.Missing == Indicator
	note := func(column string, count int) {
		if count == 0 {
			return
		}
		text := fmt.Sprintf("%s (%d)", column, count)
		if !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	inputs := 0
	if !filled {
		for i := range f.frame.Inputs {
			note(f.frame.Inputs[i].Expr.Column, f.inputs[i].missing)
		}
		inputs = len(names)
	}
	for i := range f.frame.Offset {
		note(f.frame.Offset[i].Column, f.missing[f.frame.Offset[i].Column])
	}
	for _, e := range []*Expr{f.frame.Weight, f.frame.Trials} {
		if e != nil {
			note(e.Column, f.missing[e.Column])
		}
	}
	others := len(names) - inputs
	target := f.frame.Target
	switch {
	case len(names) == 0 && (target == nil || f.target.missing == 0):
		return nil
	case len(names) == 0:
		return fmt.Errorf("frame: target %s is missing in %d %s: leave such rows out with --missing drop",
			target.Expr, f.target.missing, plural(f.target.missing, "row", "rows"))
	}
	remedy := "fill them with --missing mean or --missing indicator, or leave such rows out with --missing drop"
	if target != nil && f.target.missing > 0 {
		note("target "+target.Expr.Column, f.target.missing)
		others++
	}
	if others > 0 {
		remedy = "leave such rows out with --missing drop"
	}
	return fmt.Errorf("frame: missing values in %s: %s", strings.Join(names, ", "), remedy)
}

// finish turns the statistics into the frame.
func (f *fitter) finish() error {
	frame := f.frame
	if frame.WeightSum == 0 {
		return fmt.Errorf("frame: every weight is 0: leave out weight(%s), or correct it", frame.Weight)
	}
	if frame.WeightSum > mostWeight {
		return fmt.Errorf("frame: weight %s adds up to %s over the rows, and sums over rows overflow: divide the weights by a constant", frame.Weight, number(frame.WeightSum))
	}
	if frame.Dropped > 0 {
		f.warn("%d of %d rows have missing values and are left out", frame.Dropped, frame.Dropped+frame.Rows)
	}
	if frame.Target != nil {
		var levels []string
		switch worder, ok := f.table.source.(Worder); {
		case frame.Target.Kind == credence.Boolean && ok:
			levels = worder.Words(frame.Target.Expr.Column)
		case frame.Target.Kind == credence.Category:
			levels = f.table.levels(&frame.Target.Expr)
		}
		hint, err := frame.Target.finish(&f.target, levels, f.options)
		if err != nil {
			return err
		}
		if hint != "" {
			f.warn("%s", hint)
		}
	}
	var indicators []Input
	for i := range frame.Inputs {
		in, s := &frame.Inputs[i], &f.inputs[i]
		if s.count == 0 {
			return fmt.Errorf("frame: column %q has no value in any row: leave it out of the formula with - %s", in.Expr.Column, in.Expr.Column)
		}
		if in.Kind == credence.Category {
			f.finishCategory(in, s)
		} else {
			in.Fill = s.centre()
			if in.Kind == credence.Numeric && !frame.Raw && !in.Segment && !s.constant() {
				in.Center, in.Scale = in.Fill, s.deviation()
			}
			if !finite(1 / in.Scale) { // so small that dividing overflows
				in.Scale = 1
			}
			if !finite(in.Center) || !finite(in.Scale) {
				return fmt.Errorf("frame: %s: the numbers are too large to have a standard deviation: use a larger unit, or --raw", in.Name)
			}
			known := slices.ContainsFunc(indicators, func(other Input) bool { return other.Expr.Column == in.Expr.Column })
			if s.missing > 0 && frame.Missing == Indicator && !known {
				indicators = append(indicators, Input{
					Name: in.Expr.Column + "_missing", Expr: Column(in.Expr.Column),
					Kind: credence.Boolean, Scale: 1, Indicates: true, Segment: in.Segment,
				})
			}
		}
		if s.missing > 0 {
			with := "the mean"
			if in.Kind == credence.Category {
				with = "level " + in.Levels[int(in.Fill)]
			}
			f.warn("input %s: %d missing %s filled with %s", in.Name, s.missing, plural(s.missing, "value is", "values are"), with)
		}
	}
	f.compare()
	for _, in := range indicators {
		for slices.ContainsFunc(frame.Inputs, func(other Input) bool { return other.Name == in.Name }) {
			in.Name += "_"
		}
		frame.Inputs = append(frame.Inputs, in)
	}
	return nil
}

// finishCategory keeps the levels that occur, in the source's order.
func (f *fitter) finishCategory(in *Input, s *inputScan) {
	levels := f.table.levels(&in.Expr)
	most := -1.0
	for k, count := range s.counts {
		if count == 0 {
			continue
		}
		if s.weights[k] > most {
			most, in.Fill = s.weights[k], float64(len(in.Levels))
		}
		in.Levels = append(in.Levels, levels[k])
	}
	if n := len(in.Levels); n > fewLevels && 2*n > s.count {
		f.warn("column %s is a category with %d levels in %d rows: each level has a weight of its own; is it an identifier, or numbers written in another way?",
			in.Expr.Column, n, s.count)
	}
	if s.missing > 0 && f.frame.Missing == Indicator {
		in.Fill = float64(len(in.Levels))
		in.Levels = append(in.Levels, missingLevel)
	}
}

// compare warns about constant and equal inputs.
func (f *fitter) compare() {
	var constant []string
	type key struct {
		hash     uint64
		category bool
	}
	first := map[key]string{}
	for i := range f.frame.Inputs {
		in, s := &f.frame.Inputs[i], &f.inputs[i]
		if in.Segment {
			continue
		}
		if s.constant() && s.missing == 0 {
			constant = append(constant, in.Name)
			continue
		}
		k := key{s.hash, in.Kind == credence.Category}
		if other, known := first[k]; known {
			f.warn("inputs %s and %s have the same values in every row", other, in.Name)
		} else {
			first[k] = in.Name
		}
	}
	if len(constant) > 0 {
		f.warn("%s %s the same in every row", plural(len(constant), "input", "inputs"),
			list(constant)+plural(len(constant), " is", " are"))
	}
}

func (f *fitter) warn(format string, args ...any) {
	f.frame.Warnings = append(f.frame.Warnings, fmt.Sprintf(format, args...))
}

// drop finds the rows in which one of the table's columns is missing.
func (t *table) drop() error {
	var column []float64
	for first := 0; first < t.source.Rows(); first += credence.BlockRows {
		count := min(credence.BlockRows, t.source.Rows()-first)
		if err := t.source.Read(&t.chunk, first, count); err != nil {
			return err
		}
		t.current = &t.chunk
		t.scatter()
		column = resize(column, count)
		lacking := make([]bool, count)
		some := false
		for k := range t.slots {
			t.gather(column, &t.slots[k])
			for i, v := range column {
				if v != v {
					lacking[i], some = true, true
				}
			}
		}
		for i := range lacking {
			if some && lacking[i] {
				t.dropped = append(t.dropped, first+i)
			}
		}
	}
	return nil
}

// checkSparse refuses values of the sparse segment that are no numbers.
func (t *table) checkSparse(first int) error {
	sparse := &t.current.Sparse
	sum := 0.0
	for _, v := range sparse.Value {
		sum += v - v // 0 for a number, NaN otherwise
	}
	if sum == 0 {
		return nil
	}
	for i := range sparse.Rows {
		columns, values := sparse.Row(i)
		for k, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return t.fail(first+i, fmt.Errorf("column \"x%d\" is %s: correct the value or leave it out of the row", columns[k]+1, number(v)))
			}
		}
	}
	return nil
}
