package exact

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Fit learns the hyper-parameters and returns the posterior of the weights. It
// returns ctx.Err() between two blocks of rows once ctx is done.
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	run := &fit{Engine: e, data: data, total: data.Rows()}
	if e.tuned { // which reads the rows again and again
		var err error
		if run.data, err = problem.Merge(ctx, "exact", e.model, data); err != nil {
			return nil, err
		}
	}
	run.ws = credence.NewWorkspace(e.config.Threads)
	if err := run.learn(ctx); err != nil {
		return nil, err
	}
	return run.fitted(), nil
}

// fit is one call of Fit.
type fit struct {
	*Engine
	stage                 // the last
	data    credence.Data // nil where sums are given
	total   int           // rows
	inputs  int           // dense and sparse, of a row
	best    []*outcome
	remarks []string
}

// Tolerances of climbs in the features' hyper-parameters, in nats a row. On many rows an iteration
// is dear, and what is gained below a tenth of a nat in all means nothing; where the climb goes on
// from a maximum with fewer frequencies, what is left is often a long ridge, whose last part mostly
// changes predictions in the third digit.
const (
	beforeNewton      = 1e-6 // where Newton's method goes on
	crossedTolerance  = 1e-4 // and there, where evaluations are dear
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
	return cmp.Or(r.config.Tolerance, standard)
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
	slices.SortStableFunc(r.best, worse)
	return nil
}

// climbVariances climbs on the form's rows in the noise and prior variances alone.
func (r *fit) climbVariances(ctx context.Context) error {
	t := ascent{
		stage: "variances", features: r.model.Features, hyper: problem.HyperValues(r.model.Features),
		maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-12),
	}
	if r.priors() {
		t.tolerance = r.tolerance(beforeNewton)
	}
	if err := r.form.load(ctx, t.features); err != nil {
		return err
	}
	t.loaded = true
	l, ok := r.form.(*levels)
	if ok && l.crossed != nil { // each evaluation counts
		t.tolerance = r.tolerance(crossedTolerance)
	}
	end, err := r.climb(ctx, r.form, t)
	if err != nil {
		return err
	}
	// A weak and a strong block may each be a maximum: the second start is for the latter. So many levels tell.
	if r.priors() && !(ok && r.form.base().d > problem.FullWeights) && end.status != credence.Closed && r.prior.Variance.State == param.Learned {
		second := t
		second.stage, second.again = "variances, second start", true
		other, err := r.climb(ctx, r.form, second)
		if err != nil {
			return err
		}
		iterations := end.iterations + other.iterations
		if other.penalised > end.penalised {
			end = other
		}
		end.iterations = iterations
	}
	if err := r.settle(ctx, r.form, t, end); err != nil {
		return err
	}
	r.keep(end)
	return nil
}

// polish climbs on all rows up to Config.PolishRows, and beyond that learns the
// variances on all.
func (r *fit) polish(ctx context.Context, tasks []ascent) error {
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
		r.remarks = append(r.remarks, fmt.Sprintf(
			"hyper-parameters of the features were learned on %d of %d rows, noise and prior variances on all", used, all))
		return r.polishLarge(ctx, tasks)
	}
	for k := range tasks {
		tasks[k].last, tasks[k].draw = true, k
	}
	r.best = make([]*outcome, len(tasks))
	return r.climbAll(ctx, tasks, func(k int, s *stage, end *outcome) {
		end.members = r.membersOf(s, end)
		r.best[k] = end
		r.rows, r.form = s.rows, s.form // whose sums the report wants
	})
}

// polishLarge climbs on the stage's rows, and after every climb on all rows in the variances.
func (r *fit) polishLarge(ctx context.Context, tasks []ascent) error {
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
		status := end.status
		t = ascent{
			stage: t.stage + ", variances", features: end.features, before: end,
			maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-9),
		}
		if end, err = r.climb(ctx, r.form, t); err != nil {
			return err
		}
		if err := r.settle(ctx, r.form, t, end); err != nil {
			return err
		}
		end.status = status
		end.penalised += ownPrior(end.features)
		r.keep(end)
	}
	return nil
}

// keep keeps where a climb on the fit's own stage ended.
func (r *fit) keep(end *outcome) {
	end.members = r.membersOf(&r.stage, end)
	r.best = append(r.best, end)
}

// member is where a climb ended, settled.
func (e *Engine) member(s *stage, end *outcome) credence.Member {
	variances := make([]float64, e.model.Features.Weights())
	law := end.settled.law
	if law == nil {
		law = end.settled.at.prior
	}
	problem.Spread(variances, e.groups, func(k int) float64 { return s.own(law[k]) })
	correlations, _ := problem.CorrelationsAt(e.together, end.settled.at.prior[len(e.groups):])
	return credence.Member{
		Model: credence.Model{
			Features:   end.features,
			Likelihood: likelihood.Gaussian{NoiseVariance: e.likelihood.NoiseVariance.At(s.own(end.settled.at.noise)), PredictiveDF: end.settled.predictiveDF},
			Prior:      prior.Normal{Variance: e.prior.Variance, ARD: e.prior.ARD, Variances: variances, Correlations: correlations},
		},
		Posterior: end.settled.posterior,
	}
}

// membersOf returns the member where a climb ended and those beside it, which share the weight of one.
func (e *Engine) membersOf(s *stage, end *outcome) []credence.Member {
	list, total := []credence.Member{e.member(s, end)}, 1.0
	list[0].Weight = 1
	for _, o := range end.beside {
		m := e.member(s, o)
		m.Weight = math.Exp(o.logShare)
		total += m.Weight
		list = append(list, m)
	}
	for k := range list {
		list[k].Weight /= total
	}
	return list
}

// members returns the members of all draws, which weigh alike.
func (r *fit) members() []credence.Member {
	var list []credence.Member
	weighted := slices.ContainsFunc(r.best, func(o *outcome) bool { return len(o.members) > 1 })
	for _, o := range r.best {
		for _, m := range o.members {
			if m.Weight /= float64(len(r.best)); !weighted {
				m.Weight = 0 // all are alike
			}
			list = append(list, m)
		}
	}
	return list
}

// fitted assembles the result.
func (r *fit) fitted() *credence.Fitted {
	first := r.best[0]
	out := &credence.Fitted{Members: r.members()}
	out.TargetMean, out.TargetVariance = r.form.base().summary.target()
	out.Report = credence.Report{
		Engine: "exact", Status: first.status, Rows: r.total,
		Inputs: r.inputs, Weights: r.model.Features.Weights(),
		Iterations: first.iterations, Hyperparameters: first.settled.treatment,
		Hyper: r.hyper(), Warnings: r.warn(), Remarks: r.remarks,
	}
	r.setEvidence(&out.Report)
	r.setPriors(&out.Report)
	return out
}
