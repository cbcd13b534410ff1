package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// point is a set of values, which may belong to other rows with another unit.
type point struct {
	values
	hyper []float64 // of the features, held ones included; nil if they have none
	unit  float64   // scale of the rows' units
}

// in returns the values in another unit.
func (p *point) in(unit float64) point {
	ratio := p.unit / unit
	q := point{hyper: append([]float64(nil), p.hyper...), unit: unit}
	q.noise = p.noise * ratio * ratio
	for _, v := range p.prior {
		q.prior = append(q.prior, v*ratio*ratio)
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
	jitter     float64
}

// task says what to climb.
type task struct {
	stage         string
	features      credence.Features
	noiseFactor   float64   // of the default start; 0 means 1
	hyper         []float64 // of the default start
	before        *outcome  // goes on where this climb ended; nil means the default start
	tune          bool      // learn the features' hyper-parameters
	beyond        bool      // look beyond the maximum; see jump
	maxIterations int
	tolerance     float64                 // nats per row
	report        func(credence.Progress) // nil means that of the engine
}

// curvature returns what the climb learned of the curvature, for other rows: the evidence of
// as many more rows bends as many times more.
func (o *outcome) curvature(weight float64) []lbfgs.Pair {
	scaled := make([]lbfgs.Pair, len(o.pairs))
	for k, p := range o.pairs {
		change := append([]float64(nil), p.Change...)
		kernel.Scale(weight/o.weight, change)
		scaled[k] = lbfgs.Pair{Step: p.Step, Change: change}
	}
	return scaled
}

// report tells the caller how far a climb is.
func (e *Engine) report(p credence.Progress) {
	if e.config.Progress != nil {
		e.config.Progress(p)
	}
}

// climb maximises the penalised evidence of the form's rows.
func (e *Engine) climb(ctx context.Context, f form, t task) (*outcome, error) {
	features := t.features
	tunable, _ := features.(credence.Tunable)
	hyper := t.hyper
	if t.before != nil {
		hyper = t.before.hyper
	}
	if tunable != nil && hyper != nil {
		features = tunable.WithHyper(hyper)
	}
	if err := f.load(ctx, features); err != nil {
		return nil, err
	}
	current := point{hyper: append([]float64(nil), hyper...), unit: f.inUnits().scale}
	floor := noiseFloor * referenceVariance(f)
	variables := e.variables(f, &current, t, floor)
	result := &outcome{features: features, status: credence.Closed}
	s := slopes{prior: make([]float64, len(e.groups))}
	if t.tune {
		s.hyper = make([]float64, len(hyper))
	}
	loaded := append([]float64(nil), hyper...)
	set := func(x []float64) {
		for i, v := range variables {
			*v.value(&current) = math.Exp(x[i])
		}
	}
	evaluate := func() error {
		if !equal(current.hyper, loaded) {
			features = tunable.WithHyper(current.hyper)
			copy(loaded, current.hyper)
			if err := f.load(ctx, features); err != nil {
				return err
			}
		}
		var err error
		result.evidence, err = f.evaluate(ctx, &current.values, &s)
		return err
	}
	var last []float64
	objective := func(x, g []float64) (float64, error) {
		set(x)
		last = append(last[:0], x...)
		if err := evaluate(); err != nil {
			return 0, err
		}
		value := -result.evidence
		for i, v := range variables {
			g[i] = -v.slope(&s)
			if v.sd > 0 {
				gap := (x[i] - v.mean) / v.sd
				value += 0.5*gap*gap + math.Log(v.sd) + 0.5*math.Log(2*math.Pi)
				g[i] += gap / v.sd
			}
		}
		result.penalised = -value
		return value, nil
	}
	x := make([]float64, len(variables))
	cfg := lbfgs.Config{
		MaxIterations: t.maxIterations, MaxStep: maxLogStep,
		Tolerance: t.tolerance * math.Max(1, f.sums().weight),
		Each: func(iteration int, value float64) {
			report := e.report
			if t.report != nil {
				report = t.report
			}
			report(credence.Progress{Stage: t.stage, Done: iteration, Total: t.maxIterations, Objective: -value})
		},
	}
	done := 0
	if t.before != nil {
		done = t.before.iterations
		if t.tune {
			cfg.Known = t.before.curvature(f.sums().weight)
		}
	}
	for i, v := range variables {
		x[i] = math.Log(*v.value(&current))
		cfg.Lower = append(cfg.Lower, math.Min(v.lower, x[i]))
		cfg.Upper = append(cfg.Upper, math.Max(v.upper, x[i]))
		cfg.Curvature = append(cfg.Curvature, v.curvature)
	}
	found, err := lbfgs.Minimise(x, objective, cfg)
	if err != nil {
		return nil, err
	}
	if !equal(last, x) { // the last trial was not the best
		if _, err := objective(x, make([]float64, len(x))); err != nil {
			return nil, err
		}
	}
	if err := f.failure(); err != nil {
		return nil, err
	}
	if math.IsNaN(result.evidence) || math.IsInf(result.evidence, 0) {
		return nil, fmt.Errorf("exact: the evidence is %v at noise variance %v: scale the features or raise the noise variance", result.evidence, current.noise)
	}
	if len(variables) > 0 {
		result.status = credence.IterationLimit
		if found.Converged {
			result.status = credence.Converged
		}
	}
	result.iterations = done + found.Iterations
	result.pairs, result.weight = found.Pairs, f.sums().weight
	result.point, result.features, result.jitter = current, features, f.jitter()
	result.atFloor = e.noiseState() != credence.Held && current.noise <= floor*(1+1e-9)
	return result, nil
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}
