package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Unlabelled returns the model of a table before any label is known: its posterior is the prior. What a
// target may have in the table is not looked at, and the column may be missing. Package active chooses the
// first rows to be labelled by it. The family is gaussian, with its variance stated, or else bernoulli; the prior is
// normal with its variance stated.
func (j *Job) Unlabelled(ctx context.Context, rows credence.Source) (*credence.Fitted, error) {
	if rows == nil {
		return nil, errors.New("there is no table: give a credence.Source, as table.Structs or dataset.Open make")
	}
	stated, ok := j.prior.(prior.Normal)
	if !ok || stated.ARD || stated.Variance.State != param.Held {
		return nil, &Misuse{"prior", fmt.Errorf("before any label nothing is learned: state a normal prior with its variance, as normal(variance=1), not %v", j.prior)}
	}
	name := j.options.Target
	if j.options.Formula != "" {
		f, err := spec.ParseFormula(j.options.Formula)
		if err != nil {
			return nil, &Misuse{"formula", err}
		}
		if column, ok := f.Target.(spec.Column); ok {
			name = column.Name
		} else if f.Target != nil {
			name = f.Target.String()
		}
	}
	if label := rows.Schema(); name == "" && label.Label {
		name = label.Columns[0].Name
	}
	if family, is := j.family.Stated().(likelihood.Gaussian); is && family.NoiseVariance.State != param.Held {
		return nil, &Misuse{"family", fmt.Errorf("before any label nothing is learned: state the variance, as gaussian(variance=1)")}
	}
	run, err := j.Prepare(ctx, withArbitraryTarget(rows, name))
	if err != nil {
		return nil, err
	}
	groups, err := problem.Groups("fit", run.model.Features, stated)
	if err != nil {
		return nil, err
	}
	d, spread := run.model.Features.Weights(), problem.InterceptSpread*likelihood.LatentScale(likelihood.Bernoulli{})
	q := &posterior.Diagonal{Mean: make([]float64, d), Variance: make([]float64, d)}
	problem.Spread(q.Variance, groups, func(k int) float64 {
		if groups[k].Intercept {
			return spread * spread
		}
		return stated.Variance.Value
	})
	return &credence.Fitted{Members: []credence.Member{{Model: run.model, Posterior: q}}, Frame: run.frame}, nil
}

// arbitraryTarget is a table whose target is 0 and 1 in turn: a frame wants one, and no posterior looks at it.
type arbitraryTarget struct {
	credence.Source
	schema credence.Schema
	place  int // of the target
	inner  credence.Chunk
}

func withArbitraryTarget(rows credence.Source, target string) *arbitraryTarget {
	p := &arbitraryTarget{Source: rows, schema: *rows.Schema(), place: rows.Schema().Index(target)}
	p.schema.Columns = slices.Clone(p.schema.Columns)
	if p.place < 0 {
		p.place = len(p.schema.Columns)
		p.schema.Columns = append(p.schema.Columns, credence.Column{})
	}
	p.schema.Columns[p.place] = credence.Column{Name: target} // numbers
	return p
}

// Schema implements [credence.Source].
func (p *arbitraryTarget) Schema() *credence.Schema { return &p.schema }

// Read implements [credence.Source].
func (p *arbitraryTarget) Read(dst *credence.Chunk, first, count int) error {
	if err := p.Source.Read(&p.inner, first, count); err != nil {
		return err
	}
	values := linop.NewDense(p.inner.Rows(), len(p.schema.Columns))
	for i := range values.Rows {
		copy(values.Row(i), p.inner.Values.Row(i))
		values.Row(i)[p.place] = float64((first + i) % 2)
	}
	*dst = p.inner
	dst.Values = values
	return nil
}
