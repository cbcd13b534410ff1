package gauss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Dual is the form by rows. It knows Φ and Λ by K = ΦΛΦᵀ alone.
type Dual struct {
	ws     *credence.Workspace
	n      int
	kernel []float64 // K, the caller's
	roots  []float64 // √G, all of them
	upper  []float64 // U, UᵀU = B
	jitter float64
}

// NewDual returns room for the form of n rows.
func NewDual(ws *credence.Workspace, n int) *Dual {
	return &Dual{ws: ws, n: n, roots: make([]float64, n), upper: make([]float64, n*n)}
}

// Set takes the upper triangle of K, n×n, which must stay until the next Set, and the roots √G of the rows' precisions,
// nil for ones, which it copies. The error is a [*Repeated].
func (f *Dual) Set(kernel, roots []float64) error {
	f.kernel = kernel
	for i := range f.roots {
		f.roots[i] = 1
	}
	copy(f.roots, roots)
	n, pivot := f.n, 0
	f.jitter, pivot = factorise(f.ws.Pool(), n, f.upper, true, func() {
		f.ws.Each(n, func(i int) {
			row, source, r := f.upper[i*n:(i+1)*n], kernel[i*n:(i+1)*n], f.roots[i]
			for j := i; j < n; j++ {
				row[j] = source[j] * (r * f.roots[j])
			}
			row[i]++
		})
	})
	if pivot < 0 {
		return nil
	}
	return &Repeated{Rows: true, Pivot: pivot, Count: n, Twin: -1}
}

// Jitter is what Set added to the diagonal of B, as a share of its mean.
func (f *Dual) Jitter() float64 { return f.jitter }

// LogDet returns log|B| = log|Λ| − log|C|.
func (f *Dual) LogDet() float64 { return LogDeterminant(f.n, f.upper) }

// Upper returns U, UᵀU = B: its own, until the next Set.
func (f *Dual) Upper() []float64 { return f.upper }

// Solve stores Tb in dst, which may be b, and returns bᵀTb.
func (f *Dual) Solve(dst, b []float64) (square float64) {
	for i, r := range f.roots {
		dst[i] = r * b[i]
	}
	f.ws.Pool().TrsmLeft(true, f.n, 1, f.upper, f.n, dst, 1)
	square = kernel.Dot(dst, dst)
	f.ws.Pool().TrsmLeft(false, f.n, 1, f.upper, f.n, dst, 1)
	floats.Mul(dst, f.roots)
	return square
}

// Half turns vectors of n numbers, so many one behind the other, into U⁻ᵀ√G v: their squares are vᵀTv.
func (f *Dual) Half(vectors []float64, count int) {
	n := f.n
	f.ws.Each(count, func(k int) {
		row := vectors[k*n : (k+1)*n]
		roots := f.roots[:len(row)] // which spares the check of every index
		for i := range row {
			row[i] *= roots[i]
		}
	})
	f.ws.Pool().TrsmRight(false, count, n, f.upper, n, vectors, n)
}

// Squares stores vᵀTv of vectors of n numbers, so many one behind the other, which stay as they are.
func (f *Dual) Squares(dst, vectors []float64, count int) {
	f.ws.Pool().SolvedSquares(count, f.n, f.upper, f.n, f.roots, vectors, f.n, dst)
}

// Inverse stores T, n×n.
func (f *Dual) Inverse(dst []float64) {
	n := f.n
	f.ws.Pool().CholeskyInverse(n, f.upper, n, dst, n)
	ScaleSides(f.ws, dst, f.roots)
}

// faint is the precision of a row, in units of that of its prior, below which its variance is K − KTK and not what B⁻¹
// has of 1, where the last digits are all that differs.
const faint = 1e-6

// RowVariances stores φᵀCφ of all rows, diag(K − KTK) = diag(G⁻¹ − G⁻¹TG⁻¹), for what Inverse stored.
func (f *Dual) RowVariances(dst, inverse []float64) {
	n := f.n
	column := make([]float64, n)
	for i, r := range f.roots {
		before := f.kernel[i*n+i]
		if g := r * r; g*before >= faint {
			dst[i] = math.Max(1-inverse[i*n+i]/g, 0) / g
			continue
		}
		for j := range n {
			column[j] = f.kernel[min(i, j)*n+max(i, j)]
		}
		f.Half(column, 1)
		dst[i] = math.Max(before-kernel.Dot(column, column), 0)
	}
}

// Trace returns tr GΦCΦᵀ = n − tr B⁻¹, the number of weights that the rows tell, for what Inverse stored.
func (f *Dual) Trace(inverse []float64) float64 {
	telling, trace := 0, 0.0
	for i, r := range f.roots {
		if g := r * r; g > 0 {
			telling++
			trace += inverse[i*f.n+i] / g
		}
	}
	return float64(telling) - trace
}
