// Package kernel holds the dense and elementwise kernels that every engine
// rests on: matrix products, Gram matrices of tall row-major blocks,
// triangular solves, Cholesky factors and inverses, sums and inner products,
// and the transcendental functions of whole slices.
//
// # Shapes
//
// Matrices are float64 slices in row-major order; ld* is the row stride. Upper
// triangles are the ones read and written. A shape bug panics with the prefix
// "kernel: ".
//
// # Method and cost
//
// All matrix work is one blocked loop (product.go) around a register tile of
// 8×24 (AVX-512), 4×12 (AVX2) or 4×4 (plain Go): operands are packed into
// panels of 256 rows, so a product costs its 2mnk operations at about
// nine tenths of what the tile reaches in cache, plus mk + kn copies; Pack makes
// the second part once for products that share a right-hand side. Gram
// needs no transposition, does half of the work, and reads both operands from
// the same panels; weights need a second copy and are folded into it. The
// factorisation and the solvers (cholesky.go, triangle.go) use the same tile on
// packed blocks of 240 rows and substitute only inside a tile.
// Gemv and the level 1 kernels run at the speed of memory: sums of what no cache holds
// are read by AVX2, which AVX-512 does not keep up with, with the same bits.
//
// # Results
//
// The bits do not depend on the number of workers: the tiles are fixed, every
// element is summed by one chain of operations in one order, and the order of
// blocks of the summed index is fixed too. A Gram matrix added up by calls of
// a multiple of 256 rows equals the one of a single call. AVX-512 and AVX2 give
// the same bits in products, sums and elementwise functions; the Go twins
// differ in the last places. The error of a product's element is of order
// (256 + k/256) roundings of Σ|ab|.
//
// # Instruction sets
//
// The widest instruction set is found at run time. GODEBUG=cpu.avx512f=off and
// GODEBUG=cpu.avx2=off narrow the choice, NewISA makes it for one pool, and the
// build tag purego, like every processor but amd64, leaves the Go twins. The
// assembly is written by the generator in gen (go generate).
package kernel
