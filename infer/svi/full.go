package svi

import (
	"context"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
)

// fitFull fits one component with full covariance.
func (r *fit) fitFull(ctx context.Context, saved *checkpoint) (*credence.Fitted, error) {
	n := newNewton(r.ws, r.d, r.groups)
	whole := r.open(0) // what it keeps serves every step
	first := whole
	if r.data.Rows() >= 2*startRows {
		first = r.open(startRows)
	}
	s, err := r.starting(ctx, first, r.groups)
	if err != nil {
		return nil, err
	}
	n.references = s.references
	at := &s.point
	stats := newStatistics(r.d, len(at.Free))
	levels := r.levels()
	if r.near != nil && len(levels) == 1 {
		r.goOn(n, at, r.near, r.near.scale)
	}
	if saved == nil && r.near == nil {
		if err := r.tryNarrow(ctx, n, first, s, stats); err != nil {
			return nil, err
		}
	}
	for k, rows := range levels {
		t := whole
		if rows > 0 {
			t = r.open(rows)
		}
		job := task{stage: "all rows", tolerance: r.tolerance(), iterations: r.config.MaxIterations, progress: r.config.Progress}
		if r.config.Tolerance == 0 {
			job.trifle = trifle
		}
		if saved != nil && saved.Newton != nil {
			if k < len(levels)-1 {
				continue
			}
			job.saved = saved.Newton
		}
		if k == len(levels)-1 && r.config.Checkpoint != "" {
			job.save = func(p *progressState) error {
				return r.writeCheckpoint(&checkpoint{Newton: p})
			}
		}
		if k < len(levels)-1 {
			// The rows left out move the optimum by more standard deviations than this.
			job.stage, job.tolerance = "a part of the rows", 0.3
		}
		status, iterations, err := n.climb(ctx, t, at, stats, job)
		if err != nil {
			return nil, err
		}
		r.report.Status, r.report.Iterations = status, iterations
	}
	r.targets = n.targets
	switch {
	case n.promise > 0:
		r.warn("the fit ended after %d iterations where no step raised the bound, though its slope promises %.2g nats: scale the columns, or state the prior variance or a parameter of the family, as in normal(variance=1)", r.report.Iterations, n.promise)
	case r.report.Status == credence.IterationLimit:
		r.warn("the bound still rose by %.2g nats in the last of %d iterations: state iterations=%d", n.gain, r.report.Iterations, 4*r.report.Iterations)
	}
	bound := at.bound
	r.report.ELBO = &bound
	r.separable = stats.correct
	r.checkTargets(at.Prior, at.family)
	zero := []int{}
	for j := range r.d {
		if stats.curvature[j*r.d+j] == 0 {
			zero = append(zero, j)
		}
	}
	r.warnZero(zero)
	if err := r.diagnoseFull(ctx, n, whole, at, stats); err != nil {
		return nil, err
	}
	m := r.member(n.full(at), at.Prior, at.family)
	return r.finish(m, at.Prior, at.family), nil
}

// trifle is the gain of the last iteration, in nats, below which a fit has converged unless a
// tolerance is stated: a hundred more of the kind move no mean by two hundredths of its standard
// deviation.
const trifle = 1e-6

// tryNarrow climbs on the first rows from the prior variances by the largest columns too, where
// columns are of different sizes: from either side a climb may never find what the other columns
// explain. It leaves the start where the bound is higher.
func (r *fit) tryNarrow(ctx context.Context, n *newton, first *table, s *start, stats *statistics) error {
	narrow, mixed := clone(s.Prior), false
	for k, r := range s.references {
		if r.narrow < r.wide && s.Prior[k] == r.wide { // not a stated guess
			narrow[k], mixed = r.narrow, true
		}
	}
	if !mixed {
		return nil
	}
	job := task{stage: "columns of different sizes", tolerance: 0.3, iterations: r.config.MaxIterations, progress: r.config.Progress}
	other := s.point.clone()
	other.Prior = narrow
	for _, at := range []*point{other, &s.point} {
		if _, _, err := n.climb(ctx, first, at, stats, job); err != nil {
			return err
		}
	}
	if other.bound > s.bound {
		s.point = *other
	}
	return nil
}

// checkTargets warns of targets from which less can be learned than it seems.
func (r *fit) checkTargets(priors []float64, f *family) {
	switch {
	case r.targets.weight == 0:
		r.warn("every row has weight 0: the posterior is the prior")
	case r.targets.low == r.targets.high:
		r.warn("every target is %g: nothing can be learned about what makes it vary, and intervals show the prior", r.targets.low)
	case r.separable:
		r.warnSeparable(priors)
	default:
		for _, text := range f.atLimits() {
			r.warn("%s", text)
		}
	}
}

// warnZero names columns that are zero in every row.
func (r *fit) warnZero(zero []int) {
	if len(zero) == 0 {
		return
	}
	var names []string
	for _, j := range zero[:min(3, len(zero))] {
		names = append(names, blocks.WeightName(r.features, j))
	}
	switch len(zero) {
	case 1:
		r.warn("the feature column %s is zero in every row: its weight keeps its prior", names[0])
	case 2, 3:
		r.warn("%d feature columns are zero in every row (%s): their weights keep their prior", len(zero), strings.Join(names, ", "))
	default:
		r.warn("%d feature columns are zero in every row (%s, …): their weights keep their prior", len(zero), strings.Join(names, ", "))
	}
}
