package exact

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
)

// settled is what a fit knows of the weights where a climb ended, hyper-parameters included as the
// treatment has it.
type settled struct {
	posterior credence.Posterior
	treatment string
	// The mean of σ², and the exponentials of the means of the logarithms of the others; in units.
	at           values
	predictiveDF float64
	evidence     float64   // integrated
	sd           []float64 // of log τ of every group, 0 where it is not learned
	noiseSD      float64   // of log σ
	commonSD     float64
	scale        float64   // s, in units
	spreads      []float64 // c_b of every group
	evaluations  int       // after the climb
	warnings     []string
}

const (
	polishSteps    = 30
	polished       = 1e-8 // of the whitened gradient
	chord          = 0.2  // below which Newton's method keeps its curvature
	coarseWeights  = 300  // from so many weights on an axis has three points
	climbsAgain    = 3
	dualShare      = 4         // sums of the n×n form take at most so many times the fit's own memory,
	dualAlways     = 256 << 20 // or so many bytes
	sumsOfOneShape = 4         // sets of linear numbers that are held at once
)

// settle goes on from where a climb ended to the mode, by Newton's method, and from there integrates over noise and
// prior variances if the treatment says so. The form has the outcome's features loaded, and is left
// evaluated anywhere.
func (e *Engine) settle(ctx context.Context, f form, t task, end *outcome) error {
	s := &settled{treatment: string(e.config.Hyper), at: end.values, sd: make([]float64, len(e.groups))}
	end.settled, s.scale, s.spreads = s, math.Sqrt(e.squareScale(f)), f.base().spreads
	if end.status == credence.Closed {
		s.treatment = hyper.Held
	}
	if !e.priors() || end.status == credence.Closed {
		s.posterior, s.evidence = f.posterior(), end.evidence
		return nil
	}
	for again := 0; ; again++ {
		m, err := e.mode(ctx, f, end)
		if err != nil {
			return err
		}
		s.evaluations += m.evaluations
		s.posterior, s.at, s.evidence = f.posterior(), end.values, end.evidence
		m.store(s)
		if len(m.places) == 0 || e.config.Hyper != hyper.Integrate {
			return nil
		}
		err = m.integrate(t, s)
		var higher *hyper.HigherError
		if !errors.As(err, &higher) {
			return err
		}
		if again == climbsAgain {
			s.warnings = append(s.warnings, fmt.Sprintf("%v, %d times: hyper-parameters stand at a mode that may not be the highest; state a starting guess such as --prior 'normal(variance=~1)'", err, again+1))
			s.treatment = string(hyper.Mode)
			return nil
		}
		m.move(higher.Theta)
		from := *end
		from.point = m.o.current
		t.before, t.loaded, t.tune = &from, true, false
		better, err := e.climb(ctx, f, t)
		if err != nil {
			return err
		}
		better.settled = s
		*end = *better
	}
}

// mode is a maximum of the log posterior in noise and prior variances.
type mode struct {
	o           *objective
	places      []int     // variables that are coordinates of θ: those that are not at a bound
	x           []float64 // logarithms of all variables
	axes        *hyper.Axes
	bend        *bend
	evaluations int
}

