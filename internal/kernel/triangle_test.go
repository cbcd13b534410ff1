package kernel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// factorOf returns a well-conditioned upper triangle with NaN below, which no
// kernel may read.
func factorOf(n, ld int, seed uint64) []float64 {
	u := random(n*ld+1, seed)
	for i := range n {
		for j := range n {
			switch {
			case j < i:
				u[i*ld+j] = math.NaN()
			case j == i:
				u[i*ld+j] = 2 + math.Abs(u[i*ld+j])
			default:
				u[i*ld+j] /= math.Sqrt(float64(n))
			}
		}
	}
	return u
}

// solveReference is substitution by its definition, on op(U) x = b.
func solveReference(trans bool, n int, u []float64, ld int, x []float64) {
	at := func(i, j int) float64 {
		if trans {
			return u[j*ld+i]
		}
		return u[i*ld+j]
	}
	for s := range n {
		i := s
		if !trans {
			i = n - 1 - s
		}
		v := x[i]
		for j := range n {
			if trans && j < i || !trans && j > i {
				v -= at(i, j) * x[j]
			}
		}
		x[i] = v / at(i, i)
	}
}

// The sizes of triangular tests: every edge of a tile and panel, and both
// sides of a block.
func triangleSizes() []int {
	sizes := []int{239, 240, 241, 263}
	if study.Long() {
		sizes = append(sizes, 490)
	}
	for n := 0; n < 71; n += stride() {
		sizes = append(sizes, n)
	}
	return sizes
}

// The squares of solutions are those of the solutions, in blocks of U and of right-hand sides, for any number of
// workers alike, and what was solved stays as it was.
func TestSolvedSquares(t *testing.T) {
	for _, isa := range isas() {
		for _, shape := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {5, 2}, {40, 7}, {97, 100}, {1030, 25}, {1030, 100}, {49, side + 1}, {530, side + 9}} {
			m, n := shape[0], shape[1]
			u, b, scales := factorOf(n, n+3, 1), random(m*(n+2)+1, 2), random(n+1, 3)[:n]
			kept, before := append([]float64(nil), b...), []float64(nil)
			for threads := 1; threads <= 3; threads++ {
				got := make([]float64, m)
				NewISA(threads, isa).SolvedSquares(m, n, u, n+3, scales, b, n+2, got)
				for i, v := range got {
					x, want := make([]float64, n), 0.0
					for k, s := range scales {
						x[k] = s * b[i*(n+2)+k]
					}
					solveReference(true, n, u, n+3, x)
					for _, v := range x {
						want += v * v
					}
					if !(math.Abs(v-want) <= 1e-13*float64(1+n)*(1+want)) || threads > 1 && v != before[i] {
						t.Fatalf("%v threads=%d, %d×%d, row %d: %v, want %v", isa, threads, m, n, i, v, want)
					}
				}
				before = got
			}
			if !slices.Equal(b, kept) {
				t.Fatalf("%v: %d×%d right-hand sides were changed", isa, m, n)
			}
		}
	}
}

// Both solvers are backward stable and the triangle is well conditioned
// (diagonal ≥ 2, off-diagonal row sums of order one): errors stay within a
// small multiple of n roundings of the largest element.
func TestTrsm(t *testing.T) {
	for _, isa := range isas() {
		for _, threads := range []int{1, 2} {
			p := NewISA(threads, isa)
			for _, n := range triangleSizes() {
				u := factorOf(n, n+3, 1)
				for _, m := range []int{0, 1, 2, 3, 8, 24, 31} {
					for q := range 4 {
						trans, right := q&1 != 0, q&2 != 0
						rows, cols := n, m
						if right {
							rows, cols = m, n
						}
						ld := cols + 2
						b := random(rows*ld+1, 2)
						want := append([]float64(nil), b...)
						for j := range m {
							x := make([]float64, n)
							for i := range x {
								if right {
									x[i] = b[j*ld+i]
								} else {
									x[i] = b[i*ld+j]
								}
							}
							solveReference(trans != right, n, u, n+3, x)
							for i := range x {
								if right {
									want[j*ld+i] = x[i]
								} else {
									want[i*ld+j] = x[i]
								}
							}
						}
						if right {
							p.TrsmRight(trans, m, n, u, n+3, b, ld)
						} else {
							p.TrsmLeft(trans, n, m, u, n+3, b, ld)
						}
						for i := range b {
							if !(math.Abs(b[i]-want[i]) <= 1e-13*float64(1+n)) {
								t.Fatalf("%v threads=%d right=%v trans=%v n=%d m=%d at (%d, %d): got %v, want %v",
									isa, threads, right, trans, n, m, i/ld, i%ld, b[i], want[i])
							}
						}
					}
				}
			}
		}
	}
}

