// Package likelihood holds the families p(y|f) that tie a latent value
// f = φᵀw to an observation y: Gaussian, Bernoulli, Binomial, Poisson,
// NegativeBinomial, Gamma, StudentT and Ordinal.
//
// # The struct is the distribution
//
// A family is a plain struct of plain data; its zero value is the default, and it
// is safe for concurrent use. A parameter field that is zero is left out: it
// is to be learned from a default start. A stated one is held, unless the
// field named Learn… beside it makes it the place where learning starts.
// String gives the text form, for example bernoulli(link=probit) or
// negbinomial(size=~1.2), which parses back to the same value.
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
// absolute error below 2e-10 per trial at any mean and variance. StudentT uses its own
// scale mixture. What remains is quadrature that doubles its nodes until it has
// settled (package internal/quad). A variance of zero stands for a known f.
//
// # Cost
//
// Scalar methods cost 5 to 100 ns and allocate nothing, closed-form
// expectations likewise; the logistic mixtures about 0.3 µs, adaptive
// quadrature 1 to 20 µs. The batch forms ([Batch]) call no interface per row.
//
// # Limits
//
// y is one number: no multinomial and no censored families. Densities are
// finite for |f| up to 700, where eᶠ itself nearly overflows.
package likelihood
