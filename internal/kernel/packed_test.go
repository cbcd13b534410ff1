package kernel

import (
	"fmt"
	"testing"
)

// A product with a packed right-hand side has the bits of Gemm, whether it was
// packed elsewhere or where it lay, from its first column or a later one.
func TestGemmPacked(t *testing.T) {
	for _, isa := range isas() {
		for _, threads := range []int{1, 3} {
			p := NewISA(threads, isa)
			for _, s := range []struct{ m, n, k, from, ldb int }{
				{1, 1, 1, 0, 1}, {5, 7, 3, 2, 9}, {8, 24, 256, 0, 24}, {33, 50, 300, 0, 50}, {33, 50, 300, 25, 75},
				{64, 71, 600, 0, 71}, {64, 72, 600, 5, 77}, {200, 301, 600, 0, 301}, {200, 301, 600, 30, 331},
				{3, sideMax + 30, 40, 0, sideMax + 30}, {0, 4, 4, 0, 4}, {4, 0, 4, 0, 4}, {4, 4, 0, 0, 4},
			} {
				for _, transA := range []bool{false, true} {
					name := fmt.Sprintf("%v threads=%d %+v trans=%v", isa, threads, s, transA)
					lda := s.k + 1
					if transA {
						lda = s.m + 1
					}
					a := random((max(s.m, s.k)+1)*lda, 1)
					b := random(s.k*s.ldb, 2)
					want, got := random(s.m*s.n, 3), random(s.m*s.n, 3)
					var right []float64
					if s.k > 0 {
						right = b[s.from:]
					}
					p.Gemm(transA, false, s.m, s.n, s.k, -2, a, lda, right, s.ldb, 0.5, want, s.n)

					apart := p.Pack(s.k, s.n, right, s.ldb, make([]float64, p.PackedLen(s.k, s.n)))
					p.GemmPacked(transA, s.m, -2, a, lda, apart, 0.5, got, s.n)
					if i := sameBits(got, want); i >= 0 {
						t.Fatalf("%s: packed elsewhere, element %d: got %v, want %v", name, i, got[i], want[i])
					}

					const beyond = 7
					place := random(max(len(b), p.PackedLen(s.k, s.n))+beyond, 4)
					rest := append([]float64(nil), place...)
					copy(place, b)
					right = nil
					if s.k > 0 {
						right = place[s.from:]
					}
					within := p.Pack(s.k, s.n, right, s.ldb, place)
					copy(got, random(s.m*s.n, 3))
					p.GemmPacked(transA, s.m, -2, a, lda, within, 0.5, got, s.n)
					if i := sameBits(got, want); i >= 0 {
						t.Fatalf("%s: packed in place, element %d: got %v, want %v", name, i, got[i], want[i])
					}
					end := len(place) - beyond
					if i := sameBits(place[end:], rest[end:]); i >= 0 {
						t.Fatalf("%s: element %d beyond the packed matrix was overwritten", name, i)
					}
				}
			}
		}
	}
}

// The same for float32 storage.
func TestGemmPacked32(t *testing.T) {
	for _, isa := range isas() {
		p := NewISA(2, isa)
		for _, s := range []struct{ m, n, k, ldb int }{
			{1, 1, 1, 1}, {5, 7, 3, 9}, {8, 48, 256, 48}, {33, 50, 300, 50}, {64, 71, 600, 75}, {200, 301, 600, 301}, {0, 4, 4, 4}, {4, 0, 4, 4}, {4, 4, 0, 4},
		} {
			name := fmt.Sprintf("%v %+v", isa, s)
			a, b := narrow(random((s.m+1)*(s.k+1), 1)), narrow(random(s.k*s.ldb, 2))
			want, got := random(s.m*s.n, 3), random(s.m*s.n, 3)
			p.float32s().multiply(product[float32]{
				m: s.m, n: s.n, k: s.k, alpha: -2, a: a, lda: s.k + 1, b: b, ldb: s.ldb, beta: 0.5, c: want, ldc: s.n,
			})

			apart := p.Pack32(s.k, s.n, b, s.ldb, make([]float32, p.PackedLen32(s.k, s.n)))
			p.GemmPacked32(false, s.m, -2, a, s.k+1, apart, 0.5, got, s.n)
			if i := sameBits(got, want); i >= 0 {
				t.Fatalf("%s: packed elsewhere, element %d: got %v, want %v", name, i, got[i], want[i])
			}

			place := make([]float32, max(len(b), p.PackedLen32(s.k, s.n)))
			copy(place, b)
			within := p.Pack32(s.k, s.n, place, s.ldb, place)
			copy(got, random(s.m*s.n, 3))
			p.GemmPacked32(false, s.m, -2, a, s.k+1, within, 0.5, got, s.n)
			if i := sameBits(got, want); i >= 0 {
				t.Fatalf("%s: packed in place, element %d: got %v, want %v", name, i, got[i], want[i])
			}
		}
	}
}

func TestPackedRefusals(t *testing.T) {
	if Detected() == PureGo {
		t.Skip("one instruction set only")
	}
	defer func() {
		if r := recover(); r != "kernel: GemmPacked B: packed for another instruction set" {
			t.Fatalf("got %v", r)
		}
	}()
	p, q := New(1), NewISA(1, PureGo)
	x := []float64{1}
	q.GemmPacked(false, 1, 1, x, 1, p.Pack(1, 1, x, 1, make([]float64, p.PackedLen(1, 1))), 0, x, 1)
}

// BenchmarkGemmPacked is a block of 512 rows times a square matrix, packed
// once, and for comparison packed for every block.
func BenchmarkGemmPacked(b *testing.B) {
	const m = 512
	for _, n := range []int{500, 1000, 2000} {
		x, y, z := random(m*n, 1), random(n*n, 2), make([]float64, m*n)
		work := 2 * float64(m) * float64(n) * float64(n)
		eachPool(b, fmt.Sprintf("once/n=%d", n), func(b *testing.B, p *Pool) {
			packed := p.Pack(n, n, y, n, make([]float64, p.PackedLen(n, n)))
			rate(b, work, "GF/s", func() { p.GemmPacked(false, m, 1, x, n, packed, 0, z, n) })
		})
		eachPool(b, fmt.Sprintf("each/n=%d", n), func(b *testing.B, p *Pool) {
			rate(b, work, "GF/s", func() { p.Gemm(false, false, m, n, n, 1, x, n, y, n, 0, z, n) })
		})
	}
}
