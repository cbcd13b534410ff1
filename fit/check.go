package fit

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection/refit"
)

// FoldOptions say which rows are left out of refits, and Folds are the rows of a table dealt out by them.
type (
	FoldOptions = refit.Options
	Folds       = refit.Folds
)

// base is what is fitted again.
func (p *Prepared) base() *refit.Base {
	o := &p.job.options
	return &refit.Base{
		Model: p.model, Data: p.data, Source: p.rows, Outside: p.outside, Frame: p.frame, Engine: p.other,
		Seed: o.Seed, Threads: o.Threads, Progress: p.job.progress,
	}
}

// Folds deals the rows that have a weight out at random, each class evenly, groups whole, or by their times. Columns
// that it names are those of the table, or of the one that [Prepared.Beside] has given. It refuses, as [ErrMisuse],
// options that no rows could mend.
func (p *Prepared) Folds(ctx context.Context, how FoldOptions) (*Folds, error) {
	if err := how.Validate(); err != nil {
		return nil, &Misuse{"", err}
	}
	return p.base().Folds(ctx, how)
}

// HeldOut fits the model to all rows but those of a fold, for each fold, and visits the rows of the fold as that fit
// scores them, as [refit.Base.HeldOut] does.
func (p *Prepared) HeldOut(ctx context.Context, f *Folds, visit func(*score.Rows) error) error {
	if f == nil || visit == nil {
		return errors.New("there are no folds, or nothing visits their rows: deal them by Prepared.Folds")
	}
	return p.base().HeldOut(ctx, f, func(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
		again := *p // doubling changes it
		again.data, again.engine = data, p.other
		return again.once(ctx)
	}, visit)
}

// checkedBeside are the engines that a check fits beside the selection's own.
var checkedBeside = []string{"lasso", "ridge"}

// checked are the engines that a check compares, the selection's own first.
func (p *Prepared) checked() ([]refit.Named, error) {
	engines := []refit.Named{{Name: p.entry.Name, Engine: p.other}}
	for _, name := range checkedBeside {
		engine, err := p.beside(name, prior.Normal{})
		if err != nil {
			return nil, err
		}
		engines = append(engines, refit.Named{Name: name, Engine: engine})
	}
	return engines, nil
}

// beside returns an engine for fits of the model beside the selection's own, under a prior.
func (p *Prepared) beside(text string, under credence.Prior) (credence.Engine, error) {
	model := p.model
	model.Prior = under
	return p.engineOf(text, model)
}

// engineOf returns the engine that a text names, for a model beside the one that is to be fitted.
func (p *Prepared) engineOf(text string, model credence.Model) (credence.Engine, error) {
	registry := p.job.engine.registry
	entry, call, err := registry.find(text, false)
	if err != nil {
		return nil, err
	}
	if reason := entry.refuses(model.Likelihood, model.Prior); reason != "" {
		return nil, fmt.Errorf("the check fits %s too: %s", text, reason)
	}
	maker, err := (&choice{registry: registry}).maker(Settings{Seed: p.job.options.Seed, Threads: p.job.options.Threads}, entry, call)
	if err != nil {
		return nil, err
	}
	return maker(model)
}

// quick is the engine of fits beside a selection's own, where those are by chains.
const quick = "ep(hyper=mode)"
