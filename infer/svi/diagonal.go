package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/mixture"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/infer/svi/tune"
	"github.com/credence-ml/credence/internal/diagnose"
)

// diagonal fits K diagonal components, by L-BFGS on all rows or by minibatches.
func (r *fit) diagonal(ctx context.Context, saved *document) (*credence.Fitted, error) {
	s, err := r.Start(ctx, r.Rows(problem.StartRows), r.All())
	if err != nil {
		return nil, err
	}
	if in := r.Intercept; in != nil && in.Fixed {
		clear(in.Columns) // independent weights cannot keep b̃ where it is, and cutpoints then stand at the origin
	}
	q := mixture.NewBound(r.Problem, r.config.Components, s.References, s.Family)
	if r.Dims > tune.MaxWeights || r.config.stochastic() {
		q.Tune()
	}
	document := &document{Mixture: new(mixture.State)}
	if saved != nil {
		document = saved
	}
	options := mixture.Options{
		Starts: r.config.Starts, MaxIterations: r.config.MaxIterations, Tolerance: r.tolerance(), Levels: r.levels(),
		Seed: r.config.Seed, Progress: r.config.Progress, Minibatches: r.config.minibatches(),
		Save: func(*mixture.State) error { return r.writeCheckpoint(document) },
	}
	state := document.Mixture
	if err := mixture.New(q, s, options).Run(ctx, state); err != nil {
		return nil, err
	}
	x := state.Best
	q.Fix(x)
	elbo, standardError, lower, err := q.ELBO(ctx, x, credence.Rand(r.config.Seed, credence.SVIEntropy, 0))
	if err != nil {
		return nil, err
	}
	r.start, r.report.ELBOBound = s, &lower
	if q.Components > 1 {
		r.report.ELBOStandardError = &standardError
	}
	r.report.Status, r.report.Iterations = credence.IterationLimit, state.Iterations
	if state.BestConverged {
		r.report.Status = credence.Converged
	}
	o := &outcome{posterior: q.Posterior(x), priors: q.Prior, family: q.Family, targets: q.Targets, separated: q.Separated}
	r.bound(o, elbo)
	r.check(o, s.Zero)
	logs, err := r.compareSpread(ctx, q, x)
	if err != nil {
		return nil, err
	}
	if draws := r.drawCount(r.Data.Total()); logs == nil && draws >= q.Components {
		if logs, err = q.LogWeights(ctx, x, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws); err != nil {
			return nil, err
		}
	}
	if logs != nil {
		remedy := "state covariance=full"
		if r.Dims > base.FullWeights {
			remedy = "state more components, or covariance=full with fewer columns"
		}
		r.judge(o, logs, remedy)
	}
	return r.finish(o), nil
}

// affordableOperations is the number of operations of a pass that a comparison for a warning may
// take.
const affordableOperations = 1e11

// compareSpread tells how much narrower independent weights come out than correlated ones would, from
// the curvature at the mean of q: a mean field's variances are the reciprocals of the precision's
// diagonal, and those of several components together lie between them and the truth.
//
// Of one component it returns the log weights of draws, where draws are wanted: with the curvature, some of many rows are enough.
func (r *fit) compareSpread(ctx context.Context, q *mixture.Bound, x []float64) (logs []float64, err error) {
	d := r.Dims
	if d > base.FullWeights || r.operations() > affordableOperations {
		return nil, nil
	}
	n := newton.New(r.Problem, q.References)
	stats := newton.NewStatistics(d, q.Family.Count())
	psi, m := q.Moments(x)
	factor := make([]float64, d*d)
	for j, v := range psi {
		factor[j*d+j] = math.Sqrt(v)
	}
	if in := r.Intercept; in != nil {
		for j, c := range in.Columns {
			factor[j] += c * factor[j*d+j]
		}
		in.Centre(m, m)
	}
	if err := n.Pass(ctx, r.All(), stats, m, factor, q.Family); err != nil {
		return nil, err
	}
	at := &newton.Point{Mean: m, Prior: q.Prior, Sites: stats.Curvature, Family: q.Family}
	if draws := r.drawCount(min(r.Data.Total(), partRows)); draws > 0 && q.Components == 1 {
		n.Spread(at, factor)
		if logs, err = n.LogWeights(ctx, r.All(), at, stats, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws); err != nil {
			return nil, err
		}
	}
	if !n.Place(at) {
		return logs, nil
	}
	ratios, variances := make([]float64, d), make([]float64, d)
	n.Posterior(at).Marginals(m, variances)
	for j, v := range variances {
		ratios[j] = math.Sqrt(psi[j] / v)
	}
	diagnose.Narrow(&r.report, ratios, 0, func(j int) string { return base.WeightName(r.Features, j) },
		"the features are correlated, which a diagonal covariance leaves out", "state covariance=full for them, predictions suffer less")
	return logs, nil
}
