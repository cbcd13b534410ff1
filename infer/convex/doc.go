// Package convex is convex variational inference by a double loop (Nickisch & Seeger 2009).
//
// The posterior of u ∈ Rⁿ is proportional to
//
//	N(y | Xu, σ²I) Π_i t_i(s_i),  s = Bu ∈ R^q      log t_i(s) = g_i(s²/σ²) + β_i s/σ²
//
// with super-Gaussian sites: g is convex and decreasing. Each is bounded from below by Gaussians of
// every width γ_i, so that with A = XᵀX + BᵀΓ⁻¹B
//
//	log P(y) ≥ −½ φ(γ) + ½(n−m) log 2πσ²,  φ = log|A| + Σ h_i(γ_i) + min_u σ⁻²[‖y−Xu‖² + sᵀΓ⁻¹s − 2βᵀs]
//
// and Q(u) = N(u*, σ²A⁻¹). φ is convex in γ for log-concave sites: its minimum is the best of all
// bounds of this kind.
//
// # Double loop
//
// log|A| is concave in 1/γ; the tangent at z = diag(BA⁻¹Bᵀ), the variances of s over σ², decouples the sites.
// The inner loop minimises
//
//	½σ⁻²‖y−Xu‖² + Σ h*_i(s_i),  h*(s) = −g(z + s²/σ²) − βs/σ²
//
// over u by Newton's method; by conjugacy γ = −1/(2g'(z + s²/σ²)) is known in closed form for every
// site. The outer loop takes z anew. φ never rises where z is exact.
//
// # Two levels
//
// [Solve] takes operators: all it asks of X and B is products with vectors, and, where variances are
// exact, their columns. The engine hands it the rows of a table.
package convex
