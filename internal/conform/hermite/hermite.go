// Package hermite has Gauss–Hermite rules, with which tests check integrals that the product takes
// by other means.
package hermite

import "math"

// Rule is a quadrature rule: ∫ g ≈ Σ Weights[i] g(Nodes[i]).
type Rule struct {
	Nodes, Weights []float64 // ascending nodes
}

// New returns the Gauss–Hermite rule of n nodes for the standard normal:
//
//	E g(mean + √variance·z) ≈ Σ Weights[i] g(mean + √variance·Nodes[i]),
//
// exact for polynomials of degree up to 2n−1. It panics unless 1 ≤ n ≤ 256.
//
// The nodes are the eigenvalues of the symmetric tridiagonal matrix of the
// recurrence (Golub & Welsch 1969), found by bisection on its Sturm sequence.
func New(n int) Rule {
	if n < 1 || n > 256 {
		panic("hermite: Gauss–Hermite rules have 1 to 256 nodes")
	}
	rule := Rule{Nodes: make([]float64, n), Weights: make([]float64, n)}
	for i := range (n + 1) / 2 {
		x := hermiteRoot(n, i)
		w := 1 / hermiteNorm(n, x)
		if 2*i+1 == n {
			x = 0
		}
		rule.Nodes[i], rule.Weights[i] = x, w
		rule.Nodes[n-1-i], rule.Weights[n-1-i] = -x, w
	}
	return rule
}

// hermiteRoot returns the i-th smallest root of the Hermite polynomial He_n.
func hermiteRoot(n, i int) float64 {
	lo, hi := -2*math.Sqrt(float64(n)), 0.0 // the lower half of the spectrum
	for {
		mid := (lo + hi) / 2
		if mid <= lo || mid >= hi {
			return mid
		}
		// The number of negative pivots is the number of roots below mid.
		below, pivot := 0, 1.0
		for k := range n {
			pivot = -mid - float64(k)/pivot
			if pivot == 0 {
				pivot = -1e-300
			}
			if pivot < 0 {
				below++
			}
		}
		if below > i {
			hi = mid
		} else {
			lo = mid
		}
	}
}

// hermiteNorm is Σ_{k<n} h_k(x)², h_k the orthonormal Hermite polynomials.
func hermiteNorm(n int, x float64) float64 {
	previous, current, sum := 0.0, 1.0, 1.0
	for k := 1; k < n; k++ {
		previous, current = current, (x*current-math.Sqrt(float64(k-1))*previous)/math.Sqrt(float64(k))
		sum += current * current
	}
	return sum
}
