// Package metric says how good predictions are.
//
// Accumulators take one row at a time and answer at any moment:
//
//	Regression      nlpd, rmse, mae, smse, msll, r2
//	Intervals       coverage, mean width and score of predictive intervals, by level; WIS
//	PIT             the probability integral transform: histogram, coverage, p-value
//	Calibration     slope of targets over predictions, reliability table
//	Classification  accuracy, log loss, Brier score, AUC, calibration error
//	Progressive     the same in bounded memory, for streams
//	Deviance        total deviance, of unit deviances such as PoissonDeviance
//
// Evaluation puts their results into one JSON object, and one for each Group of rows. Nothing else of ours is
// imported: a row is a target, a prediction and a weight.
//
// # Weights
//
// A weight counts as that many rows: every mean is Σwᵢxᵢ/Σwᵢ. Rows of weight 0
// are counted in "rows" and change nothing else.
//
// # Undefined and infinite values
//
// JSON has neither NaN nor infinities. A result that is undefined (r2 and smse
// of a constant target, hence of one row; auc of one class; anything of no rows)
// or infinite is NaN or an infinity in its Score field and absent in JSON. What
// made it infinite is counted beside it (zero_density_rows,
// infinite_deviance_rows), so that nothing is lost in silence. An input that
// makes no sense, such as a NaN prediction or a negative weight, stops the
// accumulator: Result returns an error that names the row.
//
// # Cost and determinism
//
// A row costs O(1) and memory is constant, except in Classification, which keeps
// 8 bytes a row (16 with weights other than 1) and sorts them, because AUC and
// calibration bins need ranks, in PIT, which keeps 8, and in a Calibration with a table, 24. Sums are compensated
// (Neumaier 1974) and central moments are updated (West 1979), so long streams lose no digits. The same rows in the
// same order give the same bytes.
//
// Accumulators are used through pointers by one goroutine.
package metric
