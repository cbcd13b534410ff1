package problem

import (
	"context"
	"fmt"
	"slices"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
)

// askSizes is sizesOf for rows that lie apart.
func (p *Problem) askSizes(sums *base.Sums, columns []columnSums) error {
	x, err := p.Asker.Ask(&base.Question{What: base.AskSizes})
	if err != nil {
		return err
	}
	for j := range columns {
		columns[j] = columnSums{x[3*j], x[3*j+1], x[3*j+2]}
	}
	sums.Take(x[3*len(columns):])
	return nil
}

// Measured answers a question for [base.AskSizes] by the rows that are here.
func (p *Problem) Measured(ctx context.Context) ([]float64, error) {
	sums, columns, err := p.sizesOf(ctx, p.All())
	var x []float64
	for _, c := range columns {
		x = append(x, c.square, c.total, c.present)
	}
	return append(x, sums.Numbers()...), err
}

// Asked is the family that a question is about.
func (f *Family) Asked(q *base.Question) (*Family, error) {
	asked := *f
	if len(q.Values) != len(f.values) || len(q.Floor) != len(f.learned) || len(q.Top) != len(f.learned) {
		return nil, fmt.Errorf("%d values stand for the %d parameters of the family", len(q.Values), len(f.values))
	}
	asked.Floor, asked.Ceiling, asked.Expanded = q.Floor, q.Top, q.Expanded
	if asked.values = slices.Clone(q.Values); len(f.learned) > 0 {
		of := f.parametric.WithParameters(asked.values)
		asked.parametric, asked.Likelihood = of.(likelihood.Parametric), of.(Likelihood)
	}
	if q.Held {
		return asked.Held(), nil
	}
	return &asked, nil
}

// Tell tells a question what the family is.
func (f *Family) Tell(q *base.Question) {
	q.Values, q.Floor, q.Top = slices.Clone(f.values), slices.Clone(f.Floor), slices.Clone(f.Ceiling)
	q.Held, q.Expanded = len(f.learned) == 0 && len(f.Floor) > 0, f.Expanded
}
