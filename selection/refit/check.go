package refit

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
)

// Named is an engine with its name.
type Named struct {
	Name   string
	Engine credence.Engine
}

// Check fits engines to all rows but one fold, for each fold, and compares how they predict the rows left out with how
// the first does. Columns and their scaling are those of all rows.
func (b *Base) Check(ctx context.Context, engines []Named, folds int) (*selection.Check, error) {
	held, err := b.Deal(ctx, folds)
	if err != nil {
		return nil, err
	}
	densities := make([][]float64, len(engines))
	for e, engine := range engines {
		if densities[e], err = b.Densities(ctx, held, engine.Engine); err != nil {
			return nil, fmt.Errorf("check of %s: %w", engines[e].Name, err)
		}
	}
	out := &selection.Check{Folds: folds}
	zeros := make([]float64, len(held.weights))
	for e, engine := range engines {
		mean, _ := score.Gain(densities[e], zeros, held.weights)
		gain, spread := score.Gain(densities[0], densities[e], held.weights)
		out.Engines = append(out.Engines, selection.Checked{Engine: engine.Name, LogDensity: finite(mean), Gain: finite(gain), GainError: finite(spread)})
	}
	return out, nil
}

// Deal deals rows out for checks: a class may be too rare for the folds.
func (b *Base) Deal(ctx context.Context, count int) (*Folds, error) {
	weights, classes, err := b.weighed(ctx)
	if err != nil {
		return nil, err
	}
	return b.deal(ctx, Options{Folds: count, Seed: b.Seed}, weights, classes)
}

// finite is nil for what is no number.
func finite(s metric.Score) *float64 {
	if !s.Defined() {
		return nil
	}
	v := float64(s)
	return &v
}

// Bootstrap fits the model to as many rows drawn with replacement, and stores the share of fits that call each
// feature by the selection's rule (Meinshausen & Bühlmann 2010 draw half of the rows instead). Fits are those of
// an engine.
func (b *Base) Bootstrap(ctx context.Context, engine credence.Engine, result *selection.Result, how selection.Options) error {
	weights, _, err := b.weighed(ctx)
	if err != nil {
		return err
	}
	n, called := b.Data.Rows(), map[int]float64{}
	for k := range how.Bootstrap {
		drawn := &reweighted{b.Data, make([]float64, n)}
		rng := credence.Rand(b.Seed, credence.BootstrapRows, uint64(k))
		for range n {
			i := rng.IntN(n)
			drawn.weights[i] += weights[i]
		}
		found, err := b.called(ctx, engine, drawn, how)
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

// OneStandardError stores the mean log density of every step by the densities of rows that folds leave out, and marks
// the sparsest that is within one standard error of the best, by rows in pairs.
func OneStandardError(path []selection.Step, densities [][]float64, f *Folds) {
	best, zeros := 0, make([]float64, len(f.weights))
	for k := range path {
		mean, _ := score.Gain(densities[k], zeros, f.weights)
		if path[k].LogDensity = finite(mean); path[k].LogDensity != nil && (path[best].LogDensity == nil || *path[k].LogDensity > *path[best].LogDensity) {
			best = k
		}
	}
	for k := range path { // the sparsest first
		gap, spread := score.Gain(densities[best], densities[k], f.weights)
		if k == best || float64(gap) <= float64(spread) {
			path[k].OneSE = true
			return
		}
	}
}
