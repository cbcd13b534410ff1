// Package criticism asks whether the data look like draws of the model that was fitted to them. A
// posterior may be computed to the last digit and its intervals still be wrong, because counts vary
// more than the family allows, or a line was fitted to a curve. Five checks look for that:
//
//	dispersion  counts vary more than the family allows, or residuals spread more in one place than in another
//	zeros       counts are zero more often, or less often, than the family allows
//	tails       large residuals are more common than under a normal distribution
//	trend       residuals bend with the prediction or with a column
//	outliers    single rows that the model holds to be impossible
//
// # Method
//
// At most [Rows] rows are looked at, evenly spread. Each check compares a sum over rows with its
// distribution under the model: probabilities in closed form where the family has them, moments from
// posterior predictive draws else. Draws are few for each row, but the moments of a sum over many rows
// are known well, and its tail is that of the gamma distribution with the same three moments. Trends are
// score tests with the empirical variance of the scores, so that wrong dispersions do not pass for
// trends. Residuals of rows that a model was fitted to are too small by their leverage, those of other
// rows too large by it: both are corrected for, and what correlation is left makes p-values of fitted
// rows too large, never too small. A posterior without any spread has no leverages: where it follows its
// own rows closely nothing is said of them.
//
// All checks of a fit share an error of [ErrorRate]: that is about how often one of them speaks against a
// model that is right. A check speaks only if the fault is of a size that matters, too.
//
// # Cost
//
// One prediction of each row looked at, and 1e5 draws of targets at most.
package criticism
