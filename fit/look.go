package fit

import (
	"cmp"
	"context"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
)

// look says what a target of numbers looks like that is fitted as measurements because no family is stated, nil
// where it is stated or where no engine of this prior fits the families that the target looks like. It reads
// the target of every row, and nothing else of them.
func (p *Prepared) look(ctx context.Context) (*credence.Look, error) {
	targets, err := p.Targets(ctx, p.rows)
	if err != nil || targets == nil {
		return nil, err
	}
	return p.lookLike(targets), nil
}

// Targets looks at the targets of rows of the fitted table, maybe of some of its files; nil where a fit does not look
// at them.
func (p *Prepared) Targets(ctx context.Context, rows credence.Source) (*criticism.Targets, error) {
	target := p.frame.Target
	if p.job.family.String() != "" || target.Mode != frame.Numbers || len(target.Expr.Steps) > 0 {
		return nil, nil
	}
	alone := frame.Frame{Target: target, Weight: p.frame.Weight, Missing: p.frame.Missing, DropTarget: p.frame.DropTarget, Reading: p.frame.Reading}
	data, err := alone.Bind(rows, frame.RequireTargets)
	if err != nil {
		return nil, err
	}
	all := new(criticism.Targets)
	var batch credence.Batch
	var seen []float64
	files := ability.Files(data)
	for k, begin := range files[:len(files)-1] {
		var values criticism.Targets
		for first, count := range ability.FileBlocks(begin, files[k+1]) {
			if err := cmp.Or(ctx.Err(), data.Read(&batch, first, count)); err != nil {
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
		all.Merge(&values)
	}
	return all, nil
}

// lookLike is what the targets of all rows look like.
func (p *Prepared) lookLike(targets *criticism.Targets) *credence.Look {
	look := targets.Look(p.frame.TargetName())
	for i := range p.frame.Inputs {
		in := &p.frame.Inputs[i]
		two := in.Kind == credence.Boolean || len(in.Levels) == 2 || in.Ends != nil && *in.Ends == [2]float64{0, 1}
		if times := criticism.Censored(p.frame.TargetName(), in.Expr.Column); times != nil && two {
			look = times
		}
	}
	if look != nil && len(look.Families) > 0 && !slices.ContainsFunc(look.Families, p.fits) {
		return nil
	}
	return look
}

// fits says whether an engine fits a family, by its name, under the prior of the job.
func (p *Prepared) fits(family string) bool {
	registry := p.job.engine.registry
	return slices.ContainsFunc(registry.Families, func(f likelihood.Entry) bool {
		return f.Zero.Name() == family && slices.ContainsFunc(registry.Engines, func(e Engine) bool { return e.refuses(f.Zero, p.job.prior) == "" })
	})
}
