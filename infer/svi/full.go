package svi

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/hyper"
)

// full fits one component with full covariance: Newton steps on ever more rows.
func (r *fit) full(ctx context.Context, saved *document) (*credence.Fitted, error) {
	whole := r.Rows(0) // what it keeps serves every step
	first := whole
	if r.Data.Rows() >= 2*problem.StartRows {
		first = r.Rows(problem.StartRows)
	}
	s, err := r.Start(ctx, first, whole)
	if err != nil {
		return nil, err
	}
	r.start = s
	n, at := newton.New(r.Problem, s.References), newton.Begin(s)
	stats := newton.NewStatistics(r.Dims, s.Family.Count())
	levels := r.levels()
	if r.tuned != nil && len(levels) == 1 {
		n.GoOn(at, r.tuned.At, r.tuned.Scale)
	}
	if saved == nil && r.tuned == nil {
		if at, err = r.tryNarrow(ctx, n, first, at, stats); err != nil {
			return nil, err
		}
	}
	last := len(levels) - 1
	if saved == nil {
		for _, rows := range levels[:last] {
			// The rows left out move the optimum by more standard deviations than this.
			part := r.task("a part of the rows", 0.3)
			if _, _, err := n.Climb(ctx, r.Rows(rows), at, stats, part); err != nil {
				return nil, err
			}
		}
	}
	task := r.task("all rows", r.tolerance())
	if r.config.Tolerance == 0 {
		task.NegligibleGain = negligibleGain
	}
	if saved != nil {
		task.Resume = saved.Newton
	}
	if r.config.Checkpoint != "" {
		task.Save = func(s *newton.State) error { return r.writeCheckpoint(&document{Newton: s}) }
	}
	r.report.Status, r.report.Iterations, err = n.Climb(ctx, whole, at, stats, task)
	if err != nil {
		return nil, err
	}
	switch {
	case n.PredictedGain > 0:
		r.warn("the fit ended after %d iterations where no step raised the bound, though its slope promises %.2g nats: scale the columns, or state the prior variance or a parameter of the family, as in normal(variance=1)", r.report.Iterations, n.PredictedGain)
	case r.report.Status == credence.IterationLimit:
		r.warn("the bound still rose by %.2g nats in the last of %d iterations: state iterations=%d", n.Gain, r.report.Iterations, 4*r.report.Iterations)
	}
	bound := n.BoundOf(at)
	o := &outcome{posterior: n.Posterior(at), priors: at.Prior, family: at.Family, targets: n.Targets, separated: stats.Separated}
	r.bound(o, bound)
	r.check(o, s.Zero)
	if draws := r.drawCount(min(r.Data.Rows(), 10000)); draws > 0 {
		logs, err := n.LogWeights(ctx, whole, at, stats, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws)
		if err != nil {
			return nil, err
		}
		r.judge(o, logs, "with few rows a weight, or rare events, this is the limit of a normal posterior: compare predictions on held-out rows, state a tighter prior, or use fewer columns")
	}
	if r.report.Hyperparameters == string(hyper.Integrate) {
		if err := r.integrate(ctx, n, whole, stats, at, o); err != nil {
			return nil, err
		}
	}
	return r.finish(o), nil
}

// integrate goes on from the end of a climb.
func (r *fit) integrate(ctx context.Context, n *newton.Newton, rows *problem.Rows, stats *newton.Statistics, at *newton.Point, o *outcome) error {
	g := &integration{fit: r, newton: n, rows: rows, stats: stats}
	if err := g.run(ctx, at); err != nil {
		return err
	}
	o.members = g.members()
	mean, mode := g.axes.Laplace(), g.mode.Bound
	if g.sums != nil {
		mean = g.sums.LogEvidence
	}
	r.report.ELBO, r.report.ELBOMode = &mean, &mode
	_, _, _, theta := g.moments()
	final := g.mode.Clone()
	n.MoveTo(final, theta)
	o.priors, o.family = final.Prior, final.Family
	if len(o.members) == 1 {
		o.family = o.members[0].family
	}
	r.uncertainty(g)
	return nil
}

// negligibleGain is the gain of the last iteration, in nats, below which a fit has converged unless a
// tolerance is stated: a hundred more of the kind move no mean by two hundredths of its standard
// deviation.
const negligibleGain = 1e-6

func (r *fit) task(stage string, tolerance float64) newton.Task {
	return newton.Task{Stage: stage, Tolerance: tolerance, Iterations: r.config.MaxIterations, Progress: r.config.Progress}
}

// tryNarrow returns the point from which to go on. Where columns are of different sizes it climbs on
// the first rows from the prior variances by the largest columns too, since from either side a climb
// may never find what the other columns explain, and returns the point with the higher bound.
func (r *fit) tryNarrow(ctx context.Context, n *newton.Newton, first *problem.Rows, at *newton.Point, stats *newton.Statistics) (*newton.Point, error) {
	other, mixed := at.Clone(), false
	for k, reference := range n.References {
		if reference.Narrow < reference.Wide && at.Prior[k] == reference.Wide { // not a stated guess
			other.Prior[k], mixed = reference.Narrow, true
		}
	}
	if !mixed {
		return at, nil
	}
	for _, point := range []*newton.Point{other, at} {
		if _, _, err := n.Climb(ctx, first, point, stats, r.task("columns of different sizes", 0.3)); err != nil {
			return nil, err
		}
	}
	if other.Bound > at.Bound {
		return other, nil
	}
	return at, nil
}
