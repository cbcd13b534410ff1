package exact

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Fit learns the hyper-parameters and returns the posterior of the weights. It
// returns ctx.Err() between two blocks of rows once ctx is done.
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	if data.Rows() == 0 {
		return nil, fmt.Errorf("exact: the data have no rows")
	}
	run := &fit{Engine: e, data: data, total: data.Rows()}
	run.ws = credence.NewWorkspace(e.config.Threads)
	if err := run.learn(ctx); err != nil {
		return nil, err
	}
	return run.fitted(), nil
}

// fit is one call of Fit.
type fit struct {
	*Engine
	stage                  // the last
	data     credence.Data // nil where sums are given
	total    int           // rows
	inputs   int           // dense and sparse, of a row
	best     []*outcome
	members  []credence.Member
	warnings []string
}

// Tolerances of climbs in the features' hyper-parameters, in nats a row. On many rows an iteration
// is dear, and what is gained below a tenth of a nat in all means nothing; where the climb goes on
// from a maximum with fewer frequencies, what is left is often a long ridge, whose last part mostly
// changes predictions in the third digit.
const (
	fewRowsTolerance  = 1e-6
	manyRowsTolerance = 1e-5
	goOnTolerance     = 1e-4
)

func (r *fit) climbTolerance() float64 {
	if r.data.Rows() > manyRows {
		return r.tolerance(manyRowsTolerance)
	}
	return r.tolerance(fewRowsTolerance)
}

// tolerance is the one stated, or else the standard.
func (r *fit) tolerance(standard float64) float64 {
	if r.config.Tolerance > 0 {
		return r.config.Tolerance
	}
	return standard
}

// learn runs the stages of the fit.
func (r *fit) learn(ctx context.Context) error {
	if !r.tuned {
		if err := r.open(ctx, 0, false); err != nil {
			return err
		}
		return r.climbVariances(ctx)
	}
	starts, err := r.search(ctx)
	if err != nil {
		return err
	}
	if err := r.polish(ctx, starts); err != nil {
		return err
	}
	r.order()
	return nil
}

// climbVariances climbs on the form's rows in the noise and prior variances alone.
func (r *fit) climbVariances(ctx context.Context) error {
	end, err := r.climb(ctx, r.form, task{
		stage: "variances", features: r.model.Features, hyper: blocks.HyperValues(r.model.Features),
		maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-12),
	})
	if err != nil {
		return err
	}
	r.keep(end)
	return nil
}

// polish climbs on all rows up to Config.PolishRows, and beyond that learns the
// variances on all.
func (r *fit) polish(ctx context.Context, tasks []task) error {
	for k := range tasks {
		t := &tasks[k]
		t.stage, t.tune = "all rows", true
		if len(tasks) > 1 {
			t.stage = fmt.Sprintf("draw %d of %d", k+1, len(tasks))
		}
		t.maxIterations, t.tolerance = r.config.MaxIterations, r.climbTolerance()
		if r.dear() {
			t.tolerance = r.tolerance(goOnTolerance)
		}
		t.beyond = t.before == nil && r.data.Rows() <= r.config.ScreenRows // otherwise screen has done so
	}
	if err := r.open(ctx, r.config.PolishRows, true); err != nil {
		return err
	}
	if used, all := r.rows.Count(), r.data.Rows(); used < all {
		r.warnings = append(r.warnings, fmt.Sprintf(
			"hyper-parameters of the features were learned on %d of %d rows, noise and prior variances on all", used, all))
		return r.polishLarge(ctx, tasks)
	}
	r.best, r.members = make([]*outcome, len(tasks)), make([]credence.Member, len(tasks))
	return r.climbAll(ctx, tasks, func(k int, s *stage, end *outcome) {
		r.best[k], r.members[k] = end, r.member(s, end)
		r.rows, r.form = s.rows, s.form // whose sums the report wants
	})
}

