package frame

import (
	"context"

	"github.com/credence-ml/credence"
)

// Fit reads the training table and fixes everything that prediction must repeat: a [Census] of all its rows.
// Errors name the column and the row, and every column with missing values at once.
func Fit(ctx context.Context, plan *Plan, source credence.Source, options Options) (*Frame, error) {
	c, err := NewCensus(plan, source.Schema(), 0, options)
	if err != nil {
		return nil, err
	}
	c.reader.source = func(row int) string { return place(source, row) }
	if t := c.frame.Target; t != nil && t.Kind == credence.Boolean {
		if worder, ok := source.(Worder); ok {
			c.words = worder.Words(t.Expr.Column)
		}
	}
	var chunk credence.Chunk
	for {
		for first := 0; first < source.Rows(); first += credence.BlockRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := source.Read(&chunk, first, min(credence.BlockRows, source.Rows()-first)); err != nil {
				return nil, err
			}
			if err := c.Add(&chunk); err != nil {
				return nil, err
			}
		}
		more, err := c.Next()
		if err != nil {
			return nil, err
		}
		if !more {
			return c.Frame()
		}
	}
}

// newFrame returns a frame with everything that needs no data.
func newFrame(plan *Plan, options Options) *Frame {
	f := &Frame{Missing: options.Missing, DropTarget: options.DropTarget, Unseen: options.Unseen, Raw: options.Raw}
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
		f.Weight = new(plan.Weight.clone())
	}
	if plan.Precision != nil {
		f.Precision = new(plan.Precision.clone())
	}
	if plan.Trials != nil {
		f.Trials = new(plan.Trials.clone())
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
	all = append(all, f.Precision, f.Trials)
	if withTarget {
		all = append(all, f.Weight)
		if f.Target != nil {
			all = append(all, &f.Target.Expr)
		}
	}
	return all
}