// mode polishes where a climb ended, whose point it moves there.
func (e *Engine) mode(ctx context.Context, f form, end *outcome) (*mode, error) {
	o, err := e.objective(ctx, f, task{features: end.features, before: end, loaded: true})
	if err != nil {
		return nil, err
	}
	m := &mode{o: o, x: o.coordinates()}
	for i, v := range o.variables {
		if m.x[i] > v.lower+1e-9 && m.x[i] < v.upper-1e-9 {
			m.places = append(m.places, i)
		}
	}
	gradient, err := m.at(m.x)
	if err != nil || len(m.places) == 0 {
		return m, err
	}
	step, trial := make([]float64, len(m.places)), make([]float64, len(m.x))
	fresh := false // the curvature is that of where the form was evaluated last
	for range polishSteps {
		far := m.axes == nil || m.axes.Whitened(gradient) > chord
		if far && !fresh {
			if err := m.measure(ctx); err != nil {
				return nil, err
			}
			fresh = true
		}
		if m.axes.Whitened(gradient) < polished {
			break
		}
		m.axes.NewtonStep(step, gradient)
		best, moved := o.penalised, false
		for share := 1.0; share > 1e-3 && !moved; share /= 4 {
			copy(trial, m.x)
			for k, i := range m.places {
				trial[i] += share * math.Max(-1, math.Min(step[k], 1)) / o.variables[i].unit
			}
			next, err := m.at(trial)
			if err != nil {
				return nil, err
			}
			if moved = o.penalised >= best-1e-12*math.Abs(best); moved { // false for NaN
				copy(m.x, trial)
				gradient, fresh = next, false
			}
		}
		if !moved { // as high as rounding lets it be
			if _, err = m.at(m.x); err != nil {
				return nil, err
			}
			break
		}
	}
	if !fresh {
		if err := m.measure(ctx); err != nil {
			return nil, err
		}
	}
	end.point, end.evidence, end.penalised, end.jitter = o.current, o.evidence, o.penalised, f.base().jitter
	end.prior = append([]float64(nil), end.prior...)
	return m, nil
}

// at evaluates at the logarithms of the variables and returns the gradient of the log posterior in θ.
func (m *mode) at(x []float64) ([]float64, error) {
	m.evaluations++
	all := make([]float64, len(x))
	if _, err := m.o.at(x, all); err != nil {
		return nil, err
	}
	gradient := make([]float64, len(m.places))
	for k, i := range m.places {
		gradient[k] = -all[i] / m.o.variables[i].unit
	}
	return gradient, nil
}

// move sets the variables to a θ.
func (m *mode) move(theta []float64) {
	for k, i := range m.places {
		v := m.o.variables[i]
		*v.value(&m.o.current) = math.Exp(theta[k] / v.unit)
	}
}

// measure finds Hessian and axes where the form was evaluated last.
func (m *mode) measure(ctx context.Context) error {
	o, theta := m.o, make([]float64, len(m.places))
	var err error
	if m.bend, err = o.form.bends(ctx, &o.current.values); err != nil {
		return err
	}
	all := mat.NewSymDense(len(o.variables), nil)
	o.joint.AddTo(0, o.theta, nil, all)
	hessian := mat.NewSymDense(len(m.places), nil)
	for k, i := range m.places {
		theta[k] = o.theta[i]
		for l, j := range m.places[:k+1] {
			v := all.At(i, j)
			if a, b := o.variables[i].bent(), o.variables[j].bent(); a >= 0 && b >= 0 {
				v += m.bend.hessian.At(a, b)
			}
			hessian.SetSym(k, l, -v)
		}
	}
	m.axes, err = hyper.NewAxes(theta, o.penalised, hessian, o.form.base().d > coarseWeights)
	if err != nil {
		return fmt.Errorf("exact: %w: scale the features or state a noise variance", err)
	}
	return nil
}

// bent is the place of a variable in a bend, or -1 of the common scale.
func (v *variable) bent() int {
	if v.common {
		return -1
	}
	return v.group + 1
}

// store keeps the standard deviations of θ.
func (m *mode) store(s *settled) {
	for k, i := range m.places {
		switch v := m.o.variables[i]; {
		case v.common:
			s.commonSD = m.axes.SD(k)
		case v.group < 0:
			s.noiseSD = m.axes.SD(k)
		default:
			s.sd[v.group] = m.axes.SD(k)
		}
	}
}

// slopes returns the slopes of the moments in θ.
func (m *mode) slopes(count int) hyper.Slopes {
	out := hyper.Slopes{Mean: make([]float64, len(m.places)*count), Variance: make([]float64, len(m.places)*count)}
	for k, i := range m.places {
		if b := m.o.variables[i].bent(); b >= 0 {
			copy(out.Mean[k*count:(k+1)*count], m.bend.slopes.Mean[b*count:])
			copy(out.Variance[k*count:(k+1)*count], m.bend.slopes.Variance[b*count:])
		}
	}
	return out
}

