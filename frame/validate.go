package frame

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// Needs returns the columns that a table must have to be bound, without those of
// the sparse segment: for prediction, or with a target.
func (f *Frame) Needs(withTarget bool) []string {
	return slices.DeleteFunc(columnsOf(f.expressions(withTarget)), func(name string) bool { return f.SparseIndex(f.SegmentWidth, name) >= 0 })
}

// Needs returns the columns of the plan; names such as x7 among them may mean
// columns of a sparse segment.
func (p *Plan) Needs() []string {
	return columnsOf(p.expressions())
}

// PartsAlone returns the columns that every expression takes a part of a date of, such as the hour.
func (p *Plan) PartsAlone() []string {
	whole := map[string]bool{}
	for _, e := range p.expressions() {
		if e != nil && (len(e.Steps) == 0 || !e.Steps[0].Function.Part()) {
			whole[e.Column] = true
		}
	}
	return slices.DeleteFunc(p.Needs(), func(name string) bool { return whole[name] })
}

// columnsOf returns the columns of expressions, each once.
func columnsOf(expressions []*Expr) []string {
	var names []string
	known := map[string]bool{}
	for _, e := range expressions {
		if e != nil && e.Column != "" && !known[e.Column] {
			known[e.Column] = true
			names = append(names, e.Column)
		}
	}
	return names
}

// Validate says what is wrong with a frame that was not made by [Fit], such as one read
// from a file. Binding a frame that passes never panics. A file of an earlier version that let unseen levels pass
// has them scored at their prior.
func (f *Frame) Validate() error {
	if f.SegmentWidth < 0 || f.Sparse < 0 || f.Sparse > f.SegmentWidth {
		return fmt.Errorf("frame: a sparse segment of %d columns out of %d", f.Sparse, f.SegmentWidth)
	}
	if f.Features != nil && len(f.Features) != f.SegmentWidth {
		return fmt.Errorf("frame: %d names of %d sparse columns", len(f.Features), f.SegmentWidth)
	}
	if f.Unseen == formerZero {
		f.Unseen = AtPrior
	}
	if _, err := (Options{Missing: f.Missing, Unseen: f.Unseen}).Validate(); err != nil {
		return err
	}
	for _, e := range f.expressions(true) {
		if err := e.validate(true); err != nil {
			return err
		}
	}
	for i := range f.Inputs {
		in := &f.Inputs[i]
		if err := in.validate(); err != nil {
			return err
		}
		if in.Segment && f.SparseIndex(f.SegmentWidth, in.Expr.Column) < 0 {
			return fmt.Errorf("frame: input %s comes from column %q, which is none of the %d sparse columns", in.Name, in.Expr.Column, f.SegmentWidth)
		}
	}
	if t := f.Target; t != nil {
		switch {
		case t.Expr.Column == "":
			return fmt.Errorf("frame: the target is not a column")
		case !slices.Contains([]Mode{Numbers, Classes, Grades}, t.Mode):
			return fmt.Errorf("frame: target %s is read in the unknown mode %q", t.Expr, t.Mode)
		case t.Mode == Classes && len(t.Levels) != 2, t.Mode == Grades && len(t.Levels) < 2:
			return fmt.Errorf("frame: target %s has %d levels in mode %s", t.Expr, len(t.Levels), t.Mode)
		case t.Words != nil && len(t.Words) != len(t.Levels):
			return fmt.Errorf("frame: target %s has %d words for %d levels", t.Expr, len(t.Words), len(t.Levels))
		case t.Kind > credence.Category, !special.Finite(t.Mean), !special.Finite(t.Variance):
			return fmt.Errorf("frame: target %s has no valid kind, mean and variance", t.Expr)
		case t.Kind == credence.Category && (t.Mode != Classes || len(t.Expr.Steps) > 0):
			return fmt.Errorf("frame: target %s is a category that is read in mode %s", t.Expr, t.Mode)
		}
	}
	return nil
}

// validate refuses unknown transforms and statistics that no data have; a fitted expression has all
// of its statistics.
func (e *Expr) validate(fitted bool) error {
	if e == nil {
		return nil
	}
	if e.Level && (e.Column == "" || len(e.Steps) == 0 || slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Function.learned() })) {
		return fmt.Errorf("frame: %s is taken as a level: that is for parts of dates", e)
	}
	if !special.Finite(e.Value) {
		return fmt.Errorf("frame: the constant %v is not a number", e.Value)
	}
	for _, step := range e.Steps {
		if _, known := step.Function.Known(); !known {
			return fmt.Errorf("frame: there is no transform %q: use one of %v", step.Function, Functions())
		}
		if wrong := step.invalid(); wrong != "" {
			return fmt.Errorf("frame: %s: %s", e, wrong)
		}
		if !special.Finite(step.Mean) || !special.Finite(step.SD) || fitted && step.Function == Scale && step.SD == 0 {
			return fmt.Errorf("frame: %s has statistics of %s that no data have", e, step.Function)
		}
	}
	return nil
}

// validate refuses an input that reading could not make sense of.
func (in *Input) validate() error {
	switch {
	case in.Expr.Column == "":
		return fmt.Errorf("frame: input %q is not a column", in.Name)
	case in.Kind > credence.Category:
		return fmt.Errorf("frame: input %s is of unknown kind %d", in.Name, in.Kind)
	case !special.Finite(in.Center) || !special.Finite(in.Fill) || !special.Finite(in.Scale) || in.Scale == 0:
		return fmt.Errorf("frame: input %s is centred by %v, divided by %v and filled with %v", in.Name, in.Center, in.Scale, in.Fill)
	case in.Kind != credence.Category && len(in.Levels) > 0:
		return fmt.Errorf("frame: input %s is a %s with levels", in.Name, in.Kind)
	case in.Expr.Level != (in.Kind == credence.Category && len(in.Expr.Steps) > 0):
		return fmt.Errorf("frame: input %s is a %s, and a level or none", in.Name, in.Kind)
	case in.Kind == credence.Category && (len(in.Levels) == 0 || in.Indicates || in.Segment):
		return fmt.Errorf("frame: input %s is not a category that can be read", in.Name)
	case in.Kind == credence.Category && (in.Fill < 0 || int(in.Fill) >= len(in.Levels) || in.Fill != float64(int(in.Fill))):
		return fmt.Errorf("frame: input %s fills missing values with level %v of %d", in.Name, in.Fill, len(in.Levels))
	}
	return nil
}
