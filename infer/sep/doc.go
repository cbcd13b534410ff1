// Package sep learns sparse probit models from a stream of rows by stochastic
// expectation propagation (SEP) with a spike-and-slab prior.
//
// # Model
//
//	P(y=1|w) = Φ(xᵀw + b),   w_j ~ ρ0 N(0, τ0) + (1−ρ0) δ0,   b ~ N(0, 10²)
//
// The posterior is factorised, one Gaussian and one inclusion probability a
// feature. Every Gaussian is kept by its precision Λ = 1/v and its shift h = μ/v,
// so that products of factors are sums:
//
//	q(w_j):  Λ_j = Λ1_j + L⁺_j + L⁻_j,   h_j likewise,   α_j = P(w_j ≠ 0)
//
// Λ1 is the factor that stands for the prior; L⁺ = n⁺Λ⁺ and L⁻ = n⁻Λ⁻ are the
// n⁺ (n⁻) copies of the average likelihood factor of the positive (negative)
// rows in which the feature occurs. The bias has no spike.
//
// # Two forms
//
// Sequential (the default): the factor of a row is added as soon as the row has
// been seen, and a feature's prior factor is refreshed after it has gained about a
// tenth in occurrences. Mini-batch ([Config.Batch] > 0): Algorithm 1 of the OLSS report
// (Fang, Zhe, Lee, Zhang & Neville, "Online spike-and-slab inference with
// stochastic expectation propagation", 2016), with corrected updates; the code
// has its line numbers.
//
// # Hyper-parameters
//
// ρ0 and τ0 are learned unless held: at geometrically growing numbers of rows, as soon as
// 12 are of the rarer class, they are moved to maximise the sum of the site evidences
// log[ρ0 N(m|0, c+τ0) + (1−ρ0) N(m|0, c)], (m, c) the likelihood's part of q(w_j).
//
// # Counts
//
// In the first pass the counts n⁺ and n⁻ run: q holds the rows so far, each in full.
// With counts known beforehand ([Config.KnownCounts]) every row replaces a share
// of an average factor that starts flat, as printed; after one pass row i of n is
// left with weight (1−1/n)^(n−i), so that a single pass holds 1−1/e of the
// likelihood and variances are too large by about 1.6. Later passes are the same in both.
//
// # Spread
//
// Intervals of weights are narrower than they should be, because q ignores correlations: with
// one-hot features the bias can be exchanged for a shift of all levels of a field, and q holds each
// by all others. How many of the 90 % intervals of weights in the model (inclusion above 0.9) hold is
// worked out at the end, by Gibbs sampling of the weights of the first rows under the Gaussian
// sites of the fit, with ρ0 and τ0 drawn too where they are learned. In simulations (300 rows,
// 30 % of the weights not 0, slab deviation 0.7, bias −0.3, 400 draws) so many of a hundred held, and
// were told to:
//
//	                                       ρ0, τ0 held        ρ0, τ0 learned
//	dense normal inputs, 10                86 (told 88)       83 (told 86)
//	features that are in a tenth of rows   87 (told 88)       77 (told 73)
//	one-hot, fields of 4 and 8 levels      80 (told 81)       72 (told 73)
//
// A fit and a stream are alike there: both keep all rows. The intervals of the bias are not counted. Of a stream beyond
// the rows that are kept what is told may be too much: later rows hardly change the scale that all weights share.
//
// # Rows learned again
//
// The factor of a row is made at the means and under the ρ0 and τ0 of its time. So the first 4,096 rows of a
// stream are kept, with all that is in the checkpoint, and when they are complete they are learned
// again until nothing moves: each row has its own factors, and the factor of one copy of the row is taken out before
// they are made anew, as in expectation propagation proper. A shorter stream is learned again when it
// ends, and a fit of up to two million entries likewise; of larger data it makes passes in which
// rows replace a copy of the average factor. Mini-batches, forgetting and known counts go without.
//
// # Streams
//
// Forgetting multiplies all likelihood factors by a constant at every row, or by one that goes by
// the time that has passed, so that a feature without evidence falls back to the prior. [Learner.Prune] frees
// features that stay out.
//
// # Cost and limits
//
// Time is O(entries), about 15 ns an entry in the sequential form; memory is 32
// bytes a feature seen in one pass, and 80 where several passes, known counts or the first
// rows, which are learned again, need the sums of each class. q ignores correlations: features that occur together in
// nearly every row share their effect, and one of them may be picked at random.
package sep
