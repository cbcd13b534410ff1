package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// isas are the instruction sets this machine can test.
func isas() []ISA {
	var s []ISA
	for i := PureGo; i <= detected; i++ {
		s = append(s, i)
	}
	return s
}

// random returns n normal values that start off a cache line.
func random(n int, seed uint64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n+1)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x[1:]
}

// stride thins out the sizes of the exhaustive tests but in a study; it shares no
// factor with a tile's width.
func stride() int {
	if !study.Long() {
		return 5
	}
	return 1
}

// sameBits says whether two slices are equal bit by bit, NaN included.
func sameBits(x, y []float64) int {
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			return i
		}
	}
	return -1
}

// chain is the definition of one element of a product: per block of depth
// terms one chain of fused multiply-adds, added to c by one more.
func chain[T float](k int, alpha, beta, c float64, x, y func(l int) T) float64 {
	switch {
	case beta == 0:
		c = 0
	case beta != 1:
		c *= beta
	}
	for l0 := 0; l0 < k; l0 += depth {
		var s T
		for l := l0; l < min(k, l0+depth); l++ {
			s = fma(x(l), y(l), s)
		}
		if beta == 0 && l0 == 0 {
			c = alpha * float64(s)
		} else {
			c = math.FMA(alpha, float64(s), c)
		}
	}
	return c
}

// fma rounds once for float64. For float32 the float64 sum of the exact product and the
// addend can round twice only when it lies within 2⁻⁵³ of a tie; the data of
// the tests are short fractions, for which it is exact.
func fma[T float](x, y, z T) T {
	if _, ok := any(x).(float32); ok {
		return T(float64(x)*float64(y) + float64(z))
	}
	return T(math.FMA(float64(x), float64(y), float64(z)))
}

// pick reads op(A)[i, l].
func pick[T float](trans bool, a []T, ld, i, l int) T {
	if trans {
		return a[l*ld+i]
	}
	return a[i*ld+l]
}

// Assembly must equal the definition bit by bit. The plain Go twin may round
// each product (amd64) or fuse it (arm64): its error is at most (k+2)ε Σ|xy|,
// here bounded by 1e-13 of values near one.
func closeEnough(isa ISA, got, want float64) bool {
	if isa == PureGo {
		return got == want || math.Abs(got-want) <= 1e-13*(1+math.Abs(want)) || got != got && want != want
	}
	return math.Float64bits(got) == math.Float64bits(want) || got == want || got != got && want != want
}

func checkGemm(t *testing.T, p *Pool, isa ISA, transA, transB bool, m, n, k int, alpha, beta float64) {
	t.Helper()
	rowsA, colsA, rowsB, colsB := m, k, k, n
	if transA {
		rowsA, colsA = k, m
	}
	if transB {
		rowsB, colsB = n, k
	}
	lda, ldb, ldc := colsA+3, colsB+1, n+2
	a, b, c := random(rowsA*lda, 1), random(rowsB*ldb, 2), random(m*ldc, 3)
	want := append([]float64(nil), c...)
	if beta == 0 {
		for i := range m {
			for j := range n {
				c[i*ldc+j] = math.NaN()
			}
		}
	}
	for i := range m {
		for j := range n {
			want[i*ldc+j] = chain(k, alpha, beta, want[i*ldc+j],
				func(l int) float64 { return pick(transA, a, lda, i, l) },
				func(l int) float64 { return pick(!transB, b, ldb, j, l) })
		}
	}
	p.Gemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	for i := range c {
		if !closeEnough(isa, c[i], want[i]) {
			t.Fatalf("%v Gemm(%v, %v, %d, %d, %d, %g, %g) at (%d, %d): got %v, want %v",
				isa, transA, transB, m, n, k, alpha, beta, i/ldc, i%ldc, c[i], want[i])
		}
	}
}

func TestGemm(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(1, isa)
		for q := range 4 {
			for s := 0; s < 71; s += stride() {
				// Each dimension runs through 0…70 while the others take edges.
				for _, o := range []int{1, 8, 25, 33} {
					checkGemm(t, p, isa, q&1 != 0, q&2 != 0, s, o, 9, 1, 1)
					checkGemm(t, p, isa, q&1 != 0, q&2 != 0, o, s, 16, -1, 0)
					checkGemm(t, p, isa, q&1 != 0, q&2 != 0, o, 26, s, 0.5, 1)
				}
			}
			checkGemm(t, p, isa, q&1 != 0, q&2 != 0, 401, 50, 515, 1, 0.25)
			checkGemm(t, p, isa, q&1 != 0, q&2 != 0, 9, sideMax+21, 20, 1, 0)
			checkGemm(t, p, isa, q&1 != 0, q&2 != 0, sideMax+21, 9, 20, 1, 2)
		}
	}
}

