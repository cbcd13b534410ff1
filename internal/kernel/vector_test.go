package kernel

import (
	"math"
	"testing"
)

// lanes is the definition of Dot for the assembly: 32 partial sums, folded by
// halves of eight, then four, two, one.
func lanes(n int, add func(s float64, i int) float64) float64 {
	var s [32]float64
	for i := range n {
		s[i%32] = add(s[i%32], i)
	}
	for l := range 8 {
		s[l] = (s[l] + s[l+8]) + (s[l+16] + s[l+24])
	}
	for l := range 4 {
		s[l] += s[l+4]
	}
	s[0] += s[2]
	s[1] += s[3]
	return s[0] + s[1]
}

// Assembly equals the definition bit by bit; the plain Go twin adds in another
// order, with an error below n ε Σ|x| (values are of order one).
func TestDotSumAxpy(t *testing.T) {
	for _, isa := range isas() {
		for n := 0; n < 200; n += stride() {
			for offset := range 3 {
				x, y := random(n+offset, 1)[offset:], random(n+offset, 2)[offset:]
				if n > 0 && n%17 == 0 {
					x[n/2] = math.Inf(1)
				}
				if n > 0 && n%19 == 0 {
					x[n-1] = math.NaN()
				}
				got := dotOn(isa, x, y)
				want := lanes(n, func(s float64, i int) float64 { return math.FMA(x[i], y[i], s) })
				if !closeEnough(isa, got, want) {
					t.Fatalf("%v Dot n=%d: got %v, want %v", isa, n, got, want)
				}
				got = sumOn(isa, x)
				want = lanes(n, func(s float64, i int) float64 { return s + x[i] })
				if !closeEnough(isa, got, want) {
					t.Fatalf("%v Sum n=%d: got %v, want %v", isa, n, got, want)
				}
				z := append([]float64{1, 2, 3}, y...)
				axpyOn(isa, 1.5, x, z[3:])
				for i := range x {
					if want := math.FMA(1.5, x[i], y[i]); !closeEnough(isa, z[i+3], want) {
						t.Fatalf("%v Axpy n=%d at %d: got %v, want %v", isa, n, i, z[i+3], want)
					}
				}
			}
		}
	}
}

// The masked ends of the assembly must not touch what lies beside a sub-slice.
// Scale has the bits of plain Go with every instruction set, and leaves what is
// around the slice alone.
func TestScale(t *testing.T) {
	for _, isa := range isas() {
		for n := 0; n < 100; n += stride() {
			for offset := range 3 {
				x := random(offset+n+9, 1)
				if n > 0 && n%7 == 0 {
					x[offset+n/2], x[offset+n-1] = math.Inf(1), math.NaN()
				}
				want := append([]float64(nil), x...)
				for i := offset; i < offset+n; i++ {
					want[i] = 1.7 * x[i]
				}
				scaleOn(isa, 1.7, x[offset:offset+n])
				if i := differ(x, want); i >= 0 {
					t.Fatalf("%v Scale n=%d offset=%d at %d: got %v, want %v", isa, n, offset, i, x[i], want[i])
				}
			}
		}
	}
}

// differ is the first place where two slices differ, NaNs being equal, or -1.
func differ(x, y []float64) int {
	for i := range x {
		if x[i] != y[i] && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			return i
		}
	}
	return -1
}

// TestAddRows: the bits are those of one row after the other, and nothing is written beside y.
func TestAddRows(t *testing.T) {
	const rows, ld = 40, 53
	x := random(rows*ld, 1)
	for _, isa := range isas() {
		for _, n := range []int{1, 7, 15, 16, 17, 31, 32, 40, 48} {
			for _, index := range [][]int32{{0}, {39}, {3, 4, 9, 17, 39}} {
				for _, alpha := range [][]float64{nil, random(len(index), 2)} {
					y := random(n+8, 3)
					want := append([]float64(nil), y...)
					for k, row := range index {
						a := 1.0
						if alpha != nil {
							a = alpha[k]
						}
						axpyOn(isa, a, x[int(row)*ld:int(row)*ld+n], want[4:4+n])
					}
					addRowsOn(isa, alpha, index, x[:39*ld+n], ld, y[4:4+n])
					if at := differ(y, want); at >= 0 {
						t.Fatalf("%v n=%d rows %v: %v at %d, want %v", isa, n, index, y[at], at-4, want[at])
					}
				}
			}
		}
	}
	for _, index := range [][]int32{{-1, 2}, {1, 40}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("rows %v of %d are taken", index, rows)
				}
			}()
			AddRows(nil, index, x, ld, make([]float64, 16))
		}()
	}
}

