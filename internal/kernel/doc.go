// Package kernel holds the dense and elementwise kernels every engine rests on.
//
// Matrices are float64 slices in row-major order; ld* is the row stride. A
// shape bug panics with the prefix "kernel: ".
package kernel
