package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Fit learns the hyper-parameters and returns the posterior of the weights. It
// returns ctx.Err() between two blocks of rows once ctx is done.
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	if data.Rows() == 0 {
		return nil, fmt.Errorf("exact: the data have no rows")
	}
	ws := credence.NewWorkspace(e.config.Threads)
	run := &fit{Engine: e, ws: ws, data: data}
	if err := run.learn(ctx); err != nil {
		return nil, err
	}
	return run.fitted(), nil
}

// fit is one call of Fit.
type fit struct {
	*Engine
	ws       *credence.Workspace
	data     credence.Data
	rows     *rows // of the last stage
	form     form  // of the last stage
	best     []*outcome
	members  []credence.Member
	warnings []string
}

// open prepares a stage on limit evenly spread rows (0 for all). It keeps the form of the
// stage before if that had the same rows.
func (r *fit) open(ctx context.Context, limit int, tuned bool) error {
	total := r.data.Rows()
	if limit == 0 || limit > total {
		limit = total
	}
	if r.form != nil && r.rows.count == limit && tuned == r.tuned {
		return nil
	}
	r.form = nil // before the next one is made: they are large
	_, hasIntercept := r.intercept()
	part := limit
	if limit == total {
		part = 0
	}
	var err error
	if r.rows, err = openRows(ctx, r.data, part, hasIntercept, tuned); err != nil {
		return err
	}
	r.form = newForm(r.rows, r.ws, r.model.Features, r.groups, tuned)
	return nil
}

func (e *Engine) intercept() (int, bool) {
	for k, is := range e.isIntercept {
		if is {
			return k, true
		}
	}
	return 0, false
}

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
		t := task{stage: "variances", features: r.model.Features, maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-12)}
		if tunable, ok := r.model.Features.(credence.Tunable); ok {
			t.hyper = hyperValues(tunable)
		}
		end, err := r.climb(ctx, r.form, t)
		if err != nil {
			return err
		}
		r.keep(end)
		return nil
	}
	starts, err := r.screen(ctx)
	if err != nil {
		return err
	}
	for k, start := range starts {
		name := "all rows"
		if len(starts) > 1 {
			name = fmt.Sprintf("draw %d of %d", k+1, len(starts))
		}
		if err := r.polish(ctx, start, name); err != nil {
			return err
		}
	}
	r.order()
	return nil
}

// hyperValues returns the current values of the features' hyper-parameters.
func hyperValues(features credence.Tunable) []float64 {
	var out []float64
	for _, h := range features.Hyper() {
		out = append(out, h.Value)
	}
	return out
}

// polish climbs on all rows up to Config.PolishRows, and beyond that learns the
// variances on all.
func (r *fit) polish(ctx context.Context, t task, name string) error {
	if err := r.open(ctx, r.config.PolishRows, true); err != nil {
		return err
	}
	t.stage, t.tune = name, true
	t.maxIterations, t.tolerance = r.config.MaxIterations, r.tolerance(1e-6)
	end, err := r.climb(ctx, r.form, t)
	if err != nil {
		return err
	}
	if r.rows.count < r.data.Rows() {
		if len(r.members) == 0 {
			r.warnings = append(r.warnings, fmt.Sprintf(
				"hyper-parameters of the features were learned on %d of %d rows, noise and prior variances on all", r.rows.count, r.data.Rows()))
		}
		if err := r.open(ctx, 0, false); err != nil {
			return err
		}
		start := end.point
		status, penalty := end.status, end.penalised-end.evidence
		end, err = r.climb(ctx, r.form, task{
			stage: name + ", variances", features: end.features, start: &start, done: end.iterations,
			maxIterations: r.config.MaxIterations, tolerance: r.tolerance(1e-9),
		})
		if err != nil {
			return err
		}
		end.status = status
		end.penalised = end.evidence + penalty
	}
	r.keep(end)
	return nil
}

// keep makes a member of where a climb ended, whose values the form still has.
func (r *fit) keep(end *outcome) {
	r.best = append(r.best, end)
	noise := r.own(end.noise)
	variances := make([]float64, r.model.Features.Weights())
	for k, g := range r.groups {
		for j := g.First; j < g.First+g.Count; j++ {
			variances[j] = r.own(end.prior[k])
		}
	}
	r.members = append(r.members, credence.Member{
		Model: credence.Model{
			Features:   end.features,
			Likelihood: likelihood.Gaussian{NoiseVariance: noise, Learn: r.noiseState() != credence.Held},
			Prior:      prior.Normal{Variance: r.prior.Variance, ARD: r.prior.ARD, Variances: variances},
		},
		Posterior: r.form.posterior(),
	})
}

// own returns a variance in the target's own units, at the edge of what a number can
// hold if it is beyond.
func (r *fit) own(v float64) float64 {
	s := r.rows.units.scale
	return math.Max(math.SmallestNonzeroFloat64, math.Min(v*s*s, math.MaxFloat64))
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
	first, sums := r.best[0], r.form.sums()
	evidence, penalised := first.evidence, first.penalised
	out := &credence.Fitted{Members: r.members}
	out.TargetMean, out.TargetVariance = sums.target(r.rows.units)
	out.Report = credence.Report{
		Engine: "exact", Status: first.status, Rows: r.data.Rows(),
		Inputs: r.rows.inputs, Weights: r.model.Features.Weights(),
		Iterations: first.iterations, Evidence: &evidence, EvidencePenalised: &penalised,
		Hyper: r.hyper(), Warnings: r.warn(),
	}
	return out
}

// hyper lists learned and held values of the best member.
func (r *fit) hyper() []credence.Value {
	model, first := r.members[0].Model, r.best[0]
	list := []credence.Value{{Name: "noise_variance", Value: model.Likelihood.(likelihood.Gaussian).NoiseVariance}}
	for k, g := range r.groups {
		name := "prior_variance." + r.blockOf[k].Name
		if r.prior.ARD && !r.isIntercept[k] {
			name = "prior_variance." + weightName(model.Features, g.First)
		}
		list = append(list, credence.Value{Name: name, Value: r.own(first.prior[k])})
	}
	if tunable, ok := model.Features.(credence.Tunable); ok {
		for _, h := range tunable.Hyper() {
			list = append(list, credence.Value{Name: h.Name, Value: h.Value})
		}
	}
	return list
}

// warn lists what a user should know about the fit.
func (r *fit) warn() []string {
	list := r.warnings
	first, s := r.best[0], r.rows.units.scale
	if r.form.sums().variance() == 0 {
		list = append(list, "the target is constant: noise and prior variances mean nothing")
	} else if first.atFloor {
		list = append(list, fmt.Sprintf("the noise variance is at its floor, %g of the target's variance: the data look noise-free, and predictive variances are set by the floor", noiseFloor))
	}
	if first.jitter > 0 {
		list = append(list, fmt.Sprintf("the Gram matrix needed %g of its mean diagonal added to be factored: columns repeat each other", first.jitter))
	}
	if !(s > 1e-140 && s < 1e140) {
		list = append(list, fmt.Sprintf("the target is of the order of %.0e: variances are beyond what a number can hold; divide the target by that", s))
	}
	return list
}
