package svi

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/posterior"
)

// round is the number of quasi-Newton iterations between checkpoints. Each round starts
// with no memory of the last, so that a resumed fit takes the same steps.
const round = 50

// mixtureState is where a fit of a mixture stands between rounds or epochs.
type mixtureState struct {
	Start, Level, Iterations int
	Done                     int       // iterations of this start on all rows
	X                        []float64 // variables; nil before a start
	Single                   []float64 // those of the optimum with one component
	Best                     []float64 // those of the best start so far
	BestBound                float64
	Converged, BestConverged bool
	Stochastic               stochasticState
}

// fitMixture fits K diagonal components.
func (r *fit) fitMixture(ctx context.Context, saved *checkpoint) (*credence.Fitted, error) {
	s, err := r.starting(ctx, r.open(startRows), r.groups)
	if err != nil {
		return nil, err
	}
	q := newMixture(r, r.config.Components, s.references, s.family)
	state := &mixtureState{BestBound: math.Inf(-1)}
	if saved != nil && saved.Mixture != nil {
		state = saved.Mixture
	}
	if r.d > tuneWeights || r.config.stochastic() {
		q.tune(r.features)
	}
	starts := r.config.Starts
	for ; state.Start < starts; state.Start++ {
		if err := r.oneStart(ctx, q, s, state); err != nil {
			return nil, err
		}
		bound, err := q.evaluate(ctx, r.open(0), make([]float64, q.size()), state.X)
		if err != nil {
			return nil, err
		}
		if bound > state.BestBound || state.Best == nil {
			state.Best, state.BestBound, state.BestConverged = clone(state.X), bound, state.Converged
		}
		state.X, state.Level, state.Done, state.Converged = nil, 0, 0, false
	}
	return r.finishMixture(ctx, q, state)
}

// oneStart takes one start to its end.
func (r *fit) oneStart(ctx context.Context, q *mixture, s *start, state *mixtureState) error {
	if state.X == nil {
		if err := r.begin(ctx, q, s, state); err != nil {
			return err
		}
	}
	if r.config.stochastic() {
		return r.stochasticFit(ctx, q, state)
	}
	return r.climbLevels(ctx, q, state, true)
}

// climbLevels takes state.X to the optimum over ever more rows, in at most MaxIterations on all of
// them.
func (r *fit) climbLevels(ctx context.Context, q *mixture, state *mixtureState, checkpoints bool) error {
	levels := r.levels()
	for ; state.Level < len(levels); state.Level++ {
		t := r.open(levels[state.Level])
		if state.Level < len(levels)-1 {
			if err := r.climbPart(ctx, q, t, state); err != nil {
				return err
			}
			continue
		}
		for state.Done < r.config.MaxIterations && !state.Converged {
			if checkpoints {
				if err := r.save(state); err != nil {
					return err
				}
			}
			limit := min(round, r.config.MaxIterations-state.Done)
			iterations, converged, err := r.round(ctx, q, t, state.X, r.tolerance(), state, limit)
			if err != nil {
				return err
			}
			state.Iterations += iterations
			state.Done += limit
			state.Converged = converged
		}
	}
	return nil
}

// climbPart takes state.X near the optimum over a part of the rows.
func (r *fit) climbPart(ctx context.Context, q *mixture, t *table, state *mixtureState) error {
	limit := min(100, r.config.MaxIterations)
	for done := 0; done < limit; done += round {
		_, converged, err := r.round(ctx, q, t, state.X, 0.1, state, min(round, limit-done))
		if converged || err != nil {
			return err
		}
	}
	return nil
}

// round takes quasi-Newton steps in x, scaled by the curvature of the prior and the
// entropy: 1/Ψ for means and ½ for log variances, over K.
func (r *fit) round(ctx context.Context, q *mixture, t *table, x []float64, tolerance float64, state *mixtureState, limit int) (int, bool, error) {
	curvature := make([]float64, len(x))
	for k := range q.k {
		_, logs := q.component(x, k)
		cm, cl := q.component(curvature, k)
		for j := range logs {
			cm[j] = math.Exp(-logs[j]) / float64(q.k)
			cl[j] = 0.5 / float64(q.k)
		}
	}
	free, hyper := q.parameters(curvature)
	weight := 0.1 * float64(t.count)
	for i := range free {
		free[i] = weight
	}
	for i := range hyper {
		hyper[i] = weight
	}
	var lower, upper []float64
	if len(q.lower) > 0 {
		lower, upper = make([]float64, len(x)), make([]float64, len(x))
		for i := range lower {
			lower[i], upper[i] = math.Inf(-1), math.Inf(1)
		}
		copy(lower[2*q.k*q.d:], q.lower)
		copy(upper[2*q.k*q.d:], q.upper)
	}
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		bound, err := q.evaluate(ctx, t, gradient, x)
		if err != nil {
			return 0, err
		}
		for i := range gradient {
			gradient[i] = -gradient[i]
		}
		return -bound, nil
	}, lbfgs.Config{
		MaxIterations: limit, Curvature: curvature, Lower: lower, Upper: upper, Patience: 5,
		Tolerance: 10 * tolerance * tolerance,
		Each: func(i int, f float64) {
			if r.config.Progress != nil {
				r.config.Progress(credence.Progress{
					Stage: fmt.Sprintf("start %d of %d", state.Start+1, r.config.Starts),
					Done:  state.Done + i, Total: r.config.MaxIterations, Objective: -f,
				})
			}
		},
	})
	if err == nil && !finite(result.F) {
		err = fmt.Errorf("svi: the bound is %v at the starting values: scale the columns, or state a smaller prior variance", -result.F)
	}
	return result.Iterations, result.Converged, err
}

