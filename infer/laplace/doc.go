// Package laplace selects features by Laplace's approximation under a spike-and-slab prior whose spike
// is a narrow normal distribution (FLAS and FLAS*):
//
//	w_j ~ π N(0, r₁) + (1−π) N(0, r₀)      f = b + Xw      y ~ N(f, σ²) or Bernoulli(link⁻¹(f))
//
// FLAS seeks the mode of the weights with spike or slab summed over, by L-BFGS; FLAS* the mode of
// weights and of spike or slab together, by GIST (Gong et al. 2013), whose proximal step has a closed
// form. The objective has many minima, and where a search starts matters more than anything: it starts
// from several points of the paths of the capped lasso and of the lasso, and keeps the mode of least
// objective; where something is learned, it is from each start anew, and the answer of largest
// evidence is kept, which is estimated where variances are.
//
// q(w_j) = N(m_j, (H⁻¹)_jj) at the mode, H = XᵀWX + diag v with v the curvature of −log p(w_j); v may
// be negative, H is positive definite at a strict minimum. The inclusion is E ρ(w_j) under q, ρ the
// probability of the slab given w.
//
// π, r₁ and σ² move by expectation maximisation under their hyper-priors. r₀ is a thousandth of r₁
// where it is not stated. A Beta prior is that of each feature's own probability, of which only the
// mean counts.
//
// An evaluation of the objective takes two products with the columns; exact variances n²d operations.
//
// The ordinary Laplace approximation, with a normal prior, is svi.Config{Approximation: svi.Laplace}.
package laplace
