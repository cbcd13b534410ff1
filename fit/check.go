package fit

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
)

// checkedBeside are the engines that a check fits beside the selection's own.
var checkedBeside = []string{"lasso", "ridge"}

// check fits the engine of the selection, the lasso and ridge regression to all rows but one fold, for
// each fold, and compares how they predict the rows left out. Columns and their scaling are those of
// all rows.
func (p *Prepared) check(ctx context.Context, folds int) (*selection.Check, error) {
	engines, names := []credence.Engine{p.other}, []string{p.entry.Name}
	for _, name := range checkedBeside {
		engine, err := p.beside(name, prior.Normal{})
		if err != nil {
			return nil, err
		}
		engines, names = append(engines, engine), append(names, name)
	}
	held, err := p.checkFolds(ctx, folds)
	if err != nil {
		return nil, err
	}
	densities := make([][]float64, len(engines))
	for e, engine := range engines {
		if densities[e], err = p.densities(ctx, held, engine); err != nil {
			return nil, fmt.Errorf("check of %s: %w", names[e], err)
		}
	}
	out := &selection.Check{Folds: folds}
	zeros := make([]float64, len(held.weights))
	for e, name := range names {
		mean, _ := score.Gain(densities[e], zeros, held.weights)
		gain, spread := score.Gain(densities[0], densities[e], held.weights)
		out.Engines = append(out.Engines, selection.Checked{Engine: name, LogDensity: finite(mean), Gain: finite(gain), GainError: finite(spread)})
	}
	return out, nil
}

// checkFolds deals rows out for checks.
func (p *Prepared) checkFolds(ctx context.Context, count int) (*Folds, error) {
	weights, classes, err := p.weighed(ctx)
	if err != nil {
		return nil, err
	}
	return p.deal(ctx, FoldOptions{Folds: count, Seed: p.job.options.Seed}, weights, classes)
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
	maker, err := (&choice{registry: registry}).maker(Run{Seed: p.job.options.Seed, Threads: p.job.options.Threads}, entry, call)
	if err != nil {
		return nil, err
	}
	return maker(model)
}

// finite is nil for what is no number.
func finite(s metric.Score) *float64 {
	if !s.Defined() {
		return nil
	}
	v := float64(s)
	return &v
}

// quick is the engine of fits beside a selection's own, where those are by chains.
const quick = "ep(hyper=mode)"

// bootstrap fits the model to as many rows drawn with replacement, and stores the share of fits that call each
// feature by the selection's rule (Meinshausen & Bühlmann 2010 draw half of the rows instead). Fits are those of the
// selection's engine, those of chains by expectation propagation.
func (p *Prepared) bootstrap(ctx context.Context, result *selection.Result, how selection.Options) error {
	engine := p.other
	if p.entry.Name == "gibbs" {
		var err error
		if engine, err = p.beside(quick, p.model.Prior); err != nil {
			return err
		}
	}
	weights, _, err := p.weighed(ctx)
	if err != nil {
		return err
	}
	n, called := p.data.Rows(), map[int]float64{}
	for k := range how.Bootstrap {
		drawn := &reweighted{p.data, make([]float64, n)}
		rng := credence.Rand(p.job.options.Seed, credence.BootstrapRows, uint64(k))
		for range n {
			i := rng.IntN(n)
			drawn.weights[i] += weights[i]
		}
		found, err := p.called(ctx, engine, drawn, how)
		if err != nil {
			return err
		}
		for _, f := range found.Features {
			if f.Selected {
				called[f.Weight] += 1 / float64(how.Bootstrap)
			}
		}
	}
	result.Bootstrap = how.Bootstrap
	for i := range result.Features {
		share := called[result.Features[i].Weight]
		result.Features[i].Frequency = &share
	}
	return nil
}
