// Package score applies fitted models to rows: moments, quantiles, densities and draws in the
// target's own values, evaluation, comparison, and the table of terms.
//
//	model, err := modelfile.Load("prices.safetensors")
//	price, err := score.Row(model, house)           // price.Mean, price.SD, price.Lower, price.Upper
//
// A table is scored in runs of rows:
//
//	scorer, err := score.New(model, score.Options{})
//	table, err := scorer.Table(rows, score.IgnoreTargets)
//	err = table.Each(ctx, func(rows *score.Rows) error { mean, variance := rows.Moments(0); … })
//
// A Scorer and what Bind makes of it serve any number of goroutines, a Table or Keys one at a time.
//
// Scoring needs no engine and reads no file: the package imports neither, so that a service that only
// scores holds little else.
package score
