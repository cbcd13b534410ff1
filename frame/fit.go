package frame

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// inputScan gathers what Fit needs to know about one input.
type inputScan struct {
	moments
	counts  []int     // of a category: rows of each level of the source
	weights []float64 // and their Σw
}

// fitter is the state of one Fit.
type fitter struct {
	frame   *Frame
	table   *table
	options Options
	inputs  []inputScan
	target  targetScan
	missing map[string]int // offset, weight and trials columns with missing values
	column  []float64      // one block of an expression
	weight  []float64      // weights of the current block, nil where there are none
}

// Fit reads the training table and fixes everything that prediction must repeat.
// Errors name the column and the row, and every column with missing values at once.
func Fit(plan *Plan, source credence.Source, options Options) (*Frame, error) {
	options, err := options.Validate()
	if err != nil {
		return nil, err
	}
	if err := plan.validate(); err != nil {
		return nil, err
	}
	f := &fitter{frame: newFrame(plan, options), table: newTable(source), options: options,
		missing: map[string]int{}}
	if err := f.table.add(0, f.frame.expressions(true)...); err != nil {
		return nil, err
	}
	if err := f.describe(plan); err != nil {
		return nil, err
	}
	if options.Missing == Drop {
		if err := f.table.drop(); err != nil {
			return nil, err
		}
		f.frame.Dropped = len(f.table.dropped)
	}
	f.frame.Rows = f.table.rows()
	if f.frame.Rows == 0 {
		if f.frame.Dropped > 0 {
			return nil, fmt.Errorf("frame: every row has a missing value: fill them with --missing mean or --missing indicator")
		}
		return nil, fmt.Errorf("frame: the table has no rows: check that the file holds more than a header")
	}
	if err := f.learnSteps(); err != nil {
		return nil, err
	}
	if err := f.scan(); err != nil {
		return nil, err
	}
	if err := f.refuseMissing(); err != nil {
		return nil, err
	}
	return f.frame, f.finish()
}

// newFrame returns a frame with everything that needs no data.
func newFrame(plan *Plan, options Options) *Frame {
	f := &Frame{Missing: options.Missing, Unseen: options.Unseen, Raw: options.Raw}
	if plan.Target != nil {
		f.Target = &Target{Expr: plan.Target.clone(), Mode: options.Mode}
	}
	f.Inputs = make([]Input, len(plan.Inputs))
	for i, e := range plan.Inputs {
		f.Inputs[i] = Input{Name: e.String(), Expr: e.clone(), Scale: 1}
	}
	for _, e := range plan.Offset {
		f.Offset = append(f.Offset, e.clone())
	}
	if plan.Weight != nil {
		e := plan.Weight.clone()
		f.Weight = &e
	}
	if plan.Trials != nil {
		e := plan.Trials.clone()
		f.Trials = &e
	}
	return f
}

// expressions returns the frame's expressions, with or without those that only
// rows with a target need.
func (f *Frame) expressions(withTarget bool) []*Expr {
	var all []*Expr
	for i := range f.Inputs {
		all = append(all, &f.Inputs[i].Expr)
	}
	for i := range f.Offset {
		all = append(all, &f.Offset[i])
	}
	all = append(all, f.Trials)
	if withTarget {
		all = append(all, f.Weight)
		if f.Target != nil {
			all = append(all, &f.Target.Expr)
		}
	}
	return all
}

// describe fixes the kinds and refuses numbers asked of a category.
func (f *fitter) describe(plan *Plan) error {
	frame := f.frame
	frame.SegmentWidth, frame.SparseNames = f.table.schema.Sparse, f.table.schema.SparseNames
	if plan.Sparse {
		frame.Sparse = frame.SegmentWidth
	}
	f.inputs = make([]inputScan, len(frame.Inputs))
	for i := range frame.Inputs {
		in := &frame.Inputs[i]
		kind := f.table.kind(&in.Expr)
		in.Segment = f.table.slots[f.table.names[in.Expr.Column]].column < 0
		if len(in.Expr.Steps) == 0 {
			in.Kind = kind
		} else if kind == credence.Category {
			return asNumbers(&in.Expr, f.table.levels(&in.Expr))
		}
		if in.Kind == credence.Category {
			levels := len(f.table.levels(&in.Expr))
			f.inputs[i].counts, f.inputs[i].weights = make([]int, levels), make([]float64, levels)
		}
	}
	others := []*Expr{frame.Weight, frame.Trials}
	for i := range frame.Offset {
		others = append(others, &frame.Offset[i])
	}
	for _, e := range others {
		if e != nil && f.table.kind(e) == credence.Category {
			return asNumbers(e, f.table.levels(e))
		}
	}
	if t := frame.Target; t != nil {
		t.Kind = f.table.kind(&t.Expr)
		if t.Kind != credence.Category {
			return nil
		}
		levels := f.table.levels(&t.Expr)
		if len(t.Expr.Steps) > 0 {
			return asNumbers(&t.Expr, levels)
		}
		switch t.Mode {
		case Numbers:
			return fmt.Errorf("frame: target %s is a category (%s), and the family needs numbers: choose --family bernoulli, or another target", t.Expr, list(levels))
		case Grades:
			return fmt.Errorf("frame: target %s is a category (%s), whose order is unknown: number the grades 0, 1, 2, …", t.Expr, list(levels))
		}
	}
	return nil
}

