package svi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/infer/svi/internal/tune"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// full fits one component with full covariance: Newton steps on ever more rows.
func (r *fit) full(ctx context.Context, saved *document) (*credence.Fitted, error) {
	whole := r.All() // what it keeps serves every step
	first := whole
	if r.Data.Total() >= 2*problem.StartRows && !r.lacking() {
		first = r.Rows(problem.StartRows)
	}
	s, err := r.Start(ctx, first, whole)
	if err != nil {
		return nil, err
	}
	r.start = s
	n, at := newton.New(r.Problem), newton.Begin(s)
	if saved != nil && !n.Fits(saved.Newton, s.Family.Count()) {
		return nil, r.otherState()
	}
	// rows of the first are added up once
	if _, gaussian := r.Likelihood.(likelihood.Gaussian); !gaussian && r.Pattern == nil {
		whole.Pack()
	}
	stats := n.NewStatistics(s.Family.Count())
	levels := r.levels()
	if r.tuned != nil && len(levels) == 1 {
		n.GoOn(at, r.tuned.At, r.tuned.Scale, r.tuned.Learned)
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
	predicted, gain := n.PredictedGain, n.Gain // of this climb: others follow
	g := &integration{fit: r, newton: n, rows: whole, stats: stats}
	if at, err = g.run(ctx, at); errors.Is(err, base.ErrAsked) && g.top != nil { // nodes are asked about the mode
		n.Place(g.mode.Point)
		r.logWeights(ctx, g, g.mode.Point, g.modeStats, true)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case g.top != nil && g.top.Left <= nearMode:
		// A search by the slopes of all that is learned has ended where the climb had not.
		r.report.Status = credence.Converged
	case predicted > 0:
		r.warn("the fit ended after %d iterations where no step raised the bound, though its slope promises %.2g nats: scale the columns, or state the prior variance or a parameter of the family, as in normal(variance=1)", r.report.Iterations, predicted)
	case r.report.Status == credence.IterationLimit:
		r.warn("the bound still rose by %.2g nats in the last of %d iterations: state iterations=%d", gain, r.report.Iterations, 4*r.report.Iterations)
	}
	bound, stats := n.BoundOf(at), g.stats
	o := &outcome{posterior: n.Posterior(at), priors: at.Prior, family: at.Family, targets: n.Targets, separated: stats.Separated}
	r.bound(o, bound)
	r.check(o, s.Zero)
	if r.drawCount(min(r.Data.Total(), partRows)) > 0 && r.Dims > mostDrawn {
		r.report.Remarks = append(r.report.Remarks, fmt.Sprintf("the approximation check was not made: it is for up to %d weights, and the model has %d", mostDrawn, r.Dims))
	} else if logs, err := r.logWeights(ctx, g, at, stats, false); err != nil {
		return nil, err
	} else if logs != nil {
		r.judge(o, logs, "with few rows a weight, or rare events, this is the limit of a normal posterior: compare predictions on held-out rows, state a tighter prior, or use fewer columns")
	}
	if g.all != nil && r.config.Hyper == param.Integrate {
		g.finish(o)
	}
	return r.finish(o), nil
}

// logWeights are those of draws from the posterior at a point that was placed last, nil where none are wanted.
func (r *fit) logWeights(ctx context.Context, g *integration, at *newton.Point, stats *newton.Statistics, guess bool) ([]float64, error) {
	draws := r.drawCount(min(r.Data.Total(), partRows))
	if draws == 0 || r.Dims > mostDrawn {
		return nil, nil
	}
	if r.Asker != nil {
		defer r.Asker.Branch("draws", guess)()
	}
	return g.newton.LogWeights(ctx, g.rows, at, stats, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws)
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

// mostDrawn is the largest number of weights of which draws are taken to judge a posterior.
const mostDrawn = 20_000

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
		if k < len(n.Groups) && reference.Narrow < reference.Wide {
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
	if len(points) == 1 {
		return at, nil
	}
	best := at
	err := r.aside(len(points), func(k int) error {
		_, _, err := n.Climb(ctx, first, points[k], stats, r.task("other prior variances", 0.3))
		if err == nil && points[k].Bound > best.Bound {
			best = points[k]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return best, nil
}

// diagonal fits K diagonal components, by L-BFGS on all rows or by minibatches.
func (r *fit) diagonal(ctx context.Context, saved *document) (*credence.Fitted, error) {
	s, err := r.Start(ctx, r.Rows(problem.StartRows), r.All())
	if err != nil {
		return nil, err
	}
	if in := r.Intercept; in != nil && in.Fixed {
		clear(in.Columns) // independent weights cannot keep b̃ where it is, and cutpoints then stand at the origin
	}
	q := mixture.NewBound(r.Problem, r.config.Components, s.Family)
	if r.Dims > tune.MaxWeights || r.config.stochastic() {
		q.Tune()
	}
	document := &document{Mixture: new(mixture.State)}
	if saved != nil {
		document = saved
	}
	r.start = s
	options := mixture.Options{
		Starts: r.config.Starts, MaxIterations: r.config.MaxIterations, Tolerance: r.tolerance(), Levels: r.levels(),
		Seed: r.config.Seed, Progress: r.config.Progress, Minibatches: r.config.minibatches(),
		Save: func(*mixture.State) error { return r.writeCheckpoint(document) },
	}
	state := document.Mixture
	if !mixture.New(q, s, options).Fits(state) {
		return nil, r.otherState()
	}
	if r.config.Hyper == param.Heldout && len(r.LearnedGroups()) > 0 {
		quiet := options
		quiet.Progress = nil
		if r.config.Start != nil && len(r.config.Start.Report.Averaged) > 0 {
			r.carry(r.config.Start.Report.Averaged)
		} else if err := r.choose(ctx, mixture.New(q, s, quiet), document); err != nil {
			return nil, err
		}
	}
	climb := mixture.New(q, s, options)
	if err := climb.Run(ctx, state); err != nil {
		return nil, err
	}
	x := state.Best
	q.Fix(x)
	elbo, standardError, lower, err := q.ELBO(ctx, x, credence.Rand(r.config.Seed, credence.SVIEntropy, 0))
	if err != nil {
		return nil, err
	}
	r.report.ELBOBound = &lower
	if q.Components > 1 {
		r.report.ELBOStandardError = &standardError
	}
	r.report.Status, r.report.Iterations = credence.IterationLimit, state.Iterations
	if state.BestConverged {
		r.report.Status = credence.Converged
	}
	o := &outcome{posterior: q.Posterior(x), priors: slices.Clone(q.Prior), family: q.Family, targets: q.Targets, separated: q.Separated}
	r.bound(o, elbo)
	r.check(o, s.Zero)
	if r.averaged != nil { // by predictions, which no check of the spread of weights has a say in
		climb.Save = nil
		if err := r.mix(ctx, o, climb, x); err != nil {
			return nil, err
		}
		return r.finish(o), nil
	}
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
			for _, b := range r.Features.Blocks() {
				if b.Unit { // frequencies
					remedy = fmt.Sprintf("state fewer frequencies of %s, n=50 for one column and n=100 for two, with covariance=full", b.Name)
					break
				}
			}
		}
		r.judge(o, logs, remedy)
		r.report.EvidenceGapLeast = r.report.EvidenceGap != nil && r.Dims > 1 // draws with independent weights
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
// Of one component it returns the log weights of draws, where draws are wanted: with the curvature, some of many rows
// are enough.
func (r *fit) compareSpread(ctx context.Context, q *mixture.Bound, x []float64) (logs []float64, err error) {
	d := r.Dims
	if d > base.FullWeights || r.operations() > affordableOperations {
		return nil, nil
	}
	n := newton.New(r.Problem)
	stats := n.NewStatistics(q.Family.Count())
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
	if err := n.Pass(ctx, r.All(), stats, m, gauss.Root(factor), q.Family); err != nil {
		return nil, err
	}
	at := &newton.Point{Mean: m, Prior: q.Prior, Sites: stats.Curvature, Family: q.Family}
	if draws := r.drawCount(min(r.Data.Total(), partRows)); draws > 0 && q.Components == 1 {
		n.Spread(at, factor)
		if logs, err = n.LogWeights(ctx, r.All(), at, stats, credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), draws); err != nil {
			return nil, err
		}
	}
	if _, ok := n.Place(at); !ok {
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
