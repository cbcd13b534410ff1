// Package feature turns the inputs of rows into the numbers whose weights are
// learned: x → φ(x).
//
// A [Set] is a list of terms, each a block of weights with a prior variance of
// its own. A [Term] is plain data, as a formula states it and a model file
// stores it; binding it to the [Inputs] of a model gives the [Map] that does the
// work. The terms here are [Intercept], [Linear], [OneHot], [Interaction],
// [Polynomial], [Spline], [Cyclic], [HSGP], [Periodic], [Radial], [Sigmoid] and [RandomFourier].
//
// # Random Fourier features
//
// By Bochner's theorem a stationary kernel with k(0) = 1 is the Fourier transform
// of a probability density. With frequencies ω_i drawn from that density for
// lengthscale 1,
//
//	φ(x) = n^(-1/2) [cos(s_iᵀx), sin(s_iᵀx)],  s_i = ω_i/ℓ,  i = 1..n
//
// has φ(x)ᵀφ(x') = k̂(x-x') with E k̂ = k, so a linear model with prior variance λ on these
// weights approximates a Gaussian process with signal variance λ (Rahimi & Recht
// 2007; revrand report eqs 32–35). The ω stay fixed while ℓ is learned, which
// makes the features smooth in ℓ.
//
// A product of kernels is the Fourier transform of sums of their frequencies: s_i = Σ_k ω_ki/ℓ_k, each of its own
// inputs ([Factor]). With [Cosine], whose frequencies are signs, and [RBF] of the same inputs it is a component of a
// spectral mixture (Wilson & Adams 2013; Yang, Smola, Song & Wilson 2015, "A la Carte"). Under [Fastfood] (Le, Sarlós &
// Smola 2013) frequencies of d inputs take four numbers each, and n of them n log₂ d additions a row in place of n d
// multiplications.
//
// # Order of the weights
//
// Terms whose columns are all dense come first, then at most one with both sorts
// (a linear term with numbers and many category levels), then those whose columns
// are all sparse; within each group the order is the caller's. Every block is thus a
// run of weights, whether it is stored dense or sparse. Category columns are dense while
// the whole set has at most [DenseLevels] of them and uses no sparse segment, and sparse
// beyond.
//
// # Numbers
//
// Finite inputs give finite features: what would overflow is held at the largest
// number. A category code below 0, a level never seen, gives zeros.
//
// # Units
//
// Numbers enter centred and scaled. [Set.OwnUnits] multiplies products and powers out again, so that
// weights can be told in the units of the data's own columns: (x − m)(z − k) adds to the weights of x, z and
// the constant. [Set.Hierarchical] leaves the centring out of products whose factors are no terms of their
// own, so that every product means what it means in R.
//
// # Cost
//
// A row costs what its columns cost: one multiplication of d inputs by n
// frequencies and n sines and cosines for random features, n·d for n bumps,
// and a copy for the others. The gradient in all d lengthscales together costs about
// as much as the features; nothing of size rows × weights × d is ever formed.
// Transform and Pullback allocate nothing once a workspace has warmed up.
package feature
