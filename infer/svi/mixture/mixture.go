// Package mixture is variational inference with q(w) = (1/K) Σ_k N(m_k, diag Ψ_k), the form of the
// revrand report (section 1.3, eqs. 21–27), by quasi-Newton steps on all rows.
//
// Cost: K times the entries of all rows a step. Memory: O(Kd) and a block of rows.
package mixture

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// Options say how to fit a mixture.
type Options struct {
	Starts        int // random starts, of which the best bound is kept
	MaxIterations int // on all rows, of every start
	Tolerance     float64
	Levels        []int // numbers of rows of the climbs, 0 for all; see problem.Problem.Levels
	Seed          uint64
	Progress      func(credence.Progress)
	Save          func(*State) error
	// Climb takes state.X to its end; nil means [Fit.Climb].
	Climb func(ctx context.Context, f *Fit, state *State) error
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
}

// Vectors are the parts of the state that are not in its JSON.
func (s *State) Vectors() checkpoint.Vectors {
	return checkpoint.Vectors{"mixture.x": &s.X, "mixture.single": &s.Single, "mixture.best": &s.Best}
}

// Fit is one fit of a mixture.
type Fit struct {
	*Bound
	Options
	start *problem.Start
}

// New returns the fit of a bound from starting values.
func New(q *Bound, start *problem.Start, options Options) *Fit {
	if options.Climb == nil {
		options.Climb = func(ctx context.Context, f *Fit, state *State) error { return f.Climb(ctx, state, f.Save) }
	}
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
		if err := f.Options.Climb(ctx, f, state); err != nil {
			return err
		}
		bound, err := f.Evaluate(ctx, f.Rows(0), make([]float64, f.Size()), state.X)
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

// Round is the number of quasi-Newton iterations between checkpoints. Each round starts with no
// memory of the last, so that a resumed fit takes the same steps.
const Round = 50

// Climb takes state.X to the optimum over ever more rows, in at most MaxIterations on all of them.
func (f *Fit) Climb(ctx context.Context, state *State, save func(*State) error) error {
	for ; state.Level < len(f.Levels); state.Level++ {
		rows := f.Rows(f.Levels[state.Level])
		if state.Level < len(f.Levels)-1 {
			if err := f.climbPart(ctx, rows, state); err != nil {
				return err
			}
			continue
		}
		for state.Done < f.MaxIterations && !state.Converged {
			if save != nil {
				if err := save(state); err != nil {
					return err
				}
			}
			limit := min(Round, f.MaxIterations-state.Done)
			iterations, converged, err := f.Ascend(ctx, rows, state, f.Tolerance, limit)
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
func (f *Fit) climbPart(ctx context.Context, rows *problem.Rows, state *State) error {
	limit := min(100, f.MaxIterations)
	for done := 0; done < limit; done += Round {
		_, converged, err := f.Ascend(ctx, rows, state, 0.1, min(Round, limit-done))
		if converged || err != nil {
			return err
		}
	}
	return nil
}

// Ascend takes at most limit quasi-Newton steps in state.X, scaled by the curvature of the prior and
// the entropy: 1/Ψ for means and ½ for log variances, over K.
func (f *Fit) Ascend(ctx context.Context, rows *problem.Rows, state *State, tolerance float64, limit int) (iterations int, converged bool, err error) {
	x := state.X
	curvature := make([]float64, len(x))
	for k := range f.Components {
		_, logs := f.Component(x, k)
		cm, cl := f.Component(curvature, k)
		for j := range logs {
			cm[j] = math.Exp(-logs[j]) / float64(f.Components)
			cl[j] = 0.5 / float64(f.Components)
		}
	}
	for i := f.tail(); i < len(x); i++ {
		curvature[i] = 0.1 * float64(rows.Count())
	}
	var lower, upper []float64
	if len(f.Lower) > 0 {
		lower = append(slices.Repeat([]float64{math.Inf(-1)}, f.tail()), f.Lower...)
		upper = append(slices.Repeat([]float64{math.Inf(1)}, f.tail()), f.Upper...)
	}
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		bound, err := f.Evaluate(ctx, rows, gradient, x)
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
		Each: func(i int, objective float64) {
			if f.Progress != nil {
				f.Progress(credence.Progress{
					Stage: fmt.Sprintf("start %d of %d", state.Start+1, f.Starts),
					Done:  state.Done + i, Total: f.MaxIterations, Objective: -objective,
				})
			}
		},
	})
	if err == nil && !problem.Finite(result.F) {
		err = fmt.Errorf("svi: the bound is %v at the starting values: scale the columns, or state a smaller prior variance", -result.F)
	}
	return result.Iterations, result.Converged, err
}
