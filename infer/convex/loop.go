package convex

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
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
	// direct says whether to factor costs much and to solve little.
	direct() bool
}

// loop is the double loop.
type loop struct {
	system
	ws     *credence.Workspace
	groups []Group
	count  int // q
	noise  float64

	u, s, z    []float64
	precision  []float64 // 1/γ of a copy times the copies
	slope      []float64
	curvature  []float64
	parts      []float64 // sums over runs of sites
	objective  float64   // of the inner loop
	phi        float64   // NaN where it is not known
	newton     int       // steps taken
	lastChange float64   // relative, of φ
	loose      float64   // decrement in nats at which the inner loop ends where systems are not factored
	rough      bool      // z is a constant still
	factored   bool      // A is factored, at some place
}

func newLoop(ws *credence.Workspace, s system, groups []Group, count int, noise float64) *loop {
	l := &loop{system: s, ws: ws, groups: groups, count: count, noise: noise, phi: math.NaN(), loose: looseTolerance, rough: true}
	l.u, l.s, l.z = make([]float64, s.size()), make([]float64, count), make([]float64, count)
	l.precision, l.slope, l.curvature = make([]float64, count), make([]float64, count), make([]float64, count)
	i := 0
	for _, g := range groups {
		first := firstOf(g.Potential)
		for range g.Count {
			l.z[i] = first
			i++
		}
	}
	return l
}

// firstVariance is z before anything is known, but for Laplace sites: half their own variance over σ², since
// near 0 the first steps are those towards a mode with corners.
const firstVariance = 0.05

func firstOf(p Potential) float64 {
	if p, ok := p.(Laplace); ok {
		return 1 / (p.Rate * p.Rate)
	}
	return firstVariance
}

// each goes through all sites at s, and adds up what is returned of them.
func (l *loop) each(do func(i int, copies float64, at site) float64) float64 {
	sum, before := 0.0, 0
	for _, g := range l.groups {
		l.parts = append(l.parts[:0], make([]float64, (g.Count+runOfSites-1)/runOfSites)...)
		l.ws.Pool().Run(len(l.parts), func(run, _ int) {
			part := 0.0
			for k := run * runOfSites; k < min(g.Count, (run+1)*runOfSites); k++ {
				i := before + k
				part += do(i, at(g.Copies, k, 1), siteAt(g.Potential, l.s[i], at(g.Shift, k, 0), l.z[i], l.noise))
			}
			l.parts[run] = part
		})
		sum += kernel.Sum(l.parts)
		before += g.Count
	}
	return sum
}

// runOfSites is the number of sites that a worker takes at a time.
const runOfSites = 1024

// evaluate takes s and the objective of the inner loop at u, and the slopes and curvatures of the sites.
func (l *loop) evaluate(u []float64) float64 {
	l.sites(l.s, u)
	residual := l.residual(u)
	return residual/2 + l.each(func(i int, copies float64, at site) float64 {
		l.slope[i], l.curvature[i], l.precision[i] = copies*at.slope, copies*at.curvature*l.noise, copies*at.precision
		return copies * at.value
	})
}

// The inner loop ends at a Newton decrement below innerTolerance nats, or after innerSteps steps; where systems are
// not factored below looseTolerance, since z has an error; in the first of several outer loops below
// firstTolerance, since z, a constant there, moves the minimum by more.
const (
	innerTolerance = 1e-10
	looseTolerance = 1e-4
	firstTolerance = 0.1
	innerSteps     = 50
)

// staleShare is the share of the decrement before to which a step has to bring it for the factor of an
// earlier place to be good enough (Shamanskii 1967).
const staleShare = 0.02

// inner minimises over u by Newton steps, halved until the objective falls by a tenth of what the
// slope says (Armijo).
func (l *loop) inner(ctx context.Context, tolerance float64) error {
	n := l.size()
	gradient, step, trial := make([]float64, n), make([]float64, n), make([]float64, n)
	l.objective = l.evaluate(l.u)
	last := 0.0
	for range innerSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		clear(gradient)
		l.gradient(gradient, l.slope)
		decrement, err := math.Inf(1), error(nil)
		if l.factored {
			decrement, err = l.descent(ctx, step, gradient)
		}
		if err == nil && decrement > 2*tolerance && !(decrement < staleShare*last) {
			if err = l.factor(ctx, l.curvature); err == nil {
				decrement, err = l.descent(ctx, step, gradient)
			}
			l.factored = l.direct()
		}
		if err != nil {
			return err
		}
		if !(decrement > 2*tolerance) {
			return nil
		}
		last = decrement
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

// descent stores the step that the factor gives, and returns its decrement.
func (l *loop) descent(ctx context.Context, step, gradient []float64) (decrement float64, err error) {
	err = l.solve(ctx, step, gradient)
	kernel.Scale(-l.noise, step)
	return -kernel.Dot(step, gradient), err
}

// outer takes z anew at u, where the sites were evaluated last, and φ where log|A| is known.
func (l *loop) outer(ctx context.Context) error {
	precision := append([]float64(nil), l.precision...)
	if err := l.factor(ctx, precision); err != nil {
		return err
	}
	before := l.phi
	l.phi = math.NaN()
	if logDet, ok := l.logDet(); ok {
		// ‖y−Xu‖²/σ² + Σ σ⁻²[s²/γ − 2βs] + h(γ), with h = −(z+x)/γ − 2g and h* = −g(z+x) − βs/σ².
		l.phi = logDet + 2*l.objective - kernel.Dot(l.z, l.precision)
	}
	l.lastChange = math.Abs(before-l.phi) / (1 + math.Abs(l.phi))
	l.factored, l.rough = l.direct(), false
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

// step is one outer loop; last says that no other is sure to follow.
func (l *loop) step(ctx context.Context, last bool) error {
	tolerance := innerTolerance
	switch {
	case l.rough && !last:
		tolerance = firstTolerance
	case !l.direct():
		tolerance = l.loose
	}
	if err := l.inner(ctx, tolerance); err != nil {
		return err
	}
	return l.outer(ctx)
}

// run goes through the double loop; it ends where φ changes by less than the tolerance.
func (l *loop) run(ctx context.Context, steps int, tolerance float64, each func(step int) error) (done int, converged bool, err error) {
	for done = 1; done <= steps; done++ {
		if err := l.step(ctx, done == steps); err != nil {
			return done, false, err
		}
		if err := each(done); err != nil {
			return done, false, err
		}
		if l.lastChange < tolerance {
			return done, true, nil
		}
	}
	return steps, false, nil
}
