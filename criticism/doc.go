// Package criticism asks whether the data look like draws of the model that was fitted to them. A
// posterior may be computed to the last digit and its intervals still be wrong, because counts vary
// more than the family allows, or a line was fitted to a curve. These checks look for that, faults first:
//
//	target       a column is the target, or a function of it to rounding
//	repeats      rows repeat others, more than columns and target taken apart make them
//	outliers     single rows that the model holds to be impossible
//	order        residuals go with those of the next row, or drift over the file
//	groups       residuals go together within the groups of a column that the formula leaves out
//	dispersion   counts vary more, or less, than the family allows, or residuals spread more in one place than in another
//	trend        residuals bend with the prediction or with a column, or with one more finely than its smooth term can
//	interaction  residuals go with the product of two columns
//	link         log odds or log means bend with the prediction, for which the family has another link
//	odds         columns act otherwise on low grades than on high ones
//	zeros        counts are zero more often, or less often, than the family allows
//	tails        large residuals are more common than under a normal distribution
//
// # Method
//
// At most [Rows] rows are looked at, evenly spread, and columns are compared in so many of them that rows times
// columns stay below 5e4 (500 rows at the least, and a finding says how many). Each check compares a sum over rows with
// its distribution under the model: probabilities in closed form where the family has them, moments from posterior
// predictive draws else. Draws are few for each row, but the moments of a sum over many rows are known well, and its
// tail is that of the gamma distribution with the same three moments. Curves and products are score tests whose
// variance is the larger of the model's and of the scores' own, so that wrong dispersions do not pass for trends. Of
// counts without a dispersion of their own a second test, Wald's at the step that is likeliest, sees what a few large
// counts hide from the first; each has half the error.
// Residuals of rows that a model was fitted to are too small by their leverage, those of other rows too large by it:
// both are corrected for, and what correlation is left makes p-values of fitted rows too large, never too small. A
// posterior without any spread has no leverages: where it follows its own rows closely nothing is said of them. Sizes
// of residuals are compared with predictions without the row, and not at all where leverages and what is learned of
// the variance leave them unknown, as of more columns than rows: outliers, dispersion, trend, interaction and tails
// are then not asked about.
//
// All checks of a fit share an error of [ErrorRate] equally: that is about how often one of them speaks against a
// model that is right. Columns share that of their check by 1, 1/2, 1/3, …, those first that the prediction varies most
// with. A finding that explains less than 2 % is a [Detail], and of several remarks one is told at a time.
//
// # Cost
//
// One prediction of each row looked at, and 4e4 draws of targets at most.
package criticism
