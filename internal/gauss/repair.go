package gauss

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/kernel"
)

const (
	// leastEigenvalue is that of a repaired correlation matrix, as a share of its largest: what rounding leaves.
	leastEigenvalue = 1e-12
	// rounding is the negative eigenvalue of a correlation matrix that is a matter of last digits.
	rounding = 1e-8
)

// Repair returns the upper triangular F with FFᵀ a d×d covariance, row-major, of which the upper triangle is read: the
// Cholesky factor of the matrix with rows and columns in the opposite order. Sums over hyper-parameters may leave a
// matrix that is not positive definite: its correlations then lose their negative part, and its variances stay;
// positive is false where that is more than rounding. In units of other sizes the weights lose the same.
func Repair(pool *kernel.Pool, d int, covariance []float64) (factor []float64, positive bool) {
	factor, positive = upper(pool, d, covariance)
	if positive {
		return factor, true
	}
	correlations, scales, least := raise(d, covariance)
	factor, _ = upper(pool, d, correlations)
	for i, s := range scales {
		kernel.Scale(s, factor[i*d:(i+1)*d])
	}
	return factor, least >= -rounding
}

func upper(pool *kernel.Pool, d int, covariance []float64) ([]float64, bool) {
	reversed, factor := make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		for j := i; j < d; j++ {
			reversed[(d-1-j)*d+d-1-i] = covariance[i*d+j]
		}
	}
	_, ok := pool.Cholesky(d, reversed, max(1, d))
	for i := range d {
		for j := i; j < d; j++ {
			factor[i*d+j] = reversed[(d-1-j)*d+d-1-i]
		}
	}
	return factor, ok
}

// raise returns the upper triangle of the correlations of a covariance, without eigenvalues below leastEigenvalue of
// the largest, the standard deviations that take them back, and the least eigenvalue that they had.
func raise(d int, covariance []float64) (out, scales []float64, least float64) {
	out, scales = make([]float64, d*d), make([]float64, d)
	for i := range scales {
		scales[i] = math.Sqrt(math.Abs(covariance[i*d+i]))
	}
	correlations := mat.NewSymDense(d, nil)
	for i, s := range scales {
		for j := i; j < d; j++ {
			if v := s * scales[j]; v > 0 {
				correlations.SetSym(i, j, covariance[i*d+j]/v)
			}
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(correlations, true) {
		return out, scales, math.NaN()
	}
	var q mat.Dense
	eigen.VectorsTo(&q)
	values := eigen.Values(nil)
	for k, v := range values {
		v = math.Max(v, leastEigenvalue*values[d-1])
		column := mat.Col(nil, k, &q)
		for i, x := range column {
			kernel.Axpy(v*x, column[i:], out[i*d+i:(i+1)*d])
		}
	}
	for i := range scales {
		if covariance[i*d+i] > 0 { // the variance stays
			scales[i] /= math.Sqrt(out[i*d+i])
		}
	}
	return out, scales, values[0]
}
