package fit

import (
	"context"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
)

// look says what a target of numbers looks like that is fitted as measurements because no family is stated, nil
// where it is stated or where no engine of this prior fits the families that the target looks like. It reads
// the target of every row, and nothing else of them.
func (p *Prepared) look(ctx context.Context) (*credence.Look, error) {
	target := p.frame.Target
	if p.job.family.String() != "" || target.Mode != frame.Numbers || len(target.Expr.Steps) > 0 {
		return nil, nil
	}
	alone := frame.Frame{Target: target, Weight: p.frame.Weight, Missing: p.frame.Missing, DropTarget: p.frame.DropTarget, Reading: p.frame.Reading}
	data, err := alone.Bind(p.rows, frame.RequireTargets)
	if err != nil {
		return nil, err
	}
	var values criticism.Targets
	var seen []float64
	for batch, err := range credence.Batches(ctx, data) {
		if err != nil {
			return nil, err
		}
		seen = seen[:0]
		for i, y := range batch.Target {
			if batch.WeightOf(i) > 0 {
				seen = append(seen, y)
			}
		}
		values.Add(seen)
	}
	look := values.Look(p.frame.TargetName())
	if look != nil && len(look.Families) > 0 && !slices.ContainsFunc(look.Families, p.fits) {
		return nil, nil
	}
	return look, nil
}

// fits says whether an engine fits a family, by its name, under the prior of the job.
func (p *Prepared) fits(family string) bool {
	registry := p.job.engine.registry
	return slices.ContainsFunc(registry.Families, func(f likelihood.Entry) bool {
		return f.Zero.Name() == family && slices.ContainsFunc(registry.Engines, func(e Engine) bool { return e.refuses(f.Zero, p.job.prior) == "" })
	})
}
