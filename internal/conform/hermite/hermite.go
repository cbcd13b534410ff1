// Package hermite has Gauss–Hermite rules, with which tests check integrals that the product takes
// by other means.
package hermite

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
)

// Rule is a quadrature rule: ∫ g ≈ Σ Weights[i] g(Nodes[i]).
type Rule struct {
	Nodes, Weights []float64 // ascending nodes
}

// New returns the Gauss–Hermite rule of n nodes for the standard normal:
//
//	E g(mean + √variance·z) ≈ Σ Weights[i] g(mean + √variance·Nodes[i]),
//
// exact for polynomials of degree up to 2n−1.
func New(n int) Rule {
	rule := Rule{Nodes: make([]float64, n), Weights: make([]float64, n)}
	quad.Hermite{}.FixedLocations(rule.Nodes, rule.Weights, math.Inf(-1), math.Inf(1))
	floats.Scale(math.Sqrt2, rule.Nodes)
	floats.Scale(1/math.Sqrt(math.Pi), rule.Weights)
	return rule
}
