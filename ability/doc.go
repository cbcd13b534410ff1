// Package ability holds what engines, features, priors and online learners may be able to do beside what the root asks
// of them, and what their writers share: an engine looks for an ability by a type assertion, or [credence.Require]s
// it and refuses a model without it before any data are read.
//
// Of features: [Redrawable] (random features), [credence.Proportioned] (Hilbert-space processes), [Keyed] and
// [Covaried] (weights by the levels of groups), [Rescaled] (weights in the units of the data's columns); [Candidates]
// are what a prior that selects chooses among. Of priors: [UnseenLevels]. Of online learners: [Pruner], [Continuer],
// [Uniter]. Of data: [Filed], the order of whose sums [FileBlocks] gives. credence.Tunable, Grouped, Named, Joint and
// Selector, which the root knows, stand there.
package ability