// integrate replaces the posterior at the mode, where the form was evaluated last, by the integrated one.
func (m *mode) integrate(t task, s *settled) error {
	o, f := m.o, m.o.form
	p := m.axes.Count()
	if reason := f.tooLarge(p); reason != "" {
		s.treatment = string(hyper.Mode)
		s.warnings = append(s.warnings, "hyper-parameters stand at their mode, not integrated: "+reason)
		return nil
	}
	s.evidence = m.axes.Laplace()
	var at hyper.Point
	f.moments(&o.current.values, &at)
	at.LogDensity = o.penalised
	count := len(at.Linear)
	if m.bend.slopes.Mean != nil {
		slopes := m.slopes(len(at.Variance))
		if skip, _, _ := m.axes.Skip(at.Variance, slopes); skip {
			return nil
		}
		if p > hyper.ThreeNodeLimit {
			m.expand(&at, slopes, s)
			s.at.noise = at.Linear[count-1]
			return nil
		}
	}
	at.Linear = append(at.Linear, m.axes.Theta...)
	sums := hyper.NewSums(m.axes, at, f.spread)
	var next hyper.Point
	theta, done, total := make([]float64, p), 0, p*m.axes.Nodes()
	for !sums.Done() {
		sums.Next(theta)
		x := append([]float64(nil), m.x...)
		for k, i := range m.places {
			x[i] = theta[k] / o.variables[i].unit
		}
		if _, err := m.at(x); err != nil {
			return err
		}
		if next.LogDensity = o.penalised; f.base().failed == nil {
			f.moments(&o.current.values, &next)
			next.Linear = append(next.Linear, theta...)
		} else {
			next.LogDensity = math.NaN()
		}
		if err := sums.Add(next); err != nil {
			return err
		}
		done++
		t.tell(o.engine, credence.Progress{Stage: t.stage + ", hyper-parameters", Done: done, Total: total, Objective: sums.LogEvidence})
	}
	s.evaluations += total
	s.evidence = sums.LogEvidence
	s.finish(f, sums.Mean, sums.Linear[:count], sums.Variance, sums.Fourth)
	mean := point{values: values{noise: o.current.noise, prior: append([]float64(nil), s.at.prior...), common: s.at.common}}
	for k, i := range m.places {
		*o.variables[i].value(&mean) = math.Exp(sums.Linear[count+k] / o.variables[i].unit)
	}
	s.at, s.at.noise = mean.values, sums.Linear[count-1]
	return nil
}

// finish makes the posterior of moments, the last of which is that of y.
func (s *settled) finish(f form, mean, linear, variance, fourth []float64) {
	df, weights := 0.0, len(variance)-1
	if weights > 0 {
		df = hyper.MedianDF(variance[:weights], fourth[:weights])
	}
	var ok bool
	if s.posterior, ok = f.integrated(mean, linear, df); !ok {
		s.warnings = append(s.warnings, "the integrated covariance of the weights had negative eigenvalues, which were set to 0: there are few rows for so many weights, and standard deviations are estimates")
	}
	s.predictiveDF = hyper.DF(variance[weights], fourth[weights])
}

// expand integrates over many hyper-parameters without further evaluations: the covariance at the mode plus
// JΣJᵀ, with J the slopes of the means and Σ = H⁻¹, and fourth cumulants of 3 times the variance of a variance.
func (m *mode) expand(at *hyper.Point, slopes hyper.Slopes, s *settled) {
	p, count := m.axes.Count(), len(at.Variance)
	root := m.axes.Root()
	fourth, difference := make([]float64, count), make([]float64, count)
	for k := range p { // the slope along axis k
		clear(difference)
		along := make([]float64, count)
		for i := range p {
			by := root.At(i, k)
			for j := range count {
				difference[j] += by * slopes.Mean[i*count+j]
				along[j] += by * slopes.Variance[i*count+j]
			}
		}
		m.o.form.spread(at.Linear, 1, difference)
		for j, v := range along {
			at.Variance[j] += difference[j] * difference[j]
			fourth[j] += 3 * v * v
		}
	}
	s.finish(m.o.form, at.Mean, at.Linear, at.Variance, fourth)
}
