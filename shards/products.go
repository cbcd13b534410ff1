package shards

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/table"
)

// IsJob says whether the file at path is one that [Job.Write] wrote, of whatever version.
func IsJob(path string) bool { return jobKind.Peek(path, new(state)) == nil }

// Products returns what the parts of the round that adds up say of the model's columns, about their means: their
// products with each other and with the target, by which fit.SelectProducts selects among them. Columns are named as
// weights are, and are in the units of the data; one with products beside it stands about the mean of the others. It
// leaves the job as it is. Offsets, and models without an intercept, are refused.
func (j *Job) Products(ctx context.Context, parts ...*Part) (*table.Products, error) {
	s := &j.state
	switch {
	case s.Online || s.Inquiries != nil:
		return nil, errors.New("the job adds up no products: make one of a gaussian target, with --engine exact")
	case s.Frame == nil:
		return nil, fmt.Errorf("the job asks round %d, which counts, and products come with the last: merge until the model is written, and give the parts of that round", j.Round())
	case len(s.Frame.Offset) > 0:
		return nil, errors.New("products with the target say nothing of its offset: make the job without offset(…)")
	}
	answers, err := j.answers(parts)
	if err != nil {
		return nil, err
	}
	p, engine, _, err := j.prepared(&carried{rows: s.Frame.Rows})
	if err != nil {
		return nil, err
	}
	sums, err := j.total(ctx, engine, answers)
	if err != nil {
		return nil, err
	}
	out := &table.Products{Target: s.Frame.TargetName()}
	if out.Gram, err = sums.Products(); err != nil {
		return nil, err
	}
	features := p.Model().Features
	own, err := features.(ability.Rescaled).OwnUnits()
	if err != nil {
		return nil, err
	}
	d := features.Weights()
	scale, shift, among := make([]float64, d+1), make([]float64, d), make([]int, d)
	for i := range own.Columns {
		columns, values := own.Map.Row(i)
		for k, column := range columns {
			among[column]++
			if int(column) == i {
				scale[i] = 1 / values[k]
			}
			if i == 0 { // the intercept
				shift[column] = values[k]
			}
		}
	}
	for i := range d {
		out.Names, out.Centre = append(out.Names, features.(credence.Named).WeightName(i)), append(out.Centre, 0)
		if i > 0 && among[i] == 2 { // (x − centre)/scale, in no product
			out.Centre[i] = -shift[i] * scale[i]
		}
	}
	out.Names, out.Centre, scale[d] = append(out.Names, out.Target), append(out.Centre, s.Units.Centre), 1
	for i := range scale {
		for k := range scale {
			out.Gram[i*(d+1)+k] *= scale[i] * scale[k]
		}
	}
	return out, nil
}
