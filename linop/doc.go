// Package linop holds matrices as linear operators: a matrix is what it does to
// a vector. Dense is row-major and may be a window on a larger array; CSR is
// compressed sparse rows whose values may be left out when every one is 1. Identity, Diagonal,
// Selection, Difference, Fourier, Convolution and Wavelet are never written out; Scaled, Transposed,
// Product, Sum and Stack make one of others.
//
// Whether data are dense or sparse is decided once, here, never in an engine.
// The blocked products that deserve tuned kernels live in internal/kernel; this
// package is the vocabulary and the plain form of each operation.
//
// Shape errors are bugs of the caller and panic with the prefix "linop:".
package linop
