package laplace

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/linop"
)

// random estimates the diagonal of M = (I + BᵀB)⁻¹, B = X̃V^(−½), from products with random signs: H⁻¹ = V^(−½)MV^(−½).
// With fewer rows than columns that is the diagonal of I − M, which has the rank of the rows; see [linop.XDiag].
func (f *fit) random(bends []float64) *marginals {
	d := len(bends)
	precision := &candidates.Precision{Table: f.Table, WS: f.ws, ByRow: f.curvature, Prior: bends}
	roots, near := make(linop.Diagonal, d), make(linop.Diagonal, d)
	for j, v := range bends {
		roots[j], near[j] = math.Sqrt(v), 1/v
	}
	estimate, err := linop.XDiag(d, f.config.Vectors, func(k int, dst []float64) {
		rng := credence.Rand(f.config.Seed, credence.LaplaceVariances, uint64(k)+1)
		for j := range dst {
			dst[j] = float64(2*rng.IntN(2) - 1)
		}
	}, func(dst, x *linop.Dense) error { // MX, or X − MX with fewer rows than columns
		right := linop.NewDense(d, x.Cols)
		roots.MulBlock(&right, x)
		_, err := linop.Conjugate(context.Background(), precision, near, dst, &right, solveTolerance, mostSolveSteps)
		roots.MulBlock(dst, dst)
		if f.Rows < d {
			for i, v := range x.Data {
				dst.Data[i] = v - dst.Data[i]
			}
		}
		return err
	})
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
	f.Squares(out, f.curvature)
	for j, square := range out {
		out[j] = 1 / (bends[j] + square)
	}
	return out
}

// Solves by conjugate gradients.
const (
	solveTolerance = 1e-10
	mostSolveSteps = 2000
)
