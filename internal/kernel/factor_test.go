package kernel

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// definite returns a symmetric positive definite matrix in the upper triangle,
// with condition number of order ten, and NaN below.
func definite(n int, seed uint64) []float64 {
	a := make([]float64, n*n)
	New(1).Gram(n, n, random(n*n, seed), n, nil, a, n)
	for i := range n {
		a[i*n+i] += float64(n)
		for j := range i {
			a[i*n+j] = math.NaN()
		}
	}
	return a
}

// Sizes with one to five block rows, on and off their bounds, and workers that
// look ahead: the bits are those of one worker, and UᵀUx is Ax up to a few n
// roundings of ‖A‖‖x‖ (Higham 2002, Theorem 10.3). ‖A‖ is of order 5n.
func TestFactorsOfManyWorkers(t *testing.T) {
	sizes := []int{240, 321, 470, 721}
	switch {
	case testing.Short():
		sizes = []int{321} // blocks and a rest, which is what workers can do wrong to each other
	case study.Long():
		sizes = append(sizes, 480, 1003)
	}
	for _, isa := range isas() {
		for _, n := range sizes {
			a := definite(n, 7)
			var factor, inverse []float64
			for _, threads := range []int{1, 2, 3, 5} {
				p := NewISA(threads, isa)
				u, c := append([]float64(nil), a...), make([]float64, n*n)
				if pivot, ok := p.Cholesky(n, u, n); !ok {
					t.Fatalf("%v n=%d threads=%d: pivot %d failed", isa, n, threads, pivot)
				}
				p.CholeskyInverse(n, u, n, c, n)
				if threads > 1 {
					if i := sameBits(u, factor); i >= 0 {
						t.Fatalf("%v n=%d: Cholesky with %d workers differs at (%d, %d)", isa, n, threads, i/n, i%n)
					}
					if i := sameBits(c, inverse); i >= 0 {
						t.Fatalf("%v n=%d: CholeskyInverse with %d workers differs at (%d, %d)", isa, n, threads, i/n, i%n)
					}
					continue
				}
				factor, inverse = u, c
				x := random(n, 8)
				ux, ax, uux := make([]float64, n), make([]float64, n), make([]float64, n)
				for i := range n {
					for j := i; j < n; j++ {
						ux[i] += u[i*n+j] * x[j]
						ax[i] += a[i*n+j] * x[j]
						if j > i {
							ax[j] += a[i*n+j] * x[i]
						}
					}
				}
				for i := range n {
					for j := i; j < n; j++ {
						uux[j] += u[i*n+j] * ux[i]
					}
				}
				for i := range n {
					if !(math.Abs(uux[i]-ax[i]) <= 1e-14*float64(n)*float64(n)) {
						t.Fatalf("%v n=%d: row %d of UᵀUx is %v, of Ax %v", isa, n, i, uux[i], ax[i])
					}
					back := Dot(c[i*n:(i+1)*n], ax)
					if !(math.Abs(back-x[i]) <= 1e-14*float64(n)) {
						t.Fatalf("%v n=%d: element %d of A⁻¹Ax is %v, of x %v", isa, n, i, back, x[i])
					}
				}
			}
		}
	}
}

// The failing pivot is the first one, and no worker waits for it for ever.
func TestFailingPivotOfManyWorkers(t *testing.T) {
	const n = 730
	good := definite(n, 9)
	for _, isa := range isas() {
		for _, threads := range []int{2, 3} {
			p := NewISA(threads, isa)
			for _, bad := range []int{0, 100, 240, 500, n - 1} {
				a := append([]float64(nil), good...)
				a[bad*n+bad] = -1
				if bad < n-1 {
					a[(bad+1)*n+bad+1] = -1
				}
				if pivot, ok := p.Cholesky(n, a, n); ok || pivot != bad {
					t.Fatalf("%v threads=%d: pivot %d, ok %v; want %d", isa, threads, pivot, ok, bad)
				}
			}
		}
	}
}
