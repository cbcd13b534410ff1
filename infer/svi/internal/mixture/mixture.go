// Package mixture is variational inference with q(w) = (1/K) Σ_k N(m_k, diag Ψ_k), the form of the
// revrand report (section 1.3, eqs. 21–27), by quasi-Newton steps on all rows. Up to mostMetric weights, on rows
// enough, they are taken in variables in which correlated features are alike.
//
// Cost: K times the entries of all rows a step. Memory: O(Kd), with such variables d² more, and a block of rows.
//
// # Minibatches
//
// Stochastic steps on minibatches of rows (revrand report, section 1.1 and eq. 27) depart from the
// report:
//
//  1. Variables are in units of approximate posterior standard deviations, found from the curvature
//     at a warm start on some rows, so that one rate serves all.
//  2. Expectations are integrals over f unless draws are asked for.
//  3. Prior variances are at their maximum given the components, not stepped.
//  4. Rates fall with the square root of the epoch (for SGD and momentum with the epoch). Iterates are
//     not averaged: before the last departure an average has a lower bound than the last iterate on
//     most problems, and after it the same.
//  5. It stops when the bound, averaged over the minibatches of two epochs, rises by less than a
//     tolerance over two epochs.
//  6. At most polishIterations deterministic iterations over all rows follow: the last iterate stays
//     a fifth of a posterior standard deviation from the optimum, however many rows there are, and
//     they take most of that away.
//
// Cost: K times the entries of all rows an epoch. Memory: O(Kd) and a minibatch.
package mixture

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// Beyond is a bound that is no number where a fit starts, in general since variances of f are beyond what expectations
// can be taken at.
type Beyond float64

// Error says what to do about it.
func (b Beyond) Error() string {
	return fmt.Sprintf("svi: the bound is %v at the starting values: scale the columns, or state a smaller prior variance", float64(b))
}

// Options say how to fit a mixture.
type Options struct {
	Starts        int // random starts, of which the best bound is kept
	MaxIterations int // on all rows, of every start
	Tolerance     float64
	Levels        []int // numbers of rows of the climbs, 0 for all
	Seed          uint64
	Progress      func(credence.Progress)
	Save          func(*State) error
	Minibatches   *Minibatches // nil means all rows at every step
}

// State is where a fit stands between rounds of iterations.
type State struct {
	Start         int       `json:"start"`
	Level         int       `json:"level"`
	Iterations    int       `json:"iterations"`
	Done          int       `json:"done"` // iterations of this start on all rows
	Converged     bool      `json:"converged"`
	BestConverged bool      `json:"best_converged"`
	BestBound     float64   `json:"best_bound"`
	Best          []float64 `json:"-"` // variables of the best start so far; nil before the first end
	X             []float64 `json:"-"` // variables; nil before a start
	Single        []float64 `json:"-"` // variables of the optimum with one component
	Minibatches   Epochs    `json:"minibatches"`
}

// Vectors are the parts of the state that are not in its JSON.
func (s *State) Vectors() checkpoint.Vectors {
	e := &s.Minibatches
	return checkpoint.Vectors{
		"mixture.x": &s.X, "mixture.single": &s.Single, "mixture.best": &s.Best,
		"minibatch.z": &e.z, "minibatch.scale": &e.scale, "minibatch.bounds": &e.bounds,
		"minibatch.first": &e.memory.first, "minibatch.second": &e.memory.second,
	}
}

// Fits says whether a state can be one of this fit.
func (f *Fit) Fits(s *State) bool {
	e := &s.Minibatches
	of := func(size int, vectors ...[]float64) bool {
		return !slices.ContainsFunc(vectors, func(v []float64) bool { return v != nil && len(v) != size || !problem.Finite(v...) })
	}
	return min(s.Start, s.Level, s.Iterations, s.Done, e.Epoch, e.Steps) >= 0 && (s.Start == 0 || s.Best != nil) && len(e.bounds) == e.Epoch && problem.Finite(e.bounds...) &&
		(e.z == nil) == (e.scale == nil) && (e.z == nil || s.X != nil) && (e.memory.first == nil) == (e.memory.second == nil) &&
		of(f.Size(), s.X, s.Best, e.z, e.scale, e.memory.first, e.memory.second) && of(NewBound(f.Problem, 1, f.Base).Size(), s.Single)
}

// Fit is one fit of a mixture.
type Fit struct {
	*Bound
	Options
	start *problem.Start
	known []lbfgs.Pair // corrections of the last round, which the next begins with, where it has no metric
}

// New returns the fit of a bound from starting values.
func New(q *Bound, start *problem.Start, options Options) *Fit {
	return &Fit{Bound: q, Options: options, start: start}
}