func checkGram(t *testing.T, p *Pool, isa ISA, n, d int, weighted bool) {
	t.Helper()
	ldx, ldg := d+2, d+1
	x, g := random(n*ldx+1, 4), random(d*ldg, 5)
	var w []float64
	if weighted {
		w = random(n, 6)
	}
	want := append([]float64(nil), g...)
	for i := range d {
		for j := i; j < d; j++ {
			want[i*ldg+j] = chain(n, 1, 1, want[i*ldg+j], func(l int) float64 {
				if weighted {
					return w[l] * x[l*ldx+i]
				}
				return x[l*ldx+i]
			}, func(l int) float64 { return x[l*ldx+j] })
		}
	}
	p.Gram(n, d, x, ldx, w, g, ldg)
	for i := range g {
		if !closeEnough(isa, g[i], want[i]) {
			t.Fatalf("%v Gram(%d, %d, weighted %v) at (%d, %d): got %v, want %v", isa, n, d, weighted, i/ldg, i%ldg, g[i], want[i])
		}
	}
}

func TestGram(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(1, isa)
		for d := 0; d < 71; d += stride() {
			for _, weighted := range []bool{false, true} {
				checkGram(t, p, isa, d*7%41, d, weighted)
			}
		}
		for n := 0; n < 71; n += stride() {
			checkGram(t, p, isa, n, 31, n%2 == 0)
		}
		checkGram(t, p, isa, 1030, 49, true)
		if study.Long() {
			checkGram(t, p, isa, 3, sideMax+5, true) // several blocks of G
		}
	}
}

func TestSyrk(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(1, isa)
		check := func(n, k int, alpha, beta float64, weighted bool) {
			lda, ldc := k+1, n+3
			a, c, w := random(n*lda+1, 7), random(n*ldc, 8), random(k, 9)
			if !weighted {
				w = nil
			}
			want := append([]float64(nil), c...)
			for i := range n {
				for j := i; j < n; j++ {
					want[i*ldc+j] = chain(k, alpha, beta, want[i*ldc+j],
						func(l int) float64 {
							if weighted {
								return a[i*lda+l] * w[l]
							}
							return a[i*lda+l]
						}, func(l int) float64 { return a[j*lda+l] })
				}
			}
			p.SyrkWeighted(n, k, alpha, a, lda, w, beta, c, ldc)
			for i := range c {
				if !closeEnough(isa, c[i], want[i]) {
					t.Fatalf("%v SyrkWeighted(%d, %d, %g, %g) at (%d, %d): got %v, want %v", isa, n, k, alpha, beta, i/ldc, i%ldc, c[i], want[i])
				}
			}
		}
		for s := 0; s < 71; s += stride() {
			check(s, 13, 1, 0, s%2 == 0)
			check(27, s, -2, 1, s%2 != 0)
		}
		check(130, 700, 1, 0.5, false)
		check(130, 700, 1, 0.5, true)
	}
}

// narrow rounds to float32 with few enough bits that a product and its sum with
// another are exact in float64, so that the reference rounds as the hardware does.
func narrow(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(math.Round(v*1024) / 1024)
	}
	return y
}

// float32 sums of a block round at 2⁻²⁴ of values up to 2⁶: 1e-4 would already
// be a wrong term. Where the tile is fused it must equal the definition.
func checkNarrow(isa ISA, got, want float64) bool {
	if isa == PureGo {
		return math.Abs(got-want) <= 1e-3
	}
	return got == want
}

