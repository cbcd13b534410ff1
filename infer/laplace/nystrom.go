package laplace

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
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
		system.Half(z, count)
		for k := range count {
			row, v := z[k*rank:(k+1)*rank], 1/bends[first+k]
			dst[first+k] += share * clip(v-v*v*kernel.Dot(row, row), v)
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
