package laplace

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
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

// stripe is the number of columns that are taken at once.
const stripe = 512

// nystrom replaces X̃ᵀX̃ = XᵀWX by X̃ᵀPX̃, P the projection on a set of columns, and averages over
// disjoint sets. What is left out makes variances too large, never too small.
func (f *fit) nystrom(bends []float64) (*marginals, error) {
	d := len(bends)
	m := &marginals{variance: make([]float64, d), logDet: math.NaN()}
	size := min(f.config.Columns, d, f.Rows)
	sets := min(f.config.Sets, d/size)
	order := credence.Rand(f.config.Seed, credence.LaplaceVariances, 0).Perm(d)
	for k := range sets {
		columns := order[k*size : (k+1)*size : (k+1)*size]
		if f.Intercept >= 0 { // it has next to no prior
			columns = append(columns, f.Intercept)
		}
		if err := f.addSet(m.variance, bends, columns, 1/float64(sets)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// addSet adds share times the variances of one set of columns.
func (f *fit) addSet(dst, bends []float64, columns []int, share float64) error {
	n := f.Rows
	var basis []float64 // orthonormal rows that span the columns of X̃
	column := make([]float64, n)
	for _, j := range columns {
		f.scaled(column, j)
		before := kernel.Dot(column, column)
		project(column, basis)
		if after := kernel.Dot(column, column); after > 1e-20*before && after > 0 {
			kernel.Scale(1/math.Sqrt(after), column)
			basis = append(basis, column...)
		}
	}
	rank := len(basis) / n
	if rank == 0 {
		for j, v := range bends {
			dst[j] += share / v
		}
		return nil
	}
	outer, system := make([]float64, rank*rank), gauss.NewDual(f.ws, rank) // of Σ z_j z_jᵀ/v_j, z_j = Qᵀx̃_j
	scales := make([]float64, stripe)
	f.eachStripe(basis, func(first, count int, z []float64) {
		for k := range count {
			scales[k] = 1 / bends[first+k]
		}
		f.ws.Pool().Gram(count, rank, z, rank, scales[:count], outer, rank)
	})
	if err := system.Set(outer, nil); err != nil {
		return fmt.Errorf("laplace: %w", err)
	}
	f.eachStripe(basis, func(first, count int, z []float64) {
		system.Squares(scales, z, count)
		for k, square := range scales[:count] {
			v := 1 / bends[first+k]
			dst[first+k] += share * clip(v-v*v*square, v)
		}
	})
	return nil
}

// eachStripe calls do with the projections of some columns after the other, one a row.
func (f *fit) eachStripe(basis []float64, do func(first, count int, z []float64)) {
	n, d := f.Rows, f.Table.Count()
	rank := len(basis) / n
	z := make([]float64, stripe*rank)
	for first := 0; first < d; first += stripe {
		count := min(stripe, d-first)
		f.ws.InRuns(count, func(from, to int) {
			column := make([]float64, n)
			for k := from; k < to; k++ {
				f.scaled(column, first+k)
				for a := range rank {
					z[k*rank+a] = kernel.Dot(basis[a*n:(a+1)*n], column)
				}
			}
		})
		do(first, count, z[:count*rank])
	}
}
