package exact

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/param"
)

// point is a set of values, which may belong to other rows with another unit.
type point struct {
	values
	hyper []float64 // of the features, held ones included; nil if they have none
	unit  float64   // scale of the rows' units
}

// in returns the values in another unit, where so many prior variances stand before odds, which have none.
func (p *point) in(unit float64, variances int) point {
	ratio := p.unit / unit
	q := point{hyper: append([]float64(nil), p.hyper...), unit: unit}
	q.noise, q.common = p.noise*ratio*ratio, p.common*ratio*ratio
	for k, v := range p.prior {
		if k < variances {
			v *= ratio * ratio
		}
		q.prior = append(q.prior, v)
	}
	return q
}

// outcome is where a climb ended.
type outcome struct {
	point
	features   credence.Features // at the point's hyper-parameters
	evidence   float64
	penalised  float64
	iterations int
	pairs      []lbfgs.Pair // what the climb learned of the curvature, on rows of this weight
	weight     float64
	status     credence.Status
	atFloor    bool
	atCeiling  []int // groups whose prior variance is at its upper bound
	jitter     float64
	settled    *settled
	members    []credence.Member
	// beside are further members at other lengthscales, with the logarithms of their shares in units
	// of this one's.
	beside   []*outcome
	logShare float64
}

// ascent says what to climb.
type ascent struct {
	stage         string
	features      credence.Features
	noiseFactor   float64   // of the default start; 0 means 1
	hyper         []float64 // of the default start
	before        *outcome  // goes on where this climb ended; nil means the default start
	tune          bool      // learn the features' hyper-parameters
	again         bool      // the second start of blocks, under priors
	loaded        bool      // the form has loaded the features
	beyond        bool      // look beyond the maximum; see jump
	maxIterations int
	tolerance     float64 // nats per row
	draw          int     // of the features
	last          bool    // the fit ends where the climb does
}

// report tells the caller how far a climb is.
func (e *Engine) report(p credence.Progress) {
	if e.config.Progress != nil {
		e.config.Progress(p)
	}
}

// climbMemory is the number of corrections of the curvature that a climb remembers: more than it
// mostly has iterations, because evidence is dear and its ridges are long.
const climbMemory = 60

// climb maximises the penalised evidence of the form's rows.
func (e *Engine) climb(ctx context.Context, f form, t ascent) (*outcome, error) {
	o, err := e.objective(ctx, f, t)
	if err != nil {
		return nil, err
	}
	cfg := lbfgs.Config{
		Memory: climbMemory, MaxIterations: t.maxIterations, MaxStep: maxLogStep,
		Tolerance: t.tolerance * math.Max(1, f.base().summary.weight),
		Each: func(iteration int, value float64) {
			e.report(credence.Progress{Stage: t.stage, Done: iteration, Total: t.maxIterations, Objective: -value})
		},
	}
	done := 0
	if t.before != nil {
		done = t.before.iterations
		if t.tune {
			cfg.Known = t.before.curvature(f.base().summary.weight)
			cfg.Memory += len(cfg.Known)
		}
	}
	x := o.coordinates()
	for i, v := range o.variables {
		cfg.Lower = append(cfg.Lower, math.Min(v.lower, x[i]))
		cfg.Upper = append(cfg.Upper, math.Max(v.upper, x[i]))
		cfg.Curvature = append(cfg.Curvature, v.curvature)
	}
	found, err := lbfgs.Minimise(x, o.at, cfg)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(o.last, x) { // the last trial was not the best
		if _, err := o.at(x, make([]float64, len(x))); err != nil {
			return nil, err
		}
	}
	if err := f.base().failed; err != nil {
		return nil, err
	}
	if math.IsNaN(o.evidence) || math.IsInf(o.evidence, 0) {
		return nil, fmt.Errorf("exact: the evidence is %v at noise variance %v: scale the features or raise the noise variance", o.evidence, o.current.noise)
	}
	result := &outcome{
		point: o.current, features: o.features, evidence: o.evidence, penalised: o.penalised,
		iterations: done + found.Iterations, pairs: found.Pairs, weight: f.base().summary.weight,
		status: credence.Closed, jitter: f.base().jitter,
		atFloor: e.likelihood.NoiseVariance.State != param.Held && o.current.noise <= o.floor*(1+1e-9),
	}
	for i, v := range o.variables {
		if v.group >= 0 && x[i] >= v.upper-1e-9 {
			result.atCeiling = append(result.atCeiling, v.group)
		}
	}
	if len(o.variables) > 0 {
		result.status = credence.IterationLimit
		if found.Converged {
			result.status = credence.Converged
		}
	}
	return result, nil
}

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
func (e *Engine) jump(ctx context.Context, f form, t ascent, best *outcome) (*outcome, error) {
	t.stage += ", shorter lengthscales"
	for range jumpRounds {
		gain, hyper := float64(jumpWorth), []float64(nil)
		for h, info := range t.features.(credence.Tunable).Hyper() {
			shorter := best.hyper[h] / jumpFactor
			if info.Held || info.Starts != nil || shorter < info.Lower {
				continue
			}
			trial := slices.Clone(best.hyper)
			trial[h] = shorter
			evidence, err := e.evidenceAt(ctx, f, t.features.(credence.Tunable).WithHyper(trial), best, nil)
			if err != nil {
				return nil, err
			}
			before, _ := problem.LogHyperPrior(info, math.Log(best.hyper[h]))
			after, _ := problem.LogHyperPrior(info, math.Log(shorter))
			evidence += after - before
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

// evidenceAt is the evidence of the form's rows with some features and all else as a climb left it, whose slopes are
// stored unless slope is nil.
func (e *Engine) evidenceAt(ctx context.Context, f form, features credence.Features, at *outcome, slope *slopes) (float64, error) {
	if err := f.load(ctx, features); err != nil {
		return 0, err
	}
	point := at.in(f.base().summary.units.Scale, len(e.groups))
	return f.evaluate(ctx, &point.values, slope)
}

// climbBeyond is climb, and then jump if the ascent is to look beyond; the form is left where they end. The last climb
// of a fit is settled there, and at draws of the lengthscales.
func (e *Engine) climbBeyond(ctx context.Context, f form, t ascent) (*outcome, error) {
	end, err := e.climb(ctx, f, t)
	if err == nil && t.beyond {
		if end, err = e.jump(ctx, f, t, end); err == nil {
			_, err = e.evidenceAt(ctx, f, end.features, end, &slopes{prior: make([]float64, len(end.prior)), hyper: make([]float64, len(end.hyper))})
		}
	}
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
	return end, e.addLengthscaleDraws(ctx, f, t, end, l)
}