func TestFloat32(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(2, isa)
		for _, size := range [][3]int{{0, 1, 1}, {1, 1, 1}, {8, 48, 5}, {9, 49, 33}, {70, 51, 300}, {17, 100, 515}} {
			m, n, k := size[0], size[1], size[2]
			for q := range 4 {
				transA, transB := q&1 != 0, q&2 != 0
				lda, ldb, ldc := max(m, k)+1, max(n, k)+3, n+2
				a, b, c := narrow(random(max(m, k)*lda, 1)), narrow(random(max(n, k)*ldb, 2)), random(m*ldc, 3)
				want := append([]float64(nil), c...)
				p.float32s().multiply(product[float32]{
					transA: transA, transB: transB, m: m, n: n, k: k, alpha: -0.5, a: a, lda: lda, b: b, ldb: ldb, beta: 1, c: c, ldc: ldc,
				})
				for i := range m {
					for j := range n {
						v := chain(k, -0.5, 1, want[i*ldc+j], func(l int) float32 { return pick(transA, a, lda, i, l) },
							func(l int) float32 { return pick(!transB, b, ldb, j, l) })
						if !checkNarrow(isa, c[i*ldc+j], v) {
							t.Fatalf("%v product(%v, %v, %d, %d, %d) at (%d, %d): got %v, want %v", isa, transA, transB, m, n, k, i, j, c[i*ldc+j], v)
						}
					}
				}
			}
			x, w, g := narrow(random(k*(n+1), 4)), make([]float64, k), random(n*n, 5)
			for i := range w {
				w[i] = float64(i%3) / 2
			}
			want := append([]float64(nil), g...)
			p.float32s().multiply(product[float32]{
				transA: true, upper: true, same: true, m: n, n: n, k: k, alpha: 1, a: x, lda: n + 1, b: x, ldb: n + 1, w: w, beta: 1, c: g, ldc: n,
			})
			for i := range n {
				for j := i; j < n; j++ {
					v := chain(k, 1, 1, want[i*n+j], func(l int) float32 { return float32(w[l]) * x[l*(n+1)+i] },
						func(l int) float32 { return x[l*(n+1)+j] })
					if !checkNarrow(isa, g[i*n+j], v) {
						t.Fatalf("%v Gram(%d, %d) at (%d, %d): got %v, want %v", isa, k, n, i, j, g[i*n+j], v)
					}
				}
				for j := range i {
					if g[i*n+j] != want[i*n+j] {
						t.Fatalf("%v Gram(%d, %d) wrote (%d, %d)", isa, k, n, i, j)
					}
				}
			}
		}
	}
}

// The same bytes at any number of workers, and whether a tall block comes in
// one call or in pieces of a multiple of the block depth.
func TestWorkersDoNotChangeBits(t *testing.T) {
	const n, d = 3*depth + 77, 333
	x, w := random(n*d, 1), random(n, 2)
	for _, isa := range isas() {
		var want, wantC []float64
		for _, threads := range []int{1, 2, 3, 5} {
			p := NewISA(threads, isa)
			g := make([]float64, d*d)
			p.Gram(n, d, x, d, w, g, d)
			c := make([]float64, d*d)
			p.Gemm(true, false, d, d, n, 1.5, x, d, x, d, 0, c, d)
			if want == nil {
				want, wantC = g, c
			}
			if i := sameBits(g, want); i >= 0 {
				t.Fatalf("%v: Gram with %d workers differs at %d", isa, threads, i)
			}
			if i := sameBits(c, wantC); i >= 0 {
				t.Fatalf("%v: Gemm with %d workers differs at %d", isa, threads, i)
			}
		}
		p := NewISA(2, isa)
		g := make([]float64, d*d)
		p.Gram(depth, d, x, d, w, g, d)
		p.Gram(n-depth, d, x[depth*d:], d, w[depth:], g, d)
		if i := sameBits(g, want); i >= 0 {
			t.Fatalf("%v: Gram in two pieces differs at %d", isa, i)
		}
	}
}

