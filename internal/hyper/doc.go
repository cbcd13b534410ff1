// Package hyper integrates over the hyper-parameters of a model: what was learned from the data is
// uncertain too.
//
// A hyper-parameter is a coordinate of θ, a vector of p unconstrained numbers: the logarithm of the
// prior standard deviation of a block of weights, of the noise's standard deviation, of a size or a
// shape. Each has a [Prior]. An engine knows, at any θ, the log evidence of its model (or a bound on
// it), to which it adds the log priors, and mean and covariance of the weights given θ.
//
// # Axis sums
//
// Let θ̂ be the mode of the log posterior g(θ), H = −∇²g there, and d_1 … d_p the columns of the
// symmetric root H^(−½). The columns are a smooth function of H; eigenvectors are not, they turn
// freely where eigenvalues are near each other. Under N(θ̂, H⁻¹) the coordinates along the columns are
// independent, and what an expectation gains over its value at θ̂ is, but for terms of higher order,
// the sum over axes of what each gains alone:
//
//	E X ≈ X̂ + Σ_k (E_k X − X̂)
//
// with E_k the expectation along the line θ̂ + z d_k, by Gauss–Hermite quadrature with the weights
// ω_i exp(g(θ_i) − ĝ + z_i²/2). Mean, covariance, fourth cumulant and logarithm of the evidence add
// up in this way: 4p + 1 evaluations with five nodes on an axis. The posterior that results is one
// mean, one covariance and the degrees of freedom of one Student-t; no mixture has to be stored.
//
// The same idea with a single set of points on all axes is the central composite design of Rue,
// Martino & Chopin (2009); axis sums are exact for moments up to the nodes' degree. What depends on several θ at once
// is not seen by sums over axes: [Rules.Grid] takes three nodes for each of two or three θ together, with ω = Π ω_i and
// |z|² in the place of z_i².
//
// # Search
//
// A [Model] evaluates sets of θ. [Rules] say how it is searched: [Rules.Mode] climbs to θ̂ by Newton's method, with a
// curvature in closed form or by differences of gradients, and [Rules.Integrate] adds up the axes there. Where a node
// is more likely than the mode, the search goes on from the node. Every evaluation starts from the mode so far, which
// the search owns with its State, and is asked for with the others of its set, so that a model may read its rows once
// for all of them; the answer does not depend on their order. θ is in the units that the engine computes in, and the
// engine takes it back.
//
// # Three treatments
//
// param.Integrate is the sum; param.Mode stops at θ̂, under the same priors; param.MaximumLikelihood has no priors
// (type-II maximum likelihood). param.Heldout is no search of this package: svi takes the prior variances by rows that
// are left out.
package hyper
