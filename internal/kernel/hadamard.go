package kernel

import "math/bits"

// Hadamard multiplies x, n×width row after row, by the n×n Hadamard matrix from the left, n a power of two: the matrix
// of ones and minus ones whose first row is ones, without a factor that makes it orthogonal. It takes n log₂ n
// additions a column.
func Hadamard(x []float64, n, width int) {
	if n < 1 || n&(n-1) != 0 || len(x) != n*width {
		panic("kernel: Hadamard: the rows are no power of two")
	}
	hadamardOn(detected, x, n, width)
}

// hadamardOn takes two steps at a time, but the first where their number is odd.
func hadamardOn(s ISA, x []float64, n, width int) {
	half := 1
	if bits.Len(uint(n))%2 == 0 {
		for at := 0; at < len(x); at += 2 * width {
			butterflyOn(s, x[at:], width, width, 2)
		}
		half = 2
	}
	for ; half < n; half *= 4 {
		run := half * width
		for at := 0; at < len(x); at += 4 * run {
			butterflyOn(s, x[at:], run, run, 4)
		}
	}
}

// butterflyGo multiplies two or four rows of n values, ld apart, by the Hadamard matrix of their number.
func butterflyGo(x []float64, ld, n, rows int) {
	for half := 1; half < rows; half *= 2 {
		for r := range rows {
			if r&half != 0 {
				continue
			}
			a, b := x[r*ld:r*ld+n], x[(r+half)*ld:(r+half)*ld+n]
			for i, v := range a {
				w := b[i]
				a[i], b[i] = v+w, v-w
			}
		}
	}
}
