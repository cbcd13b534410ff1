// Package gibbs selects features by Markov chain Monte Carlo under a spike-and-slab prior whose spike
// is the point 0:
//
//	w_j ~ π N(0, r₁) + (1−π) δ₀      π ~ Beta(a, b)      f = b + Xw
//
// Weights and π are integrated out: a state is the set A of features that are in the model, with the
// noise and r₁. Let M = N + v eeᵀ + r₁ X_A X_Aᵀ be the covariance of the rows, N that of the noise and e
// that of the intercept. The chain keeps, for every column,
//
//	S_j = x_jᵀM⁻¹x_j      Q_j = x_jᵀM⁻¹y
//
// which give the probability of its inclusion given all others, at any time and for all columns. With
// k columns in, a flip changes them all in O(kd), and a new noise or slab in O(k²d).
//
// # Informed flips
//
// Column j is flipped with probability proportional to (p_j + ε)/P(z_j as it is | rest), and a state
// counts by the reciprocal of the sum of these numbers (tempered Gibbs sampling, Zanella & Roberts
// 2019, section 4.2): the chain goes where something is to be gained, and expectations are unbiased
// all the same. Inclusion probabilities are averages of p_j and not of z_j.
//
// The logarithms of noise and slab move by a random walk, from a high noise on, which anneals. Classes
// with the logit link have Pólya-Gamma variables (Polson, Scott & Windle 2013), with the probit link
// truncated normals (Albert & Chib 1993), after which their rows are normal.
//
// # Horseshoe
//
// Under the regularised horseshoe no weight is 0, and none is integrated out: weights are drawn all at once
// in the form of the smaller of rows and columns, and scales by slices; see prior.Horseshoe. A sweep takes
// n²d operations, n the smaller side.
package gibbs