// The same bytes at any number of workers where whole blocks of the summed index are their tasks, in several rounds of
// partial sums, too.
func TestSmallProductsOfManyRows(t *testing.T) {
	const m, n, rounds = 127, 130, (partialsMost/(127*130)+3)*depth + 77
	x, y, w, from := random(rounds*m, 1), random(rounds*n, 2), random(rounds, 3), random(m*n, 4)
	z := make([]float32, len(x))
	for i, v := range x {
		z[i] = float32(v)
	}
	check := func(name string, isa ISA, multiply func(p *Pool, c []float64)) {
		t.Helper()
		var want []float64
		for _, threads := range []int{1, 2, 3, 5} {
			c := slices.Clone(from)
			if multiply(NewISA(threads, isa), c); want == nil {
				want = c
			}
			if i := sameBits(c, want); i >= 0 {
				t.Errorf("%v: %s with %d workers differs at %d", isa, name, threads, i)
			}
		}
	}
	for _, isa := range isas() {
		m, n, lengths := m, n, []int{10 * depth, rounds}
		if isa != detected {
			m, n, lengths = 23, 29, []int{12*depth + 5}
		}
		for _, k := range lengths {
			for _, q := range [][2]float64{{1, 0}, {1, 1}, {-1, 0.3}} {
				check(fmt.Sprintf("Gemm over %d, alpha and beta %v", k, q), isa, func(p *Pool, c []float64) {
					p.Gemm(true, false, m, n, k, q[0], x, m, y, n, q[1], c, n)
				})
			}
			check(fmt.Sprintf("Gemm of rows over %d", k), isa, func(p *Pool, c []float64) { p.Gemm(false, true, m, n, k, 1, x, k, y, k, 1, c, n) })
			check(fmt.Sprintf("Gram over %d", k), isa, func(p *Pool, c []float64) { p.Gram(k, m, x, m, w[:k], c, n) })
			if k == rounds {
				continue
			}
			// What is not exact times a tile must be rounded the same, and what a pool summed before is not in a Gram.
			check("Gemm with alpha 0.3", isa, func(p *Pool, c []float64) {
				p.Gemm(true, false, m, n, k, 0.3, x, m, y, n, 1, c, n)
			})
			check("Gram after Gemm", isa, func(p *Pool, c []float64) {
				p.Gemm(true, false, m, m, k, 1, x, m, x, m, 0, make([]float64, m*m), m)
				p.Gram(k, m, x, m, nil, c, n)
			})
			check(fmt.Sprintf("Gram of float32 over %d", k), isa, func(p *Pool, c []float64) {
				p.float32s().multiply(product[float32]{transA: true, upper: true, same: true, m: m, n: m, k: k, alpha: 1, a: z, lda: m, b: z, ldb: m, beta: 1, c: c, ldc: n})
			})
		}
	}
}

// NaN and infinity must reach exactly the elements that the definition gives.
func TestGemmNonFinite(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(1, isa)
		const m, n, k = 19, 29, 11
		a, b, c := random(m*k, 1), random(k*n, 2), make([]float64, m*n)
		a[3*k+2] = math.NaN()
		a[7*k+5] = math.Inf(1)
		b[4*n+26] = math.Inf(-1)
		p.Gemm(false, false, m, n, k, 1, a, k, b, n, 0, c, n)
		for i := range m {
			for j := range n {
				want := chain(k, 1, 0, 0, func(l int) float64 { return a[i*k+l] }, func(l int) float64 { return b[l*n+j] })
				if !closeEnough(isa, c[i*n+j], want) {
					t.Fatalf("%v: C[%d, %d] = %v, want %v", isa, i, j, c[i*n+j], want)
				}
			}
		}
	}
}

func ExamplePool_Gram() {
	x := []float64{1, 2, 3, 4, 5, 6} // three rows of two
	g := make([]float64, 4)
	New(1).Gram(3, 2, x, 2, nil, g, 2)
	fmt.Println(g)
	// Output: [35 44 0 56]
}

// A product with one row has the bits that the row has among others.
func TestRowProductIsARowOfTheProduct(t *testing.T) {
	for _, isa := range isas() {
		p := New(1)
		p.isa = isa
		for _, size := range [][2]int{{1, 1}, {3, 2}, {60, 60}, {17, 255}, {256, 256}, {31, 257}, {250, 1001}} {
			n, k := size[0], size[1]
			ld := n + 3
			a, b := random(2*k, 1), random(k*ld, 2)
			both, one := make([]float64, 2*n), random(n, 3)
			p.Gemm(false, false, 2, n, k, 1, a, k, b, ld, 0, both, n)
			p.Gemm(false, false, 1, n, k, 1, a, k, b, ld, 0, one, n)
			if i := sameBits(one, both[:n]); i >= 0 {
				t.Errorf("%v, %d×%d: element %d is %v alone and %v with another row", isa, k, n, i, one[i], both[i])
			}
			// And a product with one column those of a column.
			columns := make([]float64, 2*n)
			p.Gemm(false, true, n, 2, k, 1, random(n*(k+3), 2), k+3, a, k, 0, columns, 2)
			p.Gemm(false, true, n, 1, k, 1, random(n*(k+3), 2), k+3, a, k, 0, one, 1)
			for i := range n {
				if one[i] != columns[2*i] {
					t.Errorf("%v, %d×%d: element %d is %v alone and %v with another column", isa, n, k, i, one[i], columns[2*i])
				}
			}
		}
	}
}