// ‖A − UᵀU‖ is at most a few n roundings of ‖A‖ for any stable factorisation
// (Higham 2002, Theorem 10.3); the lower triangle is NaN and must stay so.
func TestCholesky(t *testing.T) {
	for _, isa := range isas() {
		var want [][]float64
		for _, threads := range []int{1, 2} {
			p := NewISA(threads, isa)
			for c, n := range triangleSizes() {
				ld := n + 1
				u := factorOf(n, ld, 3)
				a := make([]float64, n*ld)
				for i := range n {
					for j := range ld {
						a[i*ld+j] = math.NaN()
						if j < i || j >= n {
							continue
						}
						a[i*ld+j] = 0
						for k := range i + 1 {
							a[i*ld+j] += u[k*ld+i] * u[k*ld+j]
						}
					}
				}
				if pivot, ok := p.Cholesky(n, a, ld); pivot != n || !ok {
					t.Fatalf("%v n=%d: pivot %d, ok %v", isa, n, pivot, ok)
				}
				for i := range n {
					for j := range ld {
						if j < i || j >= n {
							if !math.IsNaN(a[i*ld+j]) {
								t.Fatalf("%v n=%d: (%d, %d) was written", isa, n, i, j)
							}
							continue
						}
						if !(math.Abs(a[i*ld+j]-u[i*ld+j]) <= 1e-14*float64(10+n)) {
							t.Fatalf("%v n=%d at (%d, %d): got %v, want %v", isa, n, i, j, a[i*ld+j], u[i*ld+j])
						}
					}
				}
				if threads == 1 {
					want = append(want, a)
				} else if i := sameBits(a, want[c]); i >= 0 {
					t.Fatalf("%v n=%d: two workers change the bits at %d", isa, n, i)
				}
			}
		}
	}
}

func TestCholeskyFailingPivot(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(1, isa)
		for _, n := range []int{1, 5, 8, 30, 250, 300} {
			for _, bad := range []int{0, n / 2, n - 1} {
				for _, value := range []float64{0, -1, math.NaN(), math.Inf(1)} {
					a := make([]float64, n*n)
					for i := range n {
						a[i*n+i] = 1
					}
					a[bad*n+bad] = value
					if pivot, ok := p.Cholesky(n, a, n); ok || pivot != bad {
						t.Fatalf("%v n=%d: pivot %d, ok %v; want %d", isa, n, pivot, ok, bad)
					}
				}
			}
		}
	}
}

// C·UᵀU = I, with the condition number of UᵀU below 100 by construction.
func TestCholeskyInverse(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(2, isa)
		for _, n := range triangleSizes() {
			ldu, ldc := n+2, n+1
			u := factorOf(n, ldu, 5)
			c := random(n*ldc+1, 6)
			p.CholeskyInverse(n, u, ldu, c, ldc)
			for j := range n {
				x := make([]float64, n)
				x[j] = 1
				solveReference(true, n, u, ldu, x)
				solveReference(false, n, u, ldu, x)
				for i := range n {
					if !(math.Abs(c[i*ldc+j]-x[i]) <= 1e-13*float64(1+n)) {
						t.Fatalf("%v n=%d at (%d, %d): got %v, want %v", isa, n, i, j, c[i*ldc+j], x[i])
					}
					if c[i*ldc+j] != c[j*ldc+i] {
						t.Fatalf("%v n=%d: not symmetric at (%d, %d)", isa, n, i, j)
					}
				}
			}
		}
	}
}

func ExamplePool_Cholesky() {
	a := []float64{4, 2, 0, 5}
	pivot, ok := New(1).Cholesky(2, a, 2)
	fmt.Println(a, pivot, ok)
	// Output: [2 1 0 2] 2 true
}
