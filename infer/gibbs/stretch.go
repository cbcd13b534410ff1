package gibbs

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// stretch multiplies the normal variables z behind probit rows by one g, which keeps their signs: by the law that they have with the
// weights integrated out,
//
//	p(log g) ∝ gⁿ exp(−½ (g z − o)ᵀ(I + XVXᵀ)⁻¹(g z − o))
//
// with o the offsets and the prior mean of f (parameter expansion, Liu & Wu 1999). Where classes are parted by the weights, z given the weights and the
// weights given z hold each other, and their common size would go one step of the noise at a time. quadratic returns
// vᵀ(I + XVXᵀ)⁻¹v, and may change v. Rows that count several times are left as they are.
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
