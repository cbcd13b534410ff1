package svi

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
)

// The prior variances that are tried are A²·10^(step/2), A the scale of their prior: a common step first, from 0 to the
// top by decades, a block past its own top standing at its best; on while the least loss is at an end; then half a
// decade to each side of the best. Of several blocks each goes on by itself, by decades while the loss falls and then
// by half decades. Decades end at leastStep, and above the top at beyond. Of many rows all steps are of half decades.
const (
	decade    = 2
	gridSteps = 4 * decade
	leastStep = -2 * decade
	beyond    = 4 * decade

	// Larger variances are not tried where the loss has risen by this part of the least, which is more than a few
	// columns do, and, up to gridSteps, the rows left out are e^-settled times as likely as under the best: no choice
	// as far off is averaged over.
	hopeless = 0.1
	settled  = 5

	// Of many rows half decades follow each other at once, no further than two that are worse, or one by so much: a
	// fit under too wide a variance takes as long as those before it together. So it is where columns are of about one
	// size, up to as many times in variance.
	worse = 0.25
	alike = 100
)

// topOf returns the step up to which decades are tried whether the loss falls or not. A is for columns as large as they
// are together: where a few are much larger than the rest, as time stamps are among indicators, the best variance is
// anywhere up to that for columns like the smallest, and on the way there the loss hardly moves.
func topOf(r problem.Reference) int {
	return max(gridSteps, decade*int(math.Ceil(math.Log10(r.Wide/r.Narrow))))
}

// tries is how far the choice of prior variances has come.
type tries struct {
	Tried []tried   `json:"tried"`
	at    []float64 // variables of every fold at every one of them, one after the other
}

// of returns the variables of so many folds and weights at the choice that was tried k-th.
func (s *tries) of(k, size int) []float64 { return s.at[k*size : (k+1)*size] }

// tried is the loss of one choice.
type tried struct {
	Steps []int     `json:"steps"`          // of every learned block
	Loss  float64   `json:"loss"`           // least mean −log density of the rows left out
	Sums  []float64 `json:"sums,omitempty"` // and their log density at each of [spreads]; nil beyond reach
	Fits  int       `json:"fits"`
}

// search tries choices one after another. Of a state from a checkpoint it goes through those that were tried.
func (c *choice) search(ctx context.Context) error {
	steps := make([]int, len(c.learned))
	best, top := 0, slices.Max(c.tops)
	common := func(step int, near bool) error {
		for k := range steps {
			// else too large a variance here would hide what the others gain
			if steps[k] = step; step > c.tops[k] && c.tops[k] < top {
				steps[k] = c.state.Tried[c.best].Steps[k]
			}
		}
		better, err := c.try(ctx, steps, near)
		if better {
			best = step
		}
		return err
	}
	stride := decade
	if c.fine {
		stride = 1
	}
	onward := func(step int) bool {
		if step == 0 {
			return true
		}
		least := c.state.Tried[c.best].Loss
		risen := c.state.Tried[c.replayed-1].Loss - least
		if c.fine {
			return step <= top+beyond && best >= step-2 && risen*c.weight <= worse
		}
		if step <= gridSteps && risen*c.weight <= settled {
			return true
		}
		return step <= top && risen <= hopeless*math.Abs(least) || step <= top+beyond && best == step-decade
	}
	for step := 0; onward(step); step += stride {
		if err := common(step, false); err != nil {
			return err
		}
	}
	for step := -stride; best == step+stride && step >= leastStep; step -= stride {
		if err := common(step, true); err != nil {
			return err
		}
	}
	if c.fine {
		return nil
	}
	for _, step := range []int{best - 1, best + 1} {
		if err := common(step, true); err != nil {
			return err
		}
	}
	if len(c.learned) == 1 {
		return nil
	}
	copy(steps, c.state.Tried[c.best].Steps)
	for k := range steps {
		for _, stride := range []int{decade, -decade, 1, -1} {
			for at := steps[k]; at+stride >= leastStep && at+stride <= c.tops[k]+beyond+1; at += stride {
				steps[k] = at + stride
				better, err := c.try(ctx, steps, true)
				if err != nil {
					return err
				}
				if !better {
					steps[k] = at
					break
				}
			}
		}
	}
	return nil
}

// try says whether a choice has less loss than any before it. It goes on from the folds' variables at the best one, or
// at the last.
func (c *choice) try(ctx context.Context, steps []int, near bool) (better bool, err error) {
	if c.replayed == len(c.state.Tried) {
		if err := c.look(ctx, steps, near); err != nil {
			return false, err
		}
	}
	tried := c.state.Tried
	c.replayed++
	if better = c.best < 0 || tried[c.replayed-1].Loss < tried[c.best].Loss; better {
		c.best = c.replayed - 1
	}
	return better, nil
}

// measure fits every fold under a choice and adds its loss to the state.
func (c *choice) measure(ctx context.Context, steps []int, near bool) error {
	s, now, size, folds := c.state, tried{Steps: slices.Clone(steps)}, c.climb.Size(), len(c.folds)
	for k, variance := range c.priors(steps) {
		c.take(k, variance)
	}
	var all []float64
	before, from := steps, len(s.Tried)-1
	if near {
		from = c.best
	}
	if from < 0 {
		x, err := c.climb.Initial(ctx)
		if err != nil {
			return err
		}
		all = slices.Repeat(x, folds)
	} else {
		before, all = s.Tried[from].Steps, slices.Clone(s.of(from, folds*size))
	}
	sums, weight := make([]float64, len(spreads)), 0.0
	for k, part := range c.folds {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := &mixture.State{X: all[k*size:][:size]}
		c.widen(c.climb.Bound, at.X, c.priors(before), c.priors(steps))
		err := c.climb.Approach(ctx, c.All().Weighing(part.fitted), at)
		now.Fits++
		if beyond := mixture.Beyond(0); errors.As(err, &beyond) {
			weight = 0
			break
		}
		if err != nil {
			return err
		}
		of, err := c.addDensity(ctx, sums, at.X, part.out)
		if err != nil {
			return err
		}
		weight += of
	}
	if now.Loss = math.MaxFloat64; weight > 0 {
		for l, sum := range sums {
			if !problem.Finite(sum) {
				sums[l] = -math.MaxFloat64
			}
		}
		now.Sums, now.Loss = sums, -slices.Max(sums)/weight
	}
	s.Tried, s.at = append(s.Tried, now), append(s.at, all...)
	if c.config.Progress != nil {
		c.config.Progress(credence.Progress{Stage: "rows left out", Done: len(s.Tried), Objective: -now.Loss})
	}
	return c.save()
}

// priors are the prior variances of all groups under a choice.
func (c *choice) priors(steps []int) []float64 {
	list := slices.Clone(c.start.Prior)
	for i, k := range c.learned {
		list[k] = c.squares[i] * math.Pow(10, float64(steps[i])/decade)
	}
	return list
}
