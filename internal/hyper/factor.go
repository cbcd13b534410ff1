package hyper

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/kernel"
)

// Factor returns the upper triangular F with FFᵀ a d×d covariance, row-major, of which the upper triangle is read: the
// Cholesky factor of the matrix with rows and columns in the opposite order. Sums over axes may leave a matrix that
// is not positive definite: it then loses its negative part, and positive is false.
func Factor(pool *kernel.Pool, d int, covariance []float64) (factor []float64, positive bool) {
	if factor, positive = upper(pool, d, covariance); !positive {
		factor, _ = upper(pool, d, raised(d, covariance))
	}
	return factor, positive
}

func upper(pool *kernel.Pool, d int, covariance []float64) ([]float64, bool) {
	reversed, factor := make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		for j := i; j < d; j++ {
			reversed[(d-1-j)*d+d-1-i] = covariance[i*d+j]
		}
	}
	_, ok := pool.Cholesky(d, reversed, d)
	for i := range d {
		for j := i; j < d; j++ {
			factor[i*d+j] = reversed[(d-1-j)*d+d-1-i]
		}
	}
	return factor, ok
}

// raised returns the upper triangle of a symmetric matrix with its eigenvalues raised to a share of the largest that
// rounding leaves.
func raised(d int, a []float64) []float64 {
	symmetric := mat.NewSymDense(d, append([]float64{}, a...))
	var eigen mat.EigenSym
	eigen.Factorize(symmetric, true)
	var q mat.Dense
	eigen.VectorsTo(&q)
	values, out := eigen.Values(nil), make([]float64, d*d)
	for k, v := range values {
		v = math.Max(v, 1e-12*values[d-1])
		for i := range d {
			for j := i; j < d; j++ {
				out[i*d+j] += v * q.At(i, k) * q.At(j, k)
			}
		}
	}
	return out
}