// Columns of an upper triangular matrix have the bits that Gemm gives with the zeros below them, and in packing are not
// read far below the diagonal.
func TestGemmUpper(t *testing.T) {
	for _, isa := range isas() {
		for _, threads := range []int{1, 3} {
			p := NewISA(threads, isa)
			for _, s := range []struct{ m, n, k int }{
				{1, 1, 1}, {1, 60, 60}, {1, 13, 70}, {1, 256, 600}, {1, 800, 800}, {2, 5, 5}, {7, 50, 50}, {33, 48, 300}, {64, 71, 600}, {300, 700, 700},
				{0, 4, 4}, {4, 0, 4},
			} {
				lda, ldb := s.k+1, s.n+2
				a, b := random((s.m+1)*lda, 1), random(s.k*ldb, 2)
				diagonal := s.k - s.n
				for i := range s.k {
					clear(b[i*ldb : i*ldb+min(s.n, max(0, i-diagonal))])
				}
				want, got := make([]float64, s.m*s.n), random(s.m*s.n, 3)
				p.Gemm(false, false, s.m, s.n, s.k, 1, a, lda, b, ldb, 0, want, s.n)
				p.GemmUpper(s.m, s.n, s.k, a, lda, b, ldb, got, s.n)
				if i := sameBits(got, want); i >= 0 {
					t.Fatalf("%v threads=%d %+v: element %d is %v, and with zeros %v", isa, threads, s, i, got[i], want[i])
				}
				if s.m == 0 {
					continue
				}
				for i := range s.k { // far below the diagonal
					for j := range min(s.n, max(0, i-diagonal-depth)) {
						b[i*ldb+j] = math.NaN()
					}
				}
				p.GemmUpper(s.m, s.n, s.k, a, lda, b, ldb, got, s.n)
				if i := sameBits(got, want); i >= 0 {
					t.Fatalf("%v threads=%d %+v: element %d is %v with what is not a number below the diagonal", isa, threads, s, i, got[i])
				}
			}
		}
	}
}

// The sums of eight rows have the bits of the multiply-adds in order.
func TestRowSums(t *testing.T) {
	for _, isa := range isas() {
		for n := range 40 {
			x, a := random(n, 1), random(columnRows*(n+1), 2)
			var rows [columnRows][]float64
			for r := range rows {
				rows[r] = a[r*(n+1) : r*(n+1)+n]
			}
			sums := [columnRows]float64{1, 2, 3, 4, 5, 6, 7, 8}
			rowSumsOn(isa, x, &rows, &sums)
			for r, row := range rows {
				want := 0.0
				for j, v := range x {
					want = math.FMA(v, row[j], want)
				}
				if sums[r] != want {
					t.Fatalf("%v: the sum of %d products of row %d is %v, want %v", isa, n, r, sums[r], want)
				}
			}
		}
	}
}

// TestGemmColumn: a product with one column has the bits of that column among others, whatever is added or multiplied.
func TestGemmColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, shape := range [][2]int{{1, 1}, {7, 5}, {8, 256}, {9, 257}, {200, 600}} {
		m, k := shape[0], shape[1]
		a, b := make([]float64, m*(k+1)), make([]float64, 2*k)
		for _, x := range [][]float64{a, b} {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
		}
		column := make([]float64, k)
		for i := range column {
			column[i] = b[2*i]
		}
		for _, alpha := range []float64{1, 2, -0.3} {
			for _, beta := range []float64{0, 1, 0.5} {
				p := New(1)
				two, one := make([]float64, 2*m), make([]float64, m)
				for i := range one {
					one[i] = rng.NormFloat64()
					if two[2*i] = one[i]; beta == 0 {
						one[i], two[2*i] = math.NaN(), math.NaN()
					}
				}
				turned := append([]float64{}, one...)
				p.Gemm(false, false, m, 2, k, alpha, a, k+1, b, 2, beta, two, 2)
				p.Gemm(false, false, m, 1, k, alpha, a, k+1, column, 1, beta, one, 1)
				p.Gemm(false, true, m, 1, k, alpha, a, k+1, column, k, beta, turned, 1)
				for i := range one {
					if one[i] != two[2*i] || turned[i] != two[2*i] {
						t.Fatalf("%d×%d, alpha %g, beta %g, row %d: %v and %v alone, %v beside another", m, k, alpha, beta, i, one[i], turned[i], two[2*i])
					}
				}
			}
		}
	}
}
