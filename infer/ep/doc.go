// Package ep selects features by expectation propagation under a spike-and-slab prior whose spike is
// the point 0:
//
//	w_j ~ π N(0, r₁) + (1−π) δ₀      f = b + Xw      y ~ N(f, σ²) or Bernoulli(link⁻¹(f))
//
// π, r₁ and σ² are learned. The posterior is approximated by q = N(μ, Σ), in which a site
// exp(h_j w − ½λ_j w²) stands for the prior of every weight, and exp(g_i f − ½β_i f²) for a row of
// classes; normal rows are what they are:
//
//	Σ = (XᵀBX + diag λ)⁻¹      μ = Σ (Xᵀg + h)
//
// A site is chosen so that its cavity times the site has the moments of its cavity times the true
// factor (Minka 2001; Hernández-Lobato, Hernández-Lobato & Suárez 2015). All sites move at once, by a
// part of the way that shrinks where changes grow. The learned values move by expectation maximisation
// from a high noise on, which anneals: the maximum that a start with little noise finds is often a bad
// one. Where what is learned runs away from the sites of very many columns, all begins again and learning waits for
// them.
//
// Where rows are fewer than columns the n×n form is used, K = B⁻¹ + X diag(1/λ) Xᵀ: a sweep takes
// n²d operations, and no d×d matrix is formed. Above 3,000 rows and columns, 1,600 for classes of sparse columns,
// the covariances are not kept: means are exact for the sites, by conjugate gradients, and variances those of belief
// propagation, in O(nnz) a pass. Sites that do not settle are said.
package ep
