package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
)

// full fits one component with full covariance: Newton steps on ever more rows.
func (r *fit) full(ctx context.Context, saved *document) (*credence.Fitted, error) {
	whole := r.All() // what it keeps serves every step
	first := whole
	if r.Data.Total() >= 2*problem.StartRows {
		first = r.Rows(problem.StartRows)
	}
	s, err := r.Start(ctx, first, whole)
	if err != nil {
		return nil, err
	}
	r.start = s
	if _, gaussian := r.Likelihood.(likelihood.Gaussian); !gaussian { // whose rows are added up once
		whole.Pack()
	}
	n, at := newton.New(r.Problem, s.References), newton.Begin(s)
	stats := newton.NewStatistics(r.Dims, s.Family.Count())
	levels := r.levels()
	if r.tuned != nil && len(levels) == 1 {
		n.GoOn(at, r.tuned.At, r.tuned.Scale)
	}
	if saved == nil && r.tuned == nil {
		if at, err = r.tryOthers(ctx, n, first, at, stats); err != nil {
			return nil, err
		}
	}
	last := len(levels) - 1
	if saved == nil {
		for k, rows := range levels[:last] {
			// The rows left out move every mean by about a standard deviation, so that more digits are for nothing.
			part := r.task("a subsample", 0.3*math.Sqrt(float64(r.Dims)))
			some := r.Rows(rows)
			if _, _, err := n.Climb(ctx, some, at, stats, part); err != nil {
				return nil, err
			}
			n.Sampled(at, float64(r.Rows(levels[k+1]).Count())/float64(some.Count()))
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
	g := &integration{fit: r, newton: n, rows: whole, stats: stats}
	if at, err = g.run(ctx, at); err != nil {
		return nil, err
	}
	bound, stats := n.BoundOf(at), g.stats
	o := &outcome{posterior: n.Posterior(at), priors: at.Prior, family: at.Family, targets: n.Targets, separated: stats.Separated}
	r.bound(o, bound)
	r.check(o, s.Zero)
	if draws := r.drawCount(min(r.Data.Total(), partRows)); draws > 0 {
		logs, err := n.LogWeights(ctx, whole, at, stats, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws)
		if err != nil {
			return nil, err
		}
		r.judge(o, logs, "with few rows a weight, or rare events, this is the limit of a normal posterior: compare predictions on held-out rows, state a tighter prior, or use fewer columns")
	}
	if g.all != nil && r.config.Hyper == hyper.Integrate {
		g.finish(o)
	}
	return r.finish(o), nil
}

// negligibleGain is the gain of the last iteration, in nats, below which a fit has converged unless a
// tolerance is stated: a hundred more of the kind move no mean by two hundredths of its standard
// deviation.
const negligibleGain = 1e-6

func (r *fit) task(stage string, tolerance float64) newton.Task {
	return newton.Task{Stage: stage, Tolerance: tolerance, Iterations: r.config.MaxIterations, Progress: r.config.Progress}
}

// cheapOperations is the number of operations of a pass below which a second climb, from large prior
// variances, costs nothing.
const cheapOperations = 1e6

// farStart is how far above the scale of its prior the second start of a standard deviation lies, as a
// factor: a block that is weak from one side may be strong from the other.
const farStart = 7.39

// tryOthers returns the point from which to go on: of the climbs on the first rows from several prior
// variances, that with the highest bound. Where columns are of different sizes one starts at the prior
// variances by the largest columns, since from either side a climb may never find what the other
// columns explain.
func (r *fit) tryOthers(ctx context.Context, n *newton.Newton, first *problem.Rows, at *newton.Point, stats *newton.Statistics) (*newton.Point, error) {
	narrow, far, mixed, weak := at.Clone(), at.Clone(), false, false
	for k, reference := range n.References {
		if at.Prior[k] != reference.Wide { // a stated guess
			continue
		}
		if reference.Narrow < reference.Wide {
			narrow.Prior[k], mixed = reference.Narrow, true
		}
		if r.Priors != nil && r.Priors.Common == nil && n.Groups[k].Learned && r.operations() < cheapOperations {
			deviation := farStart * r.Priors.Scales[k]
			far.Prior[k], weak = reference.Bounded(deviation*deviation), true
		}
	}
	points := []*newton.Point{at}
	if mixed {
		points = append(points, narrow)
	}
	if weak {
		points = append(points, far)
	}
	best := at
	for _, point := range points {
		if len(points) == 1 {
			break
		}
		if _, _, err := n.Climb(ctx, first, point, stats, r.task("other prior variances", 0.3)); err != nil {
			return nil, err
		}
		if point.Bound > best.Bound {
			best = point
		}
	}
	return best, nil
}
