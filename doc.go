// Package credence is the vocabulary of Bayesian linear and generalised linear models:
//
//	w ~ Prior      f = Φ(x) w      y ~ Likelihood(f)            Model × Engine → Posterior
//
// Three lines are enough to use them: package table holds rows in memory, dataset reads files, fit makes a model of
// them, score answers, learn learns rows one by one.
//
//	rows, err := table.Structs(houses)
//	model, err := fit.Table(ctx, rows, fit.Options{Formula: "Price ~ . + rbf(Lat, Lon)"})
//	price, err := score.Row(model, house)     // price.Mean, price.SD, price.Lower, price.Upper
//
// What such a program meets here is [Source] (a table: named columns of numbers and of codes of categories, see
// [Schema]), [Fitted] with its [Report], [Posterior] and [Recipe], and [Progress].
//
// The rest is for whoever writes an engine, a family, a prior or features. A [Frame] turns rows of a table into [Data],
// which engines read in blocks ([Batch]); [Features] turn the inputs of a batch into a block of the design matrix
// ([Design]); an [Engine] fits a [Model] to data; [Fitted.Distribution] is the predictive distribution of new rows.
// Interfaces have two or three methods; what more a part can do is an interface of package ability.
//
//	file → Source → Frame → Data → Features → Design → Engine → Fitted → Prediction
//	       (dataset) (frame)        (feature)          (infer/…)
//
// n counts rows, p inputs and d weights. Variances are variances, never standard deviations. Evidence, bounds and
// densities are natural logarithms in the target's own units, every constant included. The same binary, data, options
// and seed give the same bytes at any number of threads: blocks have fixed sizes, sums a fixed order, and every random
// stream is keyed by seed, purpose and block ([Rand]). Imports point one way; CONTRIBUTING.md says which.
package credence
