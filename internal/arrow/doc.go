// Package arrow is the algebra of symmetric matrices over weights most of which belong to the levels of a key: a
// category, or combinations of levels. A row has one level at most, so that two levels meet in no row, and
//
//	H = [D, B; Bᵀ, C]
//
// where D is block-diagonal with k×k numbers a level, B holds what rows have of a level and other weights together (its
// cells), and C is that of the rest: dense, or an arrow again, where every level of the first key lies within one level
// of another. It knows no model.
//
// A [Pattern] says which numbers there are. They are one slice, so that matrices of one pattern are added, scaled,
// mixed and saved as slices: for every head in turn the lower triangles of D, the cells with the dense columns and
// those with sparse ones, and at last the R×R numbers of the leaf, of which the upper triangle is read. Within a matrix
// the weights stand in the order of the pattern, heads first; methods take and give vectors in the order of the
// columns.
//
// A [Factor] eliminates level after level (George & Liu 1981, chapter 6): Σ cells² operations, in place of those of a
// dense matrix, and R³/3 for the leaf. Its selected inverse (Takahashi, Fagan & Chen 1973) has the numbers of the
// pattern, which are all that slopes, variances of weights and those of rows ask for.
//
// [Crossed] is for two keys whose levels meet in too many ways for a leaf that is factored: the second key is a head,
// too, and conjugate gradients solve. A posterior of its numbers takes levels of the second key for independent given
// the leaf.
//
// Levels are worked on by several threads; every number is a sum in the order of rows, or of levels, so that results
// are the same bytes at any number of threads.
package arrow
