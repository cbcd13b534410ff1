package svi

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// rowDot returns φᵢᵀ w.
func rowDot(phi *credence.Design, i int, w []float64) float64 {
	dense := phi.Dense.Cols
	sum := 0.0
	if dense > 0 {
		sum = kernel.Dot(phi.Dense.Row(i), w[:dense])
	}
	if phi.Sparse.Cols > 0 {
		columns, values := phi.Sparse.Row(i)
		rest := w[dense:]
		if values == nil {
			for _, j := range columns {
				sum += rest[j]
			}
		} else {
			for k, j := range columns {
				sum += values[k] * rest[j]
			}
		}
	}
	return sum
}

// latentMeans stores Φw + offset.
func latentMeans(pool *kernel.Pool, dst []float64, b *block, w []float64) {
	inTasks(pool, b.rows, func(from, to int) {
		for i := from; i < to; i++ {
			dst[i] = rowDot(b.phi, i, w)
			if b.offset != nil {
				dst[i] += b.offset[i]
			}
		}
	})
}

// stripe is the number of columns of a transposed product that a task adds up.
const stripe = 256

// addTrans adds Φᵀu to dst: tasks take stripes of columns, so that sums follow the rows.
func addTrans(pool *kernel.Pool, dst []float64, phi *credence.Design, u []float64) {
	dense := phi.Dense.Cols
	pool.Run((dense+stripe-1)/stripe, func(task, _ int) {
		from := task * stripe
		to := min(dense, from+stripe)
		for i, ui := range u {
			kernel.Axpy(ui, phi.Dense.Row(i)[from:to], dst[from:to])
		}
	})
	if phi.Sparse.Cols == 0 {
		return
	}
	rest := dst[dense:]
	for i, ui := range u {
		columns, values := phi.Sparse.Row(i)
		if values == nil {
			for _, j := range columns {
				rest[j] += ui
			}
		} else {
			for k, j := range columns {
				rest[j] += values[k] * ui
			}
		}
	}
}

// latentVariances stores (Φ⊙Φ) Ψ.
func latentVariances(pool *kernel.Pool, dst []float64, phi *credence.Design, psi []float64) {
	dense := phi.Dense.Cols
	inTasks(pool, phi.Dense.Rows, func(from, to int) {
		for i := from; i < to; i++ {
			sum := 0.0
			if dense > 0 {
				for j, v := range phi.Dense.Row(i) {
					sum += v * v * psi[j]
				}
			}
			if phi.Sparse.Cols > 0 {
				columns, values := phi.Sparse.Row(i)
				for k, j := range columns {
					v := 1.0
					if values != nil {
						v = values[k]
					}
					sum += v * v * psi[dense+int(j)]
				}
			}
			dst[i] = sum
		}
	})
}

// addTransSquare adds (Φ⊙Φ)ᵀ u to dst.
func addTransSquare(pool *kernel.Pool, dst []float64, phi *credence.Design, u []float64) {
	dense := phi.Dense.Cols
	pool.Run((dense+stripe-1)/stripe, func(task, _ int) {
		from := task * stripe
		to := min(dense, from+stripe)
		for i, ui := range u {
			for j, v := range phi.Dense.Row(i)[from:to] {
				dst[from+j] += ui * v * v
			}
		}
	})
	if phi.Sparse.Cols == 0 {
		return
	}
	rest := dst[dense:]
	for i, ui := range u {
		columns, values := phi.Sparse.Row(i)
		for k, j := range columns {
			v := 1.0
			if values != nil {
				v = values[k]
			}
			rest[j] += ui * v * v
		}
	}
}