func TestAxpyStaysInside(t *testing.T) {
	for _, isa := range isas() {
		for n := range 70 {
			y := random(n+8, 1)
			want := append([]float64(nil), y...)
			axpyOn(isa, 2, random(n, 2), y[4:4+n])
			for i := range y {
				if (i < 4 || i >= 4+n) && y[i] != want[i] {
					t.Fatalf("%v n=%d: wrote beside the slice at %d", isa, n, i)
				}
			}
		}
	}
}

func TestGemv(t *testing.T) {
	for _, isa := range isas() {
		for _, size := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {70, 33}, {33, 70}, {5000, 17}, {40000, 9}, {9, 40000}} {
			m, n := size[0], size[1]
			lda := n + 3
			a := random(m*lda+1, 1)
			for _, trans := range []bool{false, true} {
				inner, outer := n, m
				if trans {
					inner, outer = m, n
				}
				x := random(inner, 2)
				for _, beta := range []float64{0, 1, -0.5} {
					var first []float64
					for _, threads := range []int{1, 2, 3} {
						y := random(outer, 3)
						want := append([]float64(nil), y...)
						if beta == 0 {
							for i := range y {
								y[i] = math.NaN()
							}
						}
						NewISA(threads, isa).Gemv(trans, m, n, 1.5, a, lda, x, beta, y)
						if first == nil {
							first = y
						} else if i := sameBits(y, first); i >= 0 {
							t.Fatalf("%v Gemv(%v, %d, %d) with %d workers differs at %d", isa, trans, m, n, threads, i)
						}
						for j := range y {
							s, scale := 0.0, 1.0
							for l := range inner {
								v := x[l] * pick(!trans, a, lda, l, j)
								s += v
								scale += math.Abs(v)
							}
							// Two roundings a term on each side.
							if !(math.Abs(y[j]-(1.5*s+beta*want[j])) <= 4e-16*float64(10+inner)*scale) {
								t.Fatalf("%v Gemv(%v, %d, %d) beta=%g at %d: got %v, want %v", isa, trans, m, n, beta, j, y[j], 1.5*s+beta*want[j])
							}
						}
					}
				}
			}
		}
	}
}

func TestRunPassesOnPanics(t *testing.T) {
	p := New(2)
	for range 3 {
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Fatalf("recovered %v", r)
				}
			}()
			p.Run(10, func(i, _ int) {
				if i == 3 {
					panic("boom")
				}
			})
		}()
		done := make([]int, 100)
		p.Run(len(done), func(i, _ int) { done[i]++ })
		for i, v := range done {
			if v != 1 {
				t.Fatalf("task %d ran %d times", i, v)
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	const n = 300
	p := New(2)
	a, b, c := factorOf(n, n, 1), random(n*n, 2), make([]float64, n*n)
	spd := definite(n, 1)
	x, y := random(n, 3), make([]float64, n)
	for name, f := range map[string]func(){
		"Gemm":            func() { p.Gemm(false, true, n, n, n, 1, b, n, b, n, 0, c, n) },
		"Gram":            func() { p.Gram(n, n, b, n, x, c, n) },
		"Gemv":            func() { p.Gemv(true, n, n, 1, b, n, x, 0, y) },
		"TrsmLeft":        func() { p.TrsmLeft(true, n, 10, a, n, c, n) },
		"Cholesky":        func() { copy(c, spd); p.Cholesky(n, c, n) },
		"CholeskyInverse": func() { p.CholeskyInverse(n, a, n, c, n) },
		"Exp":             func() { Exp(y, x) },
		"Dot":             func() { y[0] = Dot(x, x) },
	} {
		// Go may need a new goroutine structure now and then.
		if v := testing.AllocsPerRun(20, f); v >= 1 {
			t.Errorf("%s: %v allocations a call", name, v)
		}
	}
}
