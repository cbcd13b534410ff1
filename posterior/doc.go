// Package posterior holds the distributions over weights that fits return and
// model files store. All fields are exported, so that they can be stored.
//
// Full is a normal distribution with a dense covariance over d weights: d²
// numbers, and d² operations for each row predicted (half of them saved by the
// triangular factor). Dual is the same distribution for fewer rows than weights:
// it keeps the n training rows of Φ and a factor of n² numbers and never forms
// d×d; predicting a row takes 2nd + n² operations. Both work on blocks of rows
// through the dense kernels, on all threads of the workspace, and give the same bytes at any
// number of threads.
package posterior
