package convex

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// system is what the double loop asks of X and B.
type system interface {
	// sites stores s = Bu.
	sites(dst, u []float64)
	// gradient adds Bᵀv + Xᵀr to dst, r = (Xu − y)/σ² of the last residual.
	gradient(dst, v []float64)
	// residual returns ‖y − Xu‖²/σ².
	residual(u []float64) float64
	// factor prepares for solving with A = XᵀX + Bᵀ diag(precision) B.
	factor(ctx context.Context, precision []float64) error
	// solve stores A⁻¹v.
	solve(ctx context.Context, dst, v []float64) error
	// variances stores z = diag(BA⁻¹Bᵀ).
	variances(ctx context.Context, z []float64) error
	// logDet returns log|A|; ok is false where it is not known.
	logDet() (value float64, ok bool)
	// size is n.
	size() int
}

// loop is the double loop.
type loop struct {
	system
	groups []Group
	count  int // q
	noise  float64

	u, s, z    []float64
	precision  []float64 // 1/γ of a copy times the copies
	slope      []float64
	curvature  []float64
	objective  float64 // of the inner loop
	phi        float64 // NaN where it is not known
	newton     int     // steps taken
	lastChange float64 // relative, of φ
}

func newLoop(s system, groups []Group, count int, noise float64) *loop {
	l := &loop{system: s, groups: groups, count: count, noise: noise, phi: math.NaN()}
	l.u, l.s, l.z = make([]float64, s.size()), make([]float64, count), make([]float64, count)
	l.precision, l.slope, l.curvature = make([]float64, count), make([]float64, count), make([]float64, count)
	for i := range l.z {
		l.z[i] = firstVariance
	}
	return l
}

// firstVariance is z before anything is known.
const firstVariance = 0.05

// each goes through all sites at s.
func (l *loop) each(do func(i int, copies float64, at site)) {
	i := 0
	for _, g := range l.groups {
		for k := range g.Count {
			shift, copies := 0.0, 1.0
			if g.Shift != nil {
				shift = g.Shift[k]
			}
			if g.Copies != nil {
				copies = g.Copies[k]
			}
			do(i, copies, siteAt(g.Potential, l.s[i], shift, l.z[i], l.noise))
			i++
		}
	}
}

// evaluate takes s and the objective of the inner loop at u, and the slopes and curvatures of the sites.
func (l *loop) evaluate(u []float64) float64 {
	l.sites(l.s, u)
	sum := l.residual(u) / 2
	l.each(func(i int, copies float64, at site) {
		sum += copies * at.value
		l.slope[i], l.curvature[i], l.precision[i] = copies*at.slope, copies*at.curvature*l.noise, copies*at.precision
	})
	return sum
}

// The inner loop ends at a Newton decrement below innerTolerance nats, or after innerSteps steps.
const (
	innerTolerance = 1e-10
	innerSteps     = 50
)

// inner minimises over u by Newton steps, halved until the objective falls by a tenth of what the
// slope says (Armijo).
func (l *loop) inner(ctx context.Context, tolerance float64) error {
	n := l.size()
	gradient, step, trial := make([]float64, n), make([]float64, n), make([]float64, n)
	l.objective = l.evaluate(l.u)
	for range innerSteps {
		clear(gradient)
		l.gradient(gradient, l.slope)
		if err := l.factor(ctx, l.curvature); err != nil {
			return err
		}
		if err := l.solve(ctx, step, gradient); err != nil {
			return err
		}
		kernel.Scale(-l.noise, step)
		decrement := -kernel.Dot(step, gradient)
		if !(decrement > 2*tolerance) {
			return nil
		}
		l.newton++
		length, before := 1.0, l.objective
		for {
			copy(trial, l.u)
			kernel.Axpy(length, step, trial)
			value := l.evaluate(trial)
			if value <= before-0.1*length*decrement || length < 1e-10 {
				copy(l.u, trial)
				l.objective = value
				break
			}
			length /= 2
		}
		if length < 1e-10 {
			return nil
		}
	}
	return nil
}

// outer takes z anew at the inner minimum, and φ where log|A| is known.
func (l *loop) outer(ctx context.Context) error {
	l.objective = l.evaluate(l.u)
	precision := append([]float64(nil), l.precision...)
	if err := l.factor(ctx, precision); err != nil {
		return err
	}
	before := l.phi
	l.phi = math.NaN()
	if logDet, ok := l.logDet(); ok {
		l.phi = logDet + l.residual(l.u)
		l.each(func(i int, copies float64, at site) {
			shift := at.value // −g(z+x) − βs/σ²
			// σ⁻²[s²/γ − 2βs] + h(γ), with h = −(z+x)/γ − 2g: 2h* − z/γ.
			l.phi += copies * (2*shift - l.z[i]*at.precision)
		})
	}
	l.lastChange = math.Abs(before-l.phi) / (1 + math.Abs(l.phi))
	if err := l.variances(ctx, l.z); err != nil {
		return err
	}
	for i, v := range l.z {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("convex: the variance of site %d is %v: scale the columns", i+1, v)
		}
	}
	return nil
}

// run goes through the double loop; it ends where φ changes by less than the tolerance.
func (l *loop) run(ctx context.Context, steps int, tolerance float64, each func(step int) error) (done int, converged bool, err error) {
	for done = 1; done <= steps; done++ {
		if err := l.inner(ctx, innerTolerance); err != nil {
			return done, false, err
		}
		if err := l.outer(ctx); err != nil {
			return done, false, err
		}
		if each != nil {
			if err := each(done); err != nil {
				return done, false, err
			}
		}
		if l.lastChange < tolerance {
			return done, true, nil
		}
	}
	return steps, false, nil
}