// polishLarge climbs on the stage's rows, and after every climb on all rows in the variances.
func (r *fit) polishLarge(ctx context.Context, tasks []task) error {
	for _, t := range tasks {
		if err := r.open(ctx, r.config.PolishRows, true); err != nil {
			return err
		}
		end, err := r.climb(ctx, r.form, t)
		if err != nil {
			return err
		}
		if err := r.open(ctx, 0, false); err != nil {
			return err
		}
		tuned := end
		status, penalty := end.status, end.penalised-end.evidence
		end, err = r.climb(ctx, r.form, task{
			stage: t.stage + ", variances", features: tuned.features, before: tuned,
			maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-9),
		})
		if err != nil {
			return err
		}
		end.status = status
		end.penalised = end.evidence + penalty
		r.keep(end)
	}
	return nil
}

// keep makes a member of where a climb on the fit's own stage ended.
func (r *fit) keep(end *outcome) {
	r.best, r.members = append(r.best, end), append(r.members, r.member(&r.stage, end))
}

// member is where a climb ended, whose values the stage's form still has.
func (e *Engine) member(s *stage, end *outcome) credence.Member {
	variances := make([]float64, e.model.Features.Weights())
	blocks.Spread(variances, e.groups, func(k int) float64 { return s.own(end.prior[k]) })
	return credence.Member{
		Model: credence.Model{
			Features:   end.features,
			Likelihood: likelihood.Gaussian{NoiseVariance: e.likelihood.NoiseVariance.At(s.own(end.noise))},
			Prior:      prior.Normal{Variance: e.prior.Variance, ARD: e.prior.ARD, Variances: variances},
		},
		Posterior: s.form.posterior(),
	}
}

// order sorts the members by penalised evidence, best first.
func (r *fit) order() {
	index := byPenalised(r.best)
	best, members := make([]*outcome, len(index)), make([]credence.Member, len(index))
	for to, from := range index {
		best[to], members[to] = r.best[from], r.members[from]
	}
	r.best, r.members = best, members
}

// fitted assembles the result.
func (r *fit) fitted() *credence.Fitted {
	first := r.best[0]
	evidence, penalised := first.evidence, first.penalised
	out := &credence.Fitted{Members: r.members}
	out.TargetMean, out.TargetVariance = r.form.base().summary.target()
	out.Report = credence.Report{
		Engine: "exact", Status: first.status, Rows: r.total,
		Inputs: r.inputs, Weights: r.model.Features.Weights(),
		Iterations: first.iterations, Evidence: &evidence, EvidencePenalised: &penalised,
		Hyper: r.hyper(), Warnings: r.warn(),
	}
	return out
}

// hyper lists learned and held values of the best member.
func (r *fit) hyper() []credence.Value {
	model, first := r.members[0].Model, r.best[0]
	noise := credence.Value{Name: "noise_variance", Value: model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value}
	return append([]credence.Value{noise},
		blocks.Values(r.groups, func(k int) float64 { return r.own(first.prior[k]) }, model.Features)...)
}

// warn lists what a user should know about the fit.
func (r *fit) warn() []string {
	list := r.warnings
	first, s := r.best[0], r.form.base().summary.units.Scale
	if r.form.base().summary.variance() == 0 {
		list = append(list, "the target is constant: noise and prior variances mean nothing")
	} else if first.atFloor {
		list = append(list, fmt.Sprintf("the noise variance is at its floor, %g of the target's variance, and so are predictive variances: the data are nearly noise-free, or the target ranges over more than a thousand times its noise; state a smaller noise as --family 'gaussian(variance=…)', and look for outliers", noiseFloor))
	}
	for _, k := range first.atCeiling {
		list = append(list, fmt.Sprintf("the prior variance of %s ended at the largest that is tried, %.3g: state a starting guess such as --prior 'normal(variance=~%.1g)', or scale the columns",
			r.groups[k].Name, r.own(first.prior[k]), 100*r.own(first.prior[k])))
	}
	if first.jitter > 0 {
		list = append(list, fmt.Sprintf("the Gram matrix needed %g of its mean diagonal added to be factored: columns repeat each other", first.jitter))
	}
	if !(s > 1e-140 && s < 1e140) {
		list = append(list, fmt.Sprintf("the target is of the order of %.0e: variances are beyond what a number can hold; divide the target by that", s))
	}
	return list
}
