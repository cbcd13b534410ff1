// Package effect says what changes when something changes: how far predictions move with a column, averaged over rows,
// with intervals from the posterior of the weights.
//
//	result, err := effect.Of(ctx, scorer, rows, effect.Options{Columns: []string{"region"}})
//	for _, e := range result.Effects { fmt.Println(e.Term, e.Contrast, e.Estimate, e.Low, e.High) }
//
// # What is estimated
//
// A quantity is a function of the weights w alone. With μ(f) = E[y|f], rows i of weight wᵢ and φᵢ(s) the features of
// row i where a setting s replaces some of its columns, a prediction, a comparison and a ratio are
//
//	A(s) = Σ wᵢ μ(φᵢ(s)ᵀw + oᵢ) / Σ wᵢ      A(s) − A(s′)      A(s)/A(s′)
//
// and a slope is the comparison of x + ε with x − ε, over 2ε. Under Link, μ is the identity. So intervals are of E y
// and not of y. These are the quantities of R's package marginaleffects (Arel-Bundock, Greifer & Heiss 2024), whose
// names they have: its avg_ functions, or with Rows those of each row. Comparisons are of x + 1 with x, of true with
// false, and of every level with the base. Rows that lack a number or a boolean that changes do not count there; a
// level takes the place of a missing one, too. Where a row has a group or a level that training did not have, μ is its
// mean over what that may add to f, as the prior has it after the fit, so that averages are those of predictions.
//
// # How
//
// Where μ is the identity, a quantity is the latent value of a made-up row, which the posterior answers exactly:
// mixtures by their parts, Student-t tails by their degrees of freedom. So is the logarithm of a ratio under a log
// link, where the column has no interactions. Everything else is averaged over draws of the weights, which all
// quantities of a call share; an error of their mean stands beside it. Where rows times draws are above 2·10⁸, or the
// posterior cannot be drawn from, the delta method answers, with E[μ′(f)]φ, averaged over rows, as the gradient.
// Ordinal families are drawn together with their cutpoints.
//
// # Cost
//
// For n rows, d features, S draws and as many settings as there are levels and steps: n·d operations a setting under
// exact, n·d·S under draws, and n times what the variance of f costs under delta. Memory is d numbers a setting and
// group of rows, or S.
package effect
