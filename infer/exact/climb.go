package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// Bounds and starts of the climb. They come from a study of evidence
// optimisation on the UCI regression sets: noise that starts below a tenth of the
// target's variance ends in bad maxima, and data without noise drive it to zero.
const (
	startNoise   = 0.1  // of the target's variance
	noiseFloor   = 1e-6 // of the target's variance
	noiseCeiling = 1e3
	priorAbove   = 12.0 // of log λ, above its reference
	priorBelow   = 24.0 // below, where a block that explains nothing goes
	maxLogStep   = 1.0  // largest change of a logarithm in one iteration
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

// variable is a coordinate of the climb: the logarithm of a value.
type variable struct {
	value        func(p *point) *float64
	slope        func(s *slopes) float64
	lower, upper float64 // of the logarithm
	curvature    float64 // guess of the second derivative of −evidence
	mean, sd     float64 // of the normal prior on the logarithm; sd 0 means none
}

// outcome is where a climb ended.
type outcome struct {
	point
	features   credence.Features // at the point's hyper-parameters
	evidence   float64
	penalised  float64
	iterations int
	status     credence.Status
	atFloor    bool
	jitter     float64
}

// task says what to climb.
type task struct {
	stage         string
	features      credence.Features
	start         *point    // nil means the default start
	noiseFactor   float64   // of the default start; 0 means 1
	hyper         []float64 // of the default start
	done          int       // iterations that led to start
	tune          bool      // learn the features' hyper-parameters
	maxIterations int
	tolerance     float64                 // nats per row
	report        func(credence.Progress) // nil means that of the engine
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
	if t.start != nil {
		hyper = t.start.hyper
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
	result.iterations = t.done + found.Iterations
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

// noiseState says whether the noise variance is learned, guessed or held.
func (e *Engine) noiseState() credence.State {
	switch {
	case e.likelihood.NoiseVariance == 0:
		return credence.Learned
	case e.likelihood.Learn:
		return credence.Guess
	}
	return credence.Held
}

// referenceVariance is the variance of the target in units, or for a constant
// target its square, so that it is positive.
func referenceVariance(f form) float64 {
	if v := f.sums().variance(); v > 0 {
		return v
	}
	if v := secondMoment(f); v > 0 {
		return v
	}
	return 1
}

// secondMoment is E y² of the uncentred target in units.
func secondMoment(f form) float64 {
	s, u := f.sums(), f.inUnits()
	mean := s.sum/s.weight + u.centre/u.scale
	return s.variance() + mean*mean
}

// references returns for every group the prior variance at which its block alone
// would explain the target's variance, given the sizes of its features: 1/d for the
// d standardised columns of a linear block and 1 for random Fourier features, in
// terms of the target's variance. It makes start and bounds follow any
// scaling of the columns.
func (e *Engine) references(f form) []float64 {
	sums, squares := f.sums(), f.squares()
	variance := referenceVariance(f)
	out := make([]float64, len(e.groups))
	for k, g := range e.groups {
		explain := variance
		if e.isIntercept[k] {
			explain = math.Max(variance, secondMoment(f))
		}
		total := 0.0
		for j := g.First; j < g.First+g.Count; j++ {
			total += squares[j]
		}
		total *= float64(e.blockOf[k].Count) / float64(max(1, g.Count))
		out[k] = explain
		if total > 0 {
			out[k] = explain / (total / sums.weight)
		}
	}
	return out
}

// variables sets the values that current starts from and returns those to be learned.
func (e *Engine) variables(f form, current *point, t task, floor float64) []variable {
	weight := f.sums().weight
	variance := referenceVariance(f)
	references := e.references(f)
	own := func(v float64) float64 { return v / current.unit / current.unit }
	var list []variable

	noise := e.noiseState()
	current.noise = startNoise * variance
	if t.noiseFactor > 0 {
		current.noise *= t.noiseFactor
	}
	if noise != credence.Learned {
		current.noise = own(e.likelihood.NoiseVariance)
	}
	current.prior = append([]float64(nil), references...)
	for k := range e.groups {
		if e.prior.Variance.State != credence.Learned && !e.isIntercept[k] {
			current.prior[k] = own(e.prior.Variance.Value)
		}
	}
	if t.start != nil {
		moved := t.start.in(current.unit)
		current.values, current.hyper = moved.values, moved.hyper
	}
	if noise != credence.Held {
		list = append(list, variable{
			value: func(p *point) *float64 { return &p.noise }, slope: func(s *slopes) float64 { return s.noise },
			lower: math.Log(floor), upper: math.Log(noiseCeiling * variance), curvature: weight / 2,
		})
	}
	for k, g := range e.groups {
		if e.prior.Variance.State == credence.Held && !e.isIntercept[k] || g.Count == 0 {
			continue
		}
		reference := math.Log(references[k])
		list = append(list, variable{
			value: func(p *point) *float64 { return &p.prior[k] }, slope: func(s *slopes) float64 { return s.prior[k] },
			lower: reference - priorBelow, upper: reference + priorAbove,
			curvature: math.Max(1, math.Min(weight, float64(g.Count))) / 2,
		})
	}
	if !t.tune {
		return list
	}
	for h, info := range t.features.(credence.Tunable).Hyper() {
		if info.Held {
			continue
		}
		v := variable{
			value: func(p *point) *float64 { return &p.hyper[h] }, slope: func(s *slopes) float64 { return s.hyper[h] },
			lower: math.Inf(-1), upper: math.Inf(1), curvature: weight / 8,
			mean: info.PriorMean, sd: info.PriorSD,
		}
		if info.Lower > 0 {
			v.lower = math.Log(info.Lower)
		}
		if info.Upper > 0 {
			v.upper = math.Log(info.Upper)
		}
		if v.sd > 0 {
			v.curvature += 1 / (v.sd * v.sd)
		}
		list = append(list, v)
	}
	return list
}
