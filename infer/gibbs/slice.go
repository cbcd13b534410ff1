package gibbs

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// mostSteps bounds how often an interval is widened, in widths.
const mostSteps = 40

// slice draws the next x of a chain whose law has the log density given, up to a constant (Neal 2003,
// stepping out and shrinking in). A density that is no number counts as none.
func slice(rng *rand.Rand, x, width float64, logDensity func(x float64) float64) float64 {
	level := logDensity(x) - rng.ExpFloat64()
	low := x - width*rng.Float64()
	high := low + width
	left := rng.IntN(mostSteps)
	right := mostSteps - 1 - left
	for ; left > 0 && logDensity(low) > level; left-- {
		low -= width
	}
	for ; right > 0 && logDensity(high) > level; right-- {
		high += width
	}
	for {
		next := low + (high-low)*rng.Float64()
		if logDensity(next) >= level || math.Abs(next-x) < 1e-12*(1+math.Abs(x)) {
			return next
		}
		if next < x {
			low = next
		} else {
			high = next
		}
	}
}

// stretch multiplies the normal variables z behind probit rows by one g, which keeps their signs: by the law that they
// have with the weights integrated out,
//
//	p(log g) ∝ gⁿ exp(−½ (g z − o)ᵀ(I + XVXᵀ)⁻¹(g z − o))
//
// with o the offsets and the prior mean of f (parameter expansion, Liu & Wu 1999). Where classes are parted by the
// weights, z given the weights and the weights given z hold each other, and their common size would go one step of the
// noise at a time. quadratic returns vᵀ(I + XVXᵀ)⁻¹v, and may change v. Rows that count several times are left as they
// are.
func (s *shrinkage) stretch(quadratic func(v []float64) float64) {
	if !s.Classes || s.Link != likelihood.Probit {
		return
	}
	n, count := s.Rows, 0.0
	z, o, scratch := make([]float64, n), make([]float64, n), make([]float64, n)
	s.Mul(s.ws, o, s.KeptMean)
	for i, unit := range s.Unit() {
		if unit != 0 && unit != 1 {
			return
		}
		count += unit
		z[i] = s.y[i] + unit*s.OffsetOf(i)
		o[i] += unit * s.OffsetOf(i)
	}
	of := func(g, h float64) float64 { // of g z − h o
		for i := range scratch {
			scratch[i] = g*z[i] - h*o[i]
		}
		return quadratic(scratch)
	}
	square, rest := of(1, 0), of(0, 1)
	cross := (square + rest - of(1, 1)) / 2
	u := slice(s.rng, 0, 1, func(u float64) float64 {
		g := math.Exp(u)
		return count*u - g*g*square/2 + g*cross
	})
	kernel.Scale(math.Exp(u), z)
	for i, unit := range s.Unit() {
		s.y[i] = z[i] - unit*s.OffsetOf(i)
	}
}
