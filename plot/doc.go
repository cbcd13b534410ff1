// Package plot draws a fitted model as pictures in SVG: what it predicts, and whether to trust it. The kinds have the
// names of ArviZ.
//
//	err := plot.Draw(ctx, w, plot.PPCPIT, plot.Input{Scorer: scorer, Rows: rows})
//
// Pictures are light and dark by the preference of the reader, state in their title and description what they show, and
// have the same bytes for the same input. Checks look at 10,000 evenly spread rows at most, and say how many.
//
// # What the kinds show
//
// predictions and slopes are averages over the rows with one column replaced by each of its values, as those of package
// effect; forest has its comparisons. ppc_dist, ppc_tstat and ppc_rootogram set the targets beside sets that the model
// draws in their place, each under one draw of the weights (Gelman, Meng & Stern 1996; Kleiber & Zeileis 2016). ppc_pit
// and loo_pit are the empirical distribution function of P(Y ≤ y) less the uniform one, with an envelope that holds all
// of it in 99 % of the sets of rows (Säilynoja, Bürkner & Vehtari 2022); loo_pit predicts each row from all others
// (Vehtari, Gelman & Gabry 2017), and khat says how far that can be relied on. pava_calibration is the isotonic
// regression of targets on predicted means, with what it comes to of targets drawn from the predictions (Dimitriadis,
// Gneiting & Jordan 2021). residuals are P(Y ≤ y) against the rank of the prediction, as those of R's package DHARMa.
// prior_posterior has the densities of weights before and after the data, path the weights of features against how many
// of them a prior expects.
package plot
