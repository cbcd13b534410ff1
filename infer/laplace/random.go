package laplace

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// random estimates the diagonal of M = (I + BᵀB)⁻¹, B = X̃V^(−½), from products with random signs: H⁻¹ = V^(−½)MV^(−½).
// With fewer rows than columns that is the diagonal of I − M, which has the rank of the rows; see [linop.XDiag].
func (f *fit) random(bends []float64) *marginals {
	d := len(bends)
	b := &whitened{f, make([]float64, d)}
	for j, v := range bends {
		b.root[j] = 1 / math.Sqrt(v)
	}
	estimate, err := linop.XDiag(d, f.config.Vectors, func(k int, dst []float64) {
		rng := credence.Rand(f.config.Seed, credence.LaplaceVariances, uint64(k)+1)
		for j := range dst {
			dst[j] = float64(2*rng.IntN(2) - 1)
		}
	}, b.product)
	if err != nil { // of a context that is never done
		panic("laplace: " + err.Error())
	}
	m := &marginals{variance: estimate.Values, logDet: math.NaN()}
	least, size := f.least(bends), 0.0
	for j, c := range estimate.Values {
		v := 1 / bends[j]
		if f.Rows < d {
			c = 1 - c
		}
		m.variance[j] = math.Min(math.Max(v*c, least[j]), v)
		spread := math.Min(v*math.Sqrt(estimate.Square[j]), v-least[j])
		m.err += spread * spread
		size += m.variance[j] * m.variance[j]
	}
	m.err = math.Sqrt(m.err / size)
	return m
}

// least are 1/H_jj, which no variance is below.
func (f *fit) least(bends []float64) []float64 {
	out := make([]float64, len(bends))
	f.ws.InRuns(len(bends), func(from, to int) {
		column := make([]float64, f.Rows)
		for j := from; j < to; j++ {
			f.Column(column, j)
			f.scaled(column, column)
			out[j] = 1 / (bends[j] + kernel.Dot(column, column))
		}
	})
	return out
}

// Solves by conjugate gradients.
const (
	solveTolerance = 1e-10
	mostSolveSteps = 2000
)

// whitened is I + BᵀB, B = X̃V^(−½).
type whitened struct {
	*fit
	root []float64 // V^(−½)
}

// Dims implements linop.Matrix.
func (b *whitened) Dims() (rows, cols int) { return len(b.root), len(b.root) }

// MulVec implements linop.Matrix.
func (b *whitened) MulVec(dst, x []float64) {
	rows := make([]float64, b.Rows)
	for j, v := range x {
		dst[j] = b.root[j] * v
	}
	b.Mul(b.ws, rows, dst)
	for i, c := range b.curvature {
		rows[i] *= c
	}
	b.MulTrans(b.ws, dst, rows)
	for j, v := range x {
		dst[j] = v + b.root[j]*dst[j]
	}
}

// MulVecTrans implements linop.Matrix.
func (b *whitened) MulVecTrans(dst, x []float64) { b.MulVec(dst, x) }

// product stores the products with the matrix estimated: s of (I + BᵀB)s = x, or x − s with fewer rows than
// columns.
func (b *whitened) product(dst, x *linop.Dense) error {
	near := make(linop.Diagonal, len(b.root))
	for j := range near {
		near[j] = 1
	}
	_, err := linop.Conjugate(context.Background(), b, near, dst, x, solveTolerance, mostSolveSteps)
	if b.Rows < len(b.root) {
		for i, v := range x.Data {
			dst.Data[i] = v - dst.Data[i]
		}
	}
	return err
}
