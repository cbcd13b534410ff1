// Package likelihood holds the families p(y|f) that tie a latent value
// f = φᵀw to an observation y: Gaussian, Bernoulli, Binomial, Poisson,
// NegativeBinomial, Gamma, StudentT and Ordinal.
//
// # The struct is the distribution
//
// A family is a plain struct of plain data; its zero value is the default, and it
// is safe for concurrent use. A parameter is a param.Parameter: left out, it
// is learned from a default start; stated, it is held; a guess is where learning starts. String
// gives the text form, for example bernoulli(link=probit) or negbinomial(size=~1.2), which
// parses back to the same value. [All] is the table of families: a program adds its own to a copy.
//
// # Abilities
//
// The three methods of [Family] are all that a model needs. Everything else is
// a small interface, [Differentiable] to [Parametric], and an engine asks for
// the ones it uses. The families of this package have all of them
// ([Parametric] where there is a parameter). A family of your own needs Family
// and Derivatives; [Quadrature] adds the expectations.
//
// # Expectations under f ~ N(mean, variance)
//
// Variational engines ask for E log p(y|f), expectation propagation for
// log E p(y|f), both with gradients; predictions for the moments, density and
// distribution function of y. Where a closed form exists it is used. The
// logistic families (Bernoulli-logit, Binomial, NegativeBinomial, Ordinal) use that
// the logistic distribution is a scale mixture of normals, which turns
// E log(1+eᶠ) and its gradients into sums over 14 normal distributions with an
// absolute error below 1e-10 at any mean and variance; where that would be multiplied
// by more than 20 trials or counts, quadrature takes over. StudentT uses its own scale
// mixture. What remains is quadrature that doubles its nodes until it has settled
// (package internal/quad): a relative error below 1e-10, checked at means up to 40
// and variances up to 25. A variance of zero stands for a known f.
//
// # Cost
//
// Scalar methods cost 5 to 100 ns and allocate nothing, closed-form
// expectations likewise; the logistic mixtures about 0.3 µs, adaptive
// quadrature 1 to 10 µs, predictive quantiles of counts 30 to 150 µs. The batch
// forms ([Batch]) call no interface per row, and take the expectations of 64 rows at a
// time through vector kernels: 0.1 µs a row for logit, 0.2 to 0.4 for counts with a size or many
// trials, 1 to 1.6 for probit, cloglog and softplus.
//
// # Limits
//
// y is one number: no multinomial and no censored families. Densities are
// finite until eᶠ times the counts, size or shape overflows, at |f| near 700.
// Probabilities above one half have an absolute, not a relative, accuracy in
// their complements.
package likelihood