// asNumbers refuses a category where numbers are needed.
func asNumbers(e *Expr, levels []string) error {
	return fmt.Errorf("frame: %s: column %q is a category (%s), not numbers: use it as a plain column, or declare what stands for a missing value",
		e, e.Column, list(levels))
}

// learnSteps sets the statistics of center and scale, from the innermost out,
// with one pass for each level of nesting.
func (f *fitter) learnSteps() error {
	type pending struct {
		e  *Expr
		at int
	}
	next := func(e *Expr, from int) (pending, bool) {
		for at := from; at < len(e.Steps); at++ {
			if e.Steps[at].Function.learned() {
				return pending{e, at}, true
			}
		}
		return pending{}, false
	}
	var work []pending
	for _, e := range f.frame.expressions(true) {
		if e != nil && e.Column != "" {
			if p, ok := next(e, 0); ok {
				work = append(work, p)
			}
		}
	}
	for len(work) > 0 {
		stats := make([]moments, len(work))
		err := f.pass(func(first int) error {
			for k, p := range work {
				if err := f.table.evaluate(f.column, p.e, p.at, first); err != nil {
					return err
				}
				stats[k].add(f.column, f.weight)
			}
			return nil
		})
		if err != nil {
			return err
		}
		var later []pending
		for k, p := range work {
			step := &p.e.Steps[p.at]
			step.Mean = stats[k].centre()
			if step.Function == Scale {
				step.SD = stats[k].deviation()
			}
			if !finite(step.Mean) || !finite(step.SD) {
				return fmt.Errorf("frame: %s: the numbers are too large to have a standard deviation: use a larger unit", p.e)
			}
			if p, ok := next(p.e, p.at+1); ok {
				later = append(later, p)
			}
		}
		work = later
	}
	return nil
}

// pass reads the table in blocks and calls visit with each, its weights evaluated.
func (f *fitter) pass(visit func(first int) error) error {
	for first := 0; first < f.frame.Rows; first += credence.BlockRows {
		count := min(credence.BlockRows, f.frame.Rows-first)
		if err := f.table.read(first, count); err != nil {
			return err
		}
		f.column = resize(f.column, count)
		if e := f.frame.Weight; e != nil {
			f.weight = resize(f.weight, count)
			if err := f.table.evaluate(f.weight, e, len(e.Steps), first); err != nil {
				return err
			}
			for i, w := range f.weight {
				if w < 0 {
					return f.table.fail(first+i, badWeight(e, w))
				}
				if w != w { // counted by scan, which makes it an error
					f.weight[i] = 0
				}
			}
		}
		if err := visit(first); err != nil {
			return err
		}
	}
	return nil
}

func badWeight(e *Expr, w float64) error {
	return fmt.Errorf("weight %s is %s: weights must be 0 or more; correct the row or leave it out", e, number(w))
}

// scan is the main pass.
func (f *fitter) scan() error {
	frame, t := f.frame, f.table
	trials := make([]float64, credence.BlockRows)
	return f.pass(func(first int) error {
		if frame.Sparse > 0 || t.target.end > 0 {
			if err := t.checkSparse(first); err != nil {
				return err
			}
		}
		for i := range frame.Inputs {
			in, s := &frame.Inputs[i], &f.inputs[i]
			if err := t.evaluate(f.column, &in.Expr, len(in.Expr.Steps), first); err != nil {
				return err
			}
			s.add(f.column, f.weight)
			if in.Kind == credence.Category {
				if err := f.count(s, in, first); err != nil {
					return err
				}
			}
		}
		others := []*Expr{frame.Weight, frame.Trials}
		for i := range frame.Offset {
			others = append(others, &frame.Offset[i])
		}
		for _, e := range others {
			if e == nil {
				continue
			}
			if err := t.evaluate(f.column, e, len(e.Steps), first); err != nil {
				return err
			}
			for _, v := range f.column {
				if v != v {
					f.missing[e.Column]++
				}
			}
			if e == frame.Trials {
				copy(trials, f.column)
			}
		}
		for i := range f.column {
			if f.weight == nil {
				frame.WeightSum++
			} else {
				frame.WeightSum += f.weight[i]
			}
		}
		if frame.Target == nil {
			return nil
		}
		return f.scanTarget(first, trials)
	})
}

func (f *fitter) scanTarget(first int, trials []float64) error {
	e := &f.frame.Target.Expr
	if err := f.table.evaluate(f.column, e, len(e.Steps), first); err != nil {
		return err
	}
	f.target.add(f.column, f.weight)
	if f.frame.Target.Mode != Numbers || f.options.CheckTarget == nil {
		return nil
	}
	for i, y := range f.column {
		n := 0.0
		if f.frame.Trials != nil {
			n = trials[i]
		}
		if y != y || n != n {
			continue
		}
		if err := f.options.CheckTarget(y, n); err != nil {
			return f.table.fail(first+i, fmt.Errorf("%s: %w", e.place(), err))
		}
	}
	return nil
}

// count adds the current block to the counts of a category's levels.
func (f *fitter) count(s *inputScan, in *Input, first int) error {
	for i, v := range f.column {
		if v != v {
			continue
		}
		k := int(v)
		if k < 0 || k >= len(s.counts) {
			return f.table.fail(first+i, fmt.Errorf("column %q holds code %s, and has %d levels: the source is broken", in.Expr.Column, number(v), len(s.counts)))
		}
		s.counts[k]++
		if f.weight != nil {
			s.weights[k] += f.weight[i]
		} else {
			s.weights[k]++
		}
	}
	return nil
}

// resize returns a slice of n numbers, reusing memory.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	return s[:n]
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
