// Package credence is the vocabulary of Bayesian linear and generalised linear
// modelling at scale:
//
//	w ~ Prior      f = Φ(x) w      y ~ Likelihood(f)            Model × Engine → Posterior
//
// # Three lines
//
// Package table holds rows in memory, dataset reads files, fit makes a model of them, score answers:
//
//	rows, err := table.Structs(houses)
//	model, err := fit.Table(ctx, rows, fit.Options{Formula: "Price ~ . + rbf(Lat, Lon)"})
//	price, err := score.Row(model, house)     // price.Mean, price.SD, price.Lower, price.Upper
//
// What follows is what they are made of, for whoever writes an engine, a family or a prior.
//
// # From a file to a prediction
//
// A [Source] is a table as it stands in a file: named columns of numbers and of
// category codes, and optionally a sparse segment of numbered columns. A [Frame]
// turns table rows into model rows: it evaluates the expressions of a formula,
// fills missing values by the stated policy, centres and scales, and yields
// [Data], which engines read in blocks ([Batch]). [Features] turn the inputs of
// a batch into a block of the design matrix ([Design]). An [Engine] fits a
// [Model] to Data and returns a [Fitted]: the model at its learned
// hyper-parameters, a [Posterior] over the weights, and a [Report] of how the fit
// went. [Fitted.Distribution] answers with the predictive distribution of new rows.
//
//	file → Source → Frame → Data → Features → Design → Engine → Fitted → Prediction
//	       (dataset) (frame)        (feature)          (infer/…)
//
// # Interfaces
//
// Interfaces here have two or three methods. A further ability is a further small
// interface beside its consumer: an engine narrows the model once in its New
// with [Require] and refuses a misfit before any data are read. [Tunable] is such
// an ability of features, [Predictive] one of likelihoods.
//
// # Numbers
//
// n counts rows, p inputs and d weights. Variances are variances, never standard
// deviations. Evidence, bounds and densities are natural logarithms in the
// target's own units with every constant included.
//
// # Determinism
//
// The same binary, data, options and seed give the same bytes at any number of
// threads: blocks have fixed sizes, sums have a fixed order, and every random
// stream is a PCG keyed by seed, purpose and block ([Rand]).
//
// # Packages
//
// Imports point one way: linop, then this package, then the nouns (feature,
// likelihood, prior, posterior, frame, table), then formula, score and modelfile, then the engines under
// infer, then fit, which knows them all, then learn (rows online) and apply (files scored), then
// stream (files online) and cmd/credence.
package credence
