package kernel

import (
	"math"
	"testing"
)

// U⁻¹ applied by each solver, and the inverse, must undo multiplication by the
// factor that Cholesky found: the residual of a backward stable solver is a
// small multiple of n times the rounding unit.
func TestCholeskySolveInverse(t *testing.T) {
	p := New(1)
	for _, n := range []int{0, 1, 2, 7, 24, 33, 70} {
		x := random((n+5)*max(n, 1), uint64(n))
		g := make([]float64, n*n)
		p.Gram(n+5, n, x, max(n, 1), nil, g, max(n, 1))
		for i := range n {
			g[i*n+i]++
		}
		u := append([]float64(nil), g...)
		if pivot, ok := p.Cholesky(n, u, max(n, 1)); !ok || pivot != n {
			t.Fatalf("n=%d: pivot %d, ok %v", n, pivot, ok)
		}
		inv := make([]float64, n*n)
		p.CholeskyInverse(n, u, max(n, 1), inv, max(n, 1))
		Symmetrize(n, g, max(n, 1))
		id := make([]float64, n*n)
		p.Gemm(false, false, n, n, n, 1, g, max(n, 1), inv, max(n, 1), 0, id, max(n, 1))
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(id[i*n+j]-want) > 1e-10 {
					t.Fatalf("n=%d: A·A⁻¹[%d,%d] = %g", n, i, j, id[i*n+j])
				}
			}
		}
	}
}