// begin stores the variables that a start begins with in state.X.
//
// One component begins at the starting values with the variances that the rows'
// curvature there implies; later starts begin at draws from the prior. Several
// components begin apart: around the optimum of one, at draws from the prior in odd starts, which
// finds distant modes, and in even ones at its standard deviation, which finds the shape of one mode.
func (r *fit) begin(ctx context.Context, q *mixture, s *start, state *mixtureState) error {
	if state.Single == nil {
		single := newMixture(r, 1, q.references, q.base)
		x, err := single.initial(ctx, r.open(startRows), s)
		if err != nil {
			return err
		}
		if q.k > 1 {
			warm := &mixtureState{X: x, Start: state.Start}
			if err := r.climbLevels(ctx, single, warm, false); err != nil {
				return err
			}
		}
		state.Single = x
	}
	rng := credence.Rand(r.config.Seed, credence.SVIStarts, uint64(state.Start))
	m, logs := state.Single[:r.d], state.Single[r.d:2*r.d]
	x := make([]float64, q.size())
	free, _ := q.parameters(x)
	copy(free, state.Single[2*r.d:2*r.d+q.base.count()])
	for i, g := range q.groups {
		sd := math.Sqrt(q.references[i].wide)
		for j := g.first; j < g.first+g.count; j++ {
			for k := range q.k {
				mean, log := q.component(x, k)
				mean[j], log[j] = m[j], logs[j]
				switch {
				case q.k == 1 && state.Start == 0:
				case q.k == 1:
					mean[j] += sd * rng.NormFloat64()
				case state.Start%2 == 0:
					mean[j] += math.Exp(logs[j]/2) * rng.NormFloat64()
				case !g.intercept || len(q.groups) == 1:
					mean[j] = sd * rng.NormFloat64()
				}
			}
		}
	}
	_, logHyper := q.parameters(x)
	if q.tunable != nil {
		list := q.tunable.Hyper()
		for l, i := range q.hypers {
			logHyper[l] = math.Log(list[i].Value)
		}
	}
	state.X = x
	return nil
}

// initial returns variables of one component at the starting values: with β = −ℓ”
// there, Ψ_j = 1/(1/λ_j + Σ_n β_n φ_nj²), the rows standing for all.
func (q *mixture) initial(ctx context.Context, t *table, s *start) ([]float64, error) {
	x := make([]float64, q.size())
	m, logs := q.component(x, 0)
	copy(m, s.Mean)
	free, _ := q.parameters(x)
	copy(free, s.Free)
	for j := range logs {
		logs[j] = math.Inf(-1) // Ψ = 0: derivatives at the mean
	}
	q.begin(x)
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return nil, err
		}
		q.terms.resize(b.rows, q.base.count())
		latentMeans(q.ws.Pool(), q.terms.mean, b, m)
		clear(q.terms.variance)
		q.terms.expect(q.ws.Pool(), b, q.family, false)
		for i, v := range q.terms.dVariance {
			q.terms.dVariance[i] = math.Max(0, -2*v)
		}
		addTransSquare(q.ws.Pool(), q.spread, b.phi, q.terms.dVariance)
	}
	scale := t.scale()
	for i, g := range q.groups {
		for j := g.first; j < g.first+g.count; j++ {
			logs[j] = -math.Log(1/s.Prior[i] + scale*q.spread[j])
		}
	}
	return x, nil
}

// entropyDraws is the number of draws of each component for the entropy that is reported.
const entropyDraws = 2000

// finishMixture takes the bounds at the best start and assembles the result.
func (r *fit) finishMixture(ctx context.Context, q *mixture, state *mixtureState) (*credence.Fitted, error) {
	x := state.Best
	r.features = q.featuresAt(r.features, x)
	q.tunable = nil
	gradient := make([]float64, len(x))
	lower, err := q.evaluate(ctx, r.open(0), gradient, x)
	if err != nil {
		return nil, err
	}
	clear(gradient)
	without := lower - q.entropyBound(gradient, x)
	entropy, standardError := q.entropy(x, entropyDraws, credence.Rand(r.config.Seed, credence.SVIEntropy, 0))
	bound := without + entropy
	r.report.ELBO, r.report.ELBOBound = &bound, &lower
	if q.k > 1 {
		r.report.ELBOStandardError = &standardError
	}
	r.report.Status, r.report.Iterations = credence.IterationLimit, state.Iterations
	if state.BestConverged {
		r.report.Status = credence.Converged
	}
	r.targets = q.targets
	r.separable = q.correct
	r.checkTargets(q.prior, q.family)
	var zero []int
	for j := range r.d {
		if q.spread[j] == 0 {
			zero = append(zero, j)
		}
	}
	r.warnZero(zero)
	if err := r.compareSpread(ctx, q, x); err != nil {
		return nil, err
	}
	if err := r.diagnoseMixture(ctx, q, x); err != nil {
		return nil, err
	}
	m := r.member(q.posterior(x), q.prior, q.family)
	return r.finish(m, q.prior, q.family), nil
}

// posterior returns the mixture in x.
func (q *mixture) posterior(x []float64) credence.Posterior {
	if q.k == 1 {
		m, _ := q.component(x, 0)
		return &posterior.Diagonal{Mean: clone(m), Variance: clone(q.psi)}
	}
	p := &posterior.Mixture{Count: q.k, Variances: clone(q.psi)}
	for k := range q.k {
		m, _ := q.component(x, k)
		p.Means = append(p.Means, m...)
	}
	return p
}
