// Package exact fits Bayesian linear regression, and integrates over its hyper-parameters:
//
//	y ~ N(Φw + offset, σ²/weight)      w ~ N(0, Λ)
//
// with one prior variance for each block of weights, or one for each weight
// (automatic relevance determination). σ², the prior variances and the
// hyper-parameters of the features (lengthscales) climb the exact log evidence and their priors
// together, by exact gradients; the posterior of the weights follows in closed
// form (Rasmussen & Williams 2006, chapter 2 and section 5.4.1; revrand report, section 1.2).
//
// # Hyper-parameters
//
// Their logarithms are coordinates θ with the priors of package internal/hyper. With s the standard deviation of the
// target less its offset, and c_b² the mean square of a block's columns together about their means (about 0 without an
// intercept; 1 for blocks with hyper-parameters, as random features have it):
//
//	σ ~ half-Cauchy(s)      τ_b² ~ (s/c_b)² BetaPrime(1, ½)
//	a variance each: τ_j ~ half-Cauchy(α/c_j), α ~ half-Cauchy(s/√d)
//
// The climb begins where each block explains a quarter of the target's variance, and again far above the scale of the
// prior; it ends by Newton's method. Config.Hyper says what follows: sums over the axes of the
// curvature (param.Integrate), the mode alone (param.Mode), or no priors at all (param.MaximumLikelihood).
// Lengthscales move the features, so that moments of weights under different ones cannot be added up: below
// 400 rows the members of the fit are the mode and draws from the normal approximation of the
// lengthscales' posterior, 16 of all draws of features together; from there on, and where lengthscales have no prior,
// they stand at their maximum. The evidence is integrated over what the posterior is integrated over.
//
// Where all that are learned change prior deviations of weights and no columns (credence.Proportioned), sums are formed
// once, in the d×d form whatever n is, and the logarithms of these hyper-parameters are coordinates of the integration
// like any other: with a weight's prior deviation √λ_b s_j(ℓ), ∂L/∂log ℓ = Σ_j (A⁻¹_jj + q_j² − 1) ∂log s_j/∂log ℓ. The
// curvature is that of differences.
//
// The intercept is never learned: it is N(m, (10 s)²) and stands at the weighted means of the columns
// that have no hyper-parameters, with the weighted mean m and standard deviation s of the target less its
// offset. A constant added to the target changes the intercept and nothing else.
//
// # Three forms
//
// With n ≥ d rows the evidence is written with the d×d matrix
// A = I + Λ^½ ΦᵀΦ Λ^½/σ², whose smallest eigenvalue is 1, and data are streamed: a pass
// adds up ΦᵀΦ, Φᵀy and yᵀy block by block. Unless features have
// hyper-parameters to learn, that pass is the only one, and a step costs
// O(d³). Otherwise an evaluation reads the rows twice: the second pass forms
//
//	∂L/∂Φ = [(y−Φm)mᵀ − ΦC]/σ²
//
// and hands it to the features' Pullback, so that any number of lengthscales
// costs one d×d inverse and 3nd² operations. From 500 weights on, 2nd² of them are in
// single precision where that moves slopes by less than climbs can tell; evidence and
// posterior never are. With n < d the same quantities come from the n×n matrix
// I + ΦΛΦᵀ/σ², and d×d is never formed. A weight of 2 is the row twice in all.
//
// Where more than 256 sparse columns go by the levels of categories (problem.Rest), the d×d form has the numbers of an
// arrow alone: its levels are eliminated one after the other (package internal/arrow), in operations that grow with the
// levels, and with the cube of the R weights beside those of the largest category; a category that the largest lies
// within is eliminated too. The posterior is a posterior.Arrow. An intercept then stands at the means of the dense
// columns: its prior, ten times as wide as the target, is at another place, which changes evidence by less than .01.
//
// Where the rest then has more than 2,000 weights, at most 100 of them beside a second key that the first is crossed
// with, conjugate gradients solve in the place of a factor (package internal/arrow): an iteration costs what rows have
// of cells, and about ten of them leave 1e-8. Fixed effects and means are exact. The log determinant, the slopes and
// the variances of single levels are averages over random vectors, the same at every θ: the evidence has a standard
// error, which the report tells. The mode is found by Newton's method with the average information (Gilmour, Thompson &
// Cullis 1995), until the whitened gradient is 1e-3.
//
// # Sums of files
//
// Where features have nothing to learn, the sums of the d×d form are exported: files of a table, of any length, are
// added up apart, maybe on other machines, and the merged sums give the fit of all rows to the bit; package shards does
// so. Sums are formed by segments of credence.SegmentRows rows, added as a binary tree over a file, and by files, added
// as one over the table, for a fit of one machine too; a table of more than one segment takes half a d×d matrix more
// for each level of the trees. Levels of a category are eliminated from sums too, where it has all sparse columns; of
// several which levels rows have together is not known to a file, and sums are refused.
//
// # Memory
//
// n ≥ d: three d×d matrices (from 500 weights on half a one more where features have
// hyper-parameters to learn), a few blocks of credence.BlockRows rows and up to 36 MB of rows and
// features kept for the second pass; never n×d. n < d: Φ and three n×n matrices, and one more for
// each block of weights when no hyper-parameter of the features is learned. Levels: a few times the numbers of
// the arrow, R² beside as many for each level as there are dense columns, and the cells that rows have. Integration
// takes four d×d matrices more or four n×n matrices for each pair of blocks; where these pass four times the fit's own
// memory and 256 MB, the mode has to do. Where the three matrices are below 32 MB together, starts climb at once, one
// to a thread, with matrices of their own.
//
// # Starts
//
// The evidence in lengthscales has many local maxima, and the random draw of
// frequencies matters as much as their start. So features with learned
// hyper-parameters get several starts, each with a fresh draw, on at most
// Config.ScreenRows evenly spread rows: fifteen iterations each, thirty more for the
// better half where they are to be chosen from. The best by penalised evidence, Config.Draws of them,
// look beyond their maxima, at every lengthscale a quarter as long, and go on on all rows, with
// what they learned of the curvature; the fit averages over them. Where all of few rows'
// starts are wanted each climbs from its start to the end at once, and looks beyond it.
//
// Above Config.ScreenRows rows with a thousand weights or more, most of them of random
// features, the search is made with a quarter of each draw's frequencies, at a sixteenth of
// the cost. There every start climbs on all rows, after fifteen iterations on few, and
// looks beyond its maximum; the best go on with all frequencies, by the Hessian there.
//
// Beyond Config.PolishRows rows the lengthscales are learned on so many evenly spread
// rows, and the variances on all of them in one pass. Starting values never are short
// lengthscales or little noise, from which the climb ends in bad maxima.
//
// # Limits
//
// Gaussian likelihood and normal prior alone. min(n, d) up to about 10⁴, and of categories of many levels R in the
// place of d. Learned noise is held above a millionth of the target's variance, with a warning. Learned prior variances
// stay within e^±12 of the scale at which their block alone explains the target's variance.
package exact
