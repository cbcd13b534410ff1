package kernel

import (
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// rate runs f until the benchmark has enough turns and reports the best turn:
// the figure least disturbed by other load on the machine.
func rate(b *testing.B, work float64, unit string, f func()) {
	f() // buffers grow on the first call
	b.ReportAllocs()
	best := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	b.ReportMetric(work/best.Seconds()/1e9, unit)
	b.ReportMetric(0, "ns/op")
}

// eachPool runs a benchmark for every instruction set and one or two workers.
func eachPool(b *testing.B, name string, f func(b *testing.B, p *Pool)) {
	for i := len(isas()) - 1; i >= 0; i-- {
		for _, threads := range []int{1, 2} {
			isa := ISA(i)
			b.Run(fmt.Sprintf("%s/%v/threads=%d", name, isa, threads), func(b *testing.B) { f(b, NewISA(threads, isa)) })
		}
	}
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{100, 500, 1000, 2000} {
		x, y, z := random(n*n, 1), random(n*n, 2), make([]float64, n*n)
		work := 2 * float64(n) * float64(n) * float64(n)
		for q, name := range []string{"NN", "TN", "NT", "TT"} {
			if q != 0 && n != 1000 {
				continue
			}
			eachPool(b, fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B, p *Pool) {
				rate(b, work, "GF/s", func() { p.Gemm(q&1 != 0, q&2 != 0, n, n, n, 1, x, n, y, n, 0, z, n) })
			})
		}
		b.Run(fmt.Sprintf("NN/n=%d/gonum", n), func(b *testing.B) {
			rate(b, work, "GF/s", func() {
				gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, x, n, y, n, 0, z, n)
			})
		})
	}
}

func BenchmarkGram(b *testing.B) {
	const n = 100_000
	for _, d := range []int{10, 30, 100, 250, 500, 1000} {
		x, w, g := random(n*d, 1), random(n, 2), make([]float64, d*d)
		for _, weighted := range []bool{false, true} {
			eachPool(b, fmt.Sprintf("d=%d/weighted=%v", d, weighted), func(b *testing.B, p *Pool) {
				w := w
				if !weighted {
					w = nil
				}
				rate(b, n*float64(d)*float64(d), "GF/s", func() { p.Gram(n, d, x, d, w, g, d) })
			})
		}
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{50, 100, 500, 1000, 2000} {
		x, a, c := random(n*n, 1), make([]float64, n*n), make([]float64, n*n)
		New(0).Gram(n, n, x, n, nil, a, n)
		for i := range n {
			a[i*n+i] += float64(n)
		}
		work := float64(n) * float64(n) * float64(n) / 3
		eachPool(b, fmt.Sprintf("n=%d", n), func(b *testing.B, p *Pool) {
			rate(b, work, "GF/s", func() {
				copy(c, a)
				p.Cholesky(n, c, n)
			})
		})
		b.Run(fmt.Sprintf("n=%d/gonum", n), func(b *testing.B) {
			rate(b, work, "GF/s", func() {
				copy(c, a)
				lapack.Implementation{}.Dpotrf(blas.Upper, n, c, n)
			})
		})
	}
}

func BenchmarkCholeskyInverse(b *testing.B) {
	for _, n := range []int{100, 500, 1000, 2000} {
		u, c := factorOf(n, n, 1), make([]float64, n*n)
		eachPool(b, fmt.Sprintf("n=%d", n), func(b *testing.B, p *Pool) {
			rate(b, 2*float64(n)*float64(n)*float64(n)/3, "GF/s", func() { p.CholeskyInverse(n, u, n, c, n) })
		})
	}
}

func BenchmarkTrsm(b *testing.B) {
	for _, n := range []int{100, 1000} {
		u, x, y := factorOf(n, n, 1), random(n*n, 2), make([]float64, n*n)
		for q, name := range []string{"left", "leftT", "right", "rightT"} {
			eachPool(b, fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B, p *Pool) {
				rate(b, float64(n)*float64(n)*float64(n), "GF/s", func() {
					copy(y, x)
					if q < 2 {
						p.TrsmLeft(q == 1, n, n, u, n, y, n)
					} else {
						p.TrsmRight(q == 3, n, n, u, n, y, n)
					}
				})
			})
		}
	}
}

func BenchmarkElementwise(b *testing.B) {
	const n = 4096
	x, y, z := random(n, 1), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] *= 3
	}
	for i := len(isas()) - 1; i >= 0; i-- {
		isa := ISA(i)
		for f, name := range []string{"Exp", "Log1pExp", "Logistic", "NormalCDF", "MillsRatio"} {
			b.Run(fmt.Sprintf("%s/%v", name, isa), func(b *testing.B) {
				perValue(b, n, func() { applyOn(isa, unary(f), name, y, x) })
			})
		}
		b.Run(fmt.Sprintf("SinCos/%v", isa), func(b *testing.B) {
			perValue(b, n, func() { sinCosOn(isa, y, z, x) })
		})
	}
}

// perValue reports the time a value takes, the best of all turns.
func perValue(b *testing.B, n int, f func()) {
	b.ReportAllocs()
	best := time.Duration(1 << 62)
	for b.Loop() {
		start := time.Now()
		for range 4 {
			f()
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(best.Nanoseconds())/float64(4*n), "ns/value")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkLevel1(b *testing.B) {
	for _, n := range []int{100, 10_000, 10_000_000} {
		x, y := random(n, 1), random(n, 2)
		for i := len(isas()) - 1; i >= 0; i-- {
			isa := ISA(i)
			b.Run(fmt.Sprintf("Dot/n=%d/%v", n, isa), func(b *testing.B) {
				rate(b, 16*float64(n), "GB/s", func() { x[0] = dotOn(isa, x, y) })
			})
			b.Run(fmt.Sprintf("Axpy/n=%d/%v", n, isa), func(b *testing.B) {
				rate(b, 24*float64(n), "GB/s", func() { axpyOn(isa, 1e-9, x, y) })
			})
			b.Run(fmt.Sprintf("Sum/n=%d/%v", n, isa), func(b *testing.B) {
				rate(b, 8*float64(n), "GB/s", func() { x[0] = sumOn(isa, x) })
			})
		}
	}
}

func BenchmarkGemv(b *testing.B) {
	for _, size := range [][2]int{{500, 500}, {100_000, 100}, {4000, 4000}} {
		m, n := size[0], size[1]
		a, x, y := random(m*n, 1), random(m+n, 2), make([]float64, m+n)
		for _, trans := range []bool{false, true} {
			eachPool(b, fmt.Sprintf("%dx%d/trans=%v", m, n, trans), func(b *testing.B, p *Pool) {
				rate(b, 8*float64(m)*float64(n), "GB/s", func() { p.Gemv(trans, m, n, 1, a, n, x, 0, y) })
			})
		}
	}
}
