// Package active says which unlabelled rows to have labelled next.
//
// A [Scorer] scores candidates by the mean μ and the variance ρ that the posterior of a fitted model
// gives to their latent value f. A [Picker] picks several one after the other: each pick changes the
// means and variances of the others exactly as a further row of the fit would, with the bounds of the
// other rows as they are. [Simulate] tries scores on rows whose labels are known; package rank lists rows of files.
//
// The family is bernoulli with the logit link, or gaussian; any posterior will do that knows how
// latent values vary together ([credence.Joint]). Fits with several members count as the normal
// distribution of f that has the moments of their mixture.
package active
