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
// Intervals of weights are narrower than they should be. In simulations (6,000 rows,
// 50 features of which 30 % matter, slab deviation 0.4, bias −0.5, ρ0 and τ0 learned, 40
// draws) 90 % intervals of the selected weights, and of the bias, held the truth in so
// many of a hundred cases:
//
//	                                       one pass       five passes
//	dense normal inputs                    61, bias 58    81, bias 83
//	features that are in a tenth of rows   76, bias 25    81, bias 55
//	one-hot, two fields of 25 levels       69, bias 38    77, bias 63
//
// There are two causes. A factor is made at the means of its time and stays in q: where the
// link is curved the curvature at means that lag behind overstates what a row says, so that
// they go on lagging. Later passes replace such factors, which is why Fit takes five.
// And q ignores correlations, of which the bias has most: with one-hot features it can
// be exchanged for a shift of all levels of a field.
//
// # Streams
//
// Forgetting multiplies all likelihood factors by a constant at every row, so that
// a feature without evidence falls back to the prior. [Learner.Prune] frees
// features that stay out. [Sharded] learns with several learners at once.
//
// # Cost and limits
//
// Time is O(entries), about 15 ns an entry in the sequential form; memory is 64
// bytes a feature seen. q ignores correlations: features that occur together in
// nearly every row share their effect, and one of them may be picked at random.
package sep
