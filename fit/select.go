package fit

import (
	"cmp"
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
)

// Select fits a spike-and-slab model to a table and says which features matter: fit.Table with the
// prior spikeslab unless another is stated, and the selection in the fit. Options.Prior must be one
// under which weights may be 0.
func Select(ctx context.Context, rows credence.Source, options Options, how selection.Options) (*credence.Fitted, error) {
	job, err := NewSelection(options, how)
	if err != nil {
		return nil, err
	}
	prepared, err := job.Prepare(ctx, rows)
	if err != nil {
		return nil, err
	}
	return prepared.Select(ctx, how)
}

// NewSelection is New for a selection: the prior is spikeslab unless stated, and refuses, as
// [ErrMisuse], whatever is wrong whatever the data.
func NewSelection(options Options, how selection.Options) (*Job, error) {
	if err := how.Validate(); err != nil {
		return nil, &Misuse{"", err}
	}
	options.Prior = cmp.Or(options.Prior, "spikeslab")
	job, err := newJob(options, true)
	if err != nil {
		return nil, err
	}
	if _, ok := job.prior.(prior.SpikeSlab); !ok {
		return nil, &Misuse{"prior", fmt.Errorf("%v leaves no weight at 0: use spikeslab, or leave it out", job.prior)}
	}
	return job, nil
}

// Select fits the model and says which features matter.
func (p *Prepared) Select(ctx context.Context, how selection.Options) (*credence.Fitted, error) {
	fitted, err := p.Fit(ctx)
	if err != nil {
		return nil, err
	}
	base := p.base()
	result, err := base.Describe(ctx, fitted, how)
	if err != nil {
		return nil, err
	}
	if how.Path == selection.PathAlways || how.Path == "" && p.job.engine.entry == nil && p.size() <= pathSize {
		if err := p.path(ctx, result, how.Check); err != nil {
			return nil, err
		}
	}
	if how.NullCheck > 0 {
		if result.Null, err = base.Null(ctx, how); err != nil {
			return nil, err
		}
	}
	if how.Bootstrap > 0 {
		engine := p.other
		if p.entry.Name == "gibbs" {
			if engine, err = p.beside(quick, p.model.Prior); err != nil {
				return nil, err
			}
		}
		if err := base.Bootstrap(ctx, engine, result, how); err != nil {
			return nil, err
		}
	}
	if how.Check > 0 {
		engines, err := p.checked()
		if err != nil {
			return nil, err
		}
		if result.Check, err = base.Check(ctx, engines, how.Check); err != nil {
			return nil, err
		}
	}
	fitted.Selection = result
	return fitted, nil
}
