package exact

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
)

// A jump divides one hyper-parameter by jumpFactor. It is tried from at most jumpRounds maxima, one after
// the other, and taken where the evidence gains more than jumpWorth nats at once.
const (
	jumpFactor = 4
	jumpRounds = 6
	jumpWorth  = 1
)

// jump looks beyond the maximum where a climb ended: the slope at a lengthscale knows nothing of
// structure much finer than that, such as values that repeat and carry an effect of their own. It
// evaluates every lengthscale a quarter as long, all else as it is, climbs on from the best one,
// and so on until none is better. It costs an evaluation without slopes for each hyper-parameter.
// The form is left at none of these.
func (e *Engine) jump(ctx context.Context, f form, t task, best *outcome) (*outcome, error) {
	t.stage += ", shorter lengthscales"
	for range jumpRounds {
		gain, hyper := float64(jumpWorth), []float64(nil)
		for h, info := range t.features.(credence.Tunable).Hyper() {
			shorter := best.hyper[h] / jumpFactor
			if info.Held || shorter < info.Lower {
				continue
			}
			trial := slices.Clone(best.hyper)
			trial[h] = shorter
			evidence, err := e.evidenceAt(ctx, f, t.features, trial, best)
			if err != nil {
				return nil, err
			}
			if info.PriorSD > 0 {
				before, after := (math.Log(best.hyper[h])-info.PriorMean)/info.PriorSD, (math.Log(shorter)-info.PriorMean)/info.PriorSD
				evidence += (before*before - after*after) / 2
			}
			if evidence-best.evidence > gain { // false for NaN
				gain, hyper = evidence-best.evidence, trial
			}
		}
		if hyper == nil {
			break
		}
		from := *best
		from.hyper, from.pairs = hyper, nil // the curvature there is another
		t.before = &from
		end, err := e.climb(ctx, f, t)
		if err != nil {
			return nil, err
		}
		if !(end.penalised > best.penalised+jumpWorth) {
			break
		}
		best = end
	}
	return best, nil
}

// evidenceAt is the evidence of the form's rows with the features at hyper and all else as a climb
// left it.
func (e *Engine) evidenceAt(ctx context.Context, f form, features credence.Features, hyper []float64, at *outcome) (float64, error) {
	if err := f.load(ctx, features.(credence.Tunable).WithHyper(hyper)); err != nil {
		return 0, err
	}
	point := at.in(f.base().summary.units.Scale)
	return f.evaluate(ctx, &point.values, nil)
}

// climbBeyond is climb, and then jump if the task is to look beyond; the form is left where they end.
func (e *Engine) climbBeyond(ctx context.Context, f form, t task) (*outcome, error) {
	end, err := e.climb(ctx, f, t)
	if err != nil || !t.beyond {
		return e.settleLast(ctx, f, t, end, err)
	}
	if end, err = e.jump(ctx, f, t, end); err != nil {
		return nil, err
	}
	if err := f.load(ctx, end.features); err != nil {
		return nil, err
	}
	point := end.in(f.base().summary.units.Scale)
	_, err = f.evaluate(ctx, &point.values, &slopes{prior: make([]float64, len(point.prior)), hyper: make([]float64, len(point.hyper))})
	return e.settleLast(ctx, f, t, end, err)
}

// settleLast settles where the last climb of a fit ended, and at draws of the lengthscales.
func (e *Engine) settleLast(ctx context.Context, f form, t task, end *outcome, err error) (*outcome, error) {
	if err != nil || !t.last {
		return end, err
	}
	l, err := e.lengthscales(ctx, f, end)
	if err != nil {
		return nil, err
	}
	f.freeze(true)
	defer f.freeze(false)
	if err := e.settle(ctx, f, t, end); err != nil {
		return nil, err
	}
	return end, e.drawLengthscales(ctx, f, t, end, l)
}
