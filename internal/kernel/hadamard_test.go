package kernel

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHadamard: whole numbers against the sum over the matrix, whose entry (i, j) is −1 to the number of common ones of
// i and j; and every instruction set against plain Go, to the bit.
func TestHadamard(t *testing.T) {
	rng := rand.New(rand.NewPCG(34, 1))
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64} {
		for _, width := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32} {
			x := make([]float64, n*width)
			for i := range x {
				x[i] = float64(rng.IntN(2001) - 1000)
			}
			want := make([]float64, len(x))
			for i := range n {
				for j := range n {
					for k := range width {
						if bits.OnesCount(uint(i&j))%2 == 1 {
							want[i*width+k] -= x[j*width+k]
						} else {
							want[i*width+k] += x[j*width+k]
						}
					}
				}
			}
			got := append(slices.Clone(x), 77)
			Hadamard(got[:len(x)], n, width)
			if !slices.Equal(got[:len(x)], want) || got[len(x)] != 77 {
				t.Fatalf("%d rows of %d: %v, want %v", n, width, got, want)
			}
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			plain := slices.Clone(x)
			hadamardOn(PureGo, plain, n, width)
			for s := AVX2; s <= detected; s++ {
				other := slices.Clone(x)
				hadamardOn(s, other, n, width)
				if !slices.Equal(other, plain) {
					t.Fatalf("%d rows of %d: %v differs from Go", n, width, s)
				}
			}
		}
	}
	for _, wrong := range [][2]int{{3, 2}, {0, 1}, {4, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d rows of %d in 8 values do not panic", wrong[0], wrong[1])
				}
			}()
			Hadamard(make([]float64, 8), wrong[0], wrong[1])
		}()
	}
}

func BenchmarkHadamard(b *testing.B) {
	for _, n := range []int{64, 512, 4096} {
		for _, width := range []int{8, 16, 32} {
			x := make([]float64, n*width)
			for s := PureGo; s <= detected; s++ {
				b.Run(fmt.Sprintf("%v/%d/%d", s, n, width), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						hadamardOn(s, x, n, width)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(width), "ns/row")
				})
			}
		}
	}
}