// Run takes every start to its end and leaves the variables of the best in state.Best.
func (f *Fit) Run(ctx context.Context, state *State) error {
	for ; state.Start < f.Starts; state.Start++ {
		if state.X == nil {
			if err := f.begin(ctx, state); err != nil {
				return err
			}
		}
		climb := f.climb
		if f.Minibatches != nil {
			climb = f.climbMinibatches
		}
		if err := climb(ctx, state); err != nil {
			return err
		}
		bound, err := f.Evaluate(ctx, f.All(), make([]float64, f.Size()), state.X)
		if err != nil {
			return err
		}
		if bound > state.BestBound || state.Best == nil {
			state.Best, state.BestBound, state.BestConverged = state.X, bound, state.Converged
		}
		state.X, state.Level, state.Done, state.Converged = nil, 0, 0, false
	}
	return nil
}

// round is the number of quasi-Newton iterations between checkpoints. A round after a checkpoint starts
// with no memory of the last, so that a resumed fit takes the same steps.
const round = 50

// climb takes state.X to the optimum over ever more rows, in at most MaxIterations on all of them.
func (f *Fit) climb(ctx context.Context, state *State) error {
	for ; state.Level < len(f.Levels); state.Level++ {
		rows := f.All()
		if limit := f.Levels[state.Level]; limit > 0 {
			rows = f.Rows(limit)
		}
		if state.Level < len(f.Levels)-1 {
			if err := f.Approach(ctx, rows, state); err != nil {
				return err
			}
			continue
		}
		for state.Done < f.MaxIterations && !state.Converged {
			if f.Save != nil {
				if err := f.Save(state); err != nil {
					return err
				}
				f.known = nil
			}
			limit := min(round, f.MaxIterations-state.Done)
			iterations, converged, err := f.ascend(ctx, rows, state, f.Tolerance, limit)
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

// nearby is the tolerance where a point near the optimum is enough: the last steps are taken elsewhere.
const nearby = 0.1

// Approach takes state.X near the optimum over a part of the rows, or over rows of other weights.
func (f *Fit) Approach(ctx context.Context, rows *problem.Rows, state *State) error {
	limit := min(100, f.MaxIterations)
	defer func() { f.known = nil }() // of other rows
	for done := 0; done < limit; done += round {
		_, converged, err := f.ascend(ctx, rows, state, nearby, min(round, limit-done))
		if converged || err != nil {
			return err
		}
	}
	return nil
}

// ascend takes at most limit quasi-Newton steps in state.X, in the variables of its metric.
func (f *Fit) ascend(ctx context.Context, rows *problem.Rows, state *State, tolerance float64, limit int) (iterations int, converged bool, err error) {
	x := state.X
	metric, err := f.metric(ctx, rows, x, f.alike(rows, state.Done > 0))
	if err != nil {
		return 0, false, err
	}
	patience := 5
	switch {
	case metric != nil && metric.heavy == nil:
		patience = 2 // a step that gains little is then no sign of a valley
	case tolerance >= nearby:
		patience = 3
	}
	curvature := make([]float64, len(x))
	metric.curvature(curvature, x, f.Bound)
	for i := f.tail(); i < len(x); i++ {
		curvature[i] = 0.1 * float64(rows.Count())
	}
	known := f.known
	if f.known = nil; metric != nil {
		known = nil
	}
	var lower, upper []float64
	if len(f.Lower) > 0 {
		lower = append(slices.Repeat([]float64{math.Inf(-1)}, f.tail()), f.Lower...)
		upper = append(slices.Repeat([]float64{math.Inf(1)}, f.tail()), f.Upper...)
	}
	point := make([]float64, len(x))
	metric.enter(x)
	result, err := lbfgs.Minimise(x, func(z, gradient []float64) (float64, error) {
		copy(point, z)
		metric.leave(point)
		bound, err := f.Evaluate(ctx, rows, gradient, point)
		if err != nil {
			return 0, err
		}
		metric.pull(gradient)
		for i := range gradient {
			gradient[i] = -gradient[i]
		}
		return -bound, nil
	}, lbfgs.Config{
		Known: known, MaxIterations: limit, Curvature: curvature, Lower: lower, Upper: upper, Patience: patience,
		Tolerance: 10 * tolerance * tolerance,
		Each: func(i int, objective float64) {
			if f.Progress != nil {
				f.Progress(credence.Progress{
					Stage: fmt.Sprintf("start %d of %d", state.Start+1, f.Starts),
					Done:  state.Done + i, Total: f.MaxIterations, Objective: -objective,
				})
			}
		},
	})
	metric.leave(x)
	if metric == nil {
		f.known = result.Pairs
	}
	if err == nil && !problem.Finite(result.F) {
		err = Beyond(-result.F)
	}
	return result.Iterations, result.Converged, err
}
