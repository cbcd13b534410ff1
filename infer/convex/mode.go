package convex

import (
	"context"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

const (
	// relaxed is by how much steps go beyond their end (Eckstein & Bertsekas 1992).
	relaxed = 1.6
	// solvedProducts is the number of products that a system takes in every step: its solution is near that of the
	// step before.
	solvedProducts = 3
	// balancedSteps are those after which penalties stay, and balance the ratio of the residuals at which they move.
	balancedSteps = 100
	balance       = 5.0
	modeSteps     = 2000
	modeTolerance = 1e-4
)

// mode minimises −log density, ‖y − Xu‖²/2σ² − Σ log t(s), s = Bu, by the alternating direction method of multipliers
// (Boyd et al. 2011, section 3): u by a linear system of one precision for every kind of site, and every s by itself,
// so that corners, at which a quadratic in u bends without bounds, cost nothing.
//
//	(XᵀX + BᵀRB) u = Xᵀy + BᵀR(s − d),   s = argmin −log t(s) + r(s − v)²/2σ²,   v = Bu + d,   d = v − s
//
// It ends where Bu − s and the last step of s together are below tolerance times s, in the norm of R.
func (l *loop) mode(ctx context.Context, f *free, steps int, tolerance float64, each func(step int) error) (done int, converged bool, err error) {
	n, q := f.size(), l.count
	measured, right, scaled := make([]float64, n), make([]float64, n), make([]float64, q)
	if f.x != nil {
		f.x.MulVecTrans(measured, f.y)
	}
	fitted, dual, at := make([]float64, q), make([]float64, q), 0
	for _, g := range l.groups {
		_, slope, _ := g.Potential.At(firstOf(g.Potential))
		for range g.Count {
			l.precision[at] = -2 * slope
			at++
		}
	}
	if err := f.factor(ctx, l.precision); err != nil {
		return 0, false, err
	}
	l.sites(l.s, l.u)
	for done = 1; done <= steps; done++ {
		if err := ctx.Err(); err != nil {
			return done, false, err
		}
		for i, r := range l.precision {
			scaled[i] = r * (l.s[i] - dual[i])
		}
		f.b.MulVecTrans(right, scaled)
		kernel.Axpy(1, measured, right)
		report, err := linop.Conjugate(ctx, f.a, f.inverse, linop.Column(l.u), linop.Column(right), 0, solvedProducts)
		if err != nil {
			return done, false, err
		}
		f.count(report, 1)
		l.sites(fitted, l.u)
		apart, moved, size := l.split(fitted, dual)
		if apart+moved <= tolerance*tolerance*size {
			return done, true, each(done)
		}
		if ratio := apart / moved; done%10 == 0 && done <= balancedSteps && (ratio > balance*balance || ratio*balance*balance < 1) {
			factor := math.Min(math.Max(math.Sqrt(ratio), 0.1), 10)
			kernel.Scale(factor, l.precision)
			kernel.Scale(1/factor, dual)
			if err := f.factor(ctx, l.precision); err != nil {
				return done, false, err
			}
		}
		if err := each(done); err != nil {
			return done, false, err
		}
	}
	return steps, false, nil
}

// split takes s and d for Bu, and returns the squares of Bu − s, of the step of s, and of s.
func (l *loop) split(fitted, dual []float64) (apart, moved, size float64) {
	before := 0
	for _, g := range l.groups {
		for k := range g.Count {
			i := before + k
			r, last := l.precision[i], l.s[i]
			v := relaxed*fitted[i] + (1-relaxed)*last + dual[i]
			l.s[i] = nearest(g.Potential, v, at(g.Shift, k, 0), at(g.Copies, k, 1)/r, l.noise)
			dual[i] = v - l.s[i]
			apart += r * (fitted[i] - l.s[i]) * (fitted[i] - l.s[i])
			moved += r * (l.s[i] - last) * (l.s[i] - last)
			size += r * l.s[i] * l.s[i]
		}
		before += g.Count
	}
	return apart, moved, size
}

// nearest is the s between 0 and v + wβ at which −w σ² log t(s) + (s − v)²/2 stands still, for a weight w: where the
// site is log-concave, its minimum.
func nearest(p Potential, v, shift, weight, noise float64) float64 {
	v += weight * shift
	size := math.Abs(v)
	if laplace, ok := p.(Laplace); ok {
		return math.Copysign(math.Max(0, size-weight*laplace.Rate*math.Sqrt(noise)), v)
	}
	excess := func(s float64) float64 { // rises with s
		_, slope, _ := p.At(s * s / noise)
		return s - size - 2*weight*slope*s
	}
	low, high := size*1e-9, size
	if !(size > 0) || excess(low) >= 0 {
		return 0
	}
	for high-low > 1e-9*size {
		middle := (low + high) / 2
		if excess(middle) > 0 {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Copysign(high, v)
}
