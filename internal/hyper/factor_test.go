package hyper

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/kernel"
)

// spectral is Σ_k values_k q_k q_kᵀ of orthonormal columns q, row-major.
func spectral(q *mat.Dense, values []float64) []float64 {
	d := len(values)
	out := make([]float64, d*d)
	for k, v := range values {
		for i := range d {
			for j := range d {
				out[i*d+j] += v * q.At(i, k) * q.At(j, k)
			}
		}
	}
	return out
}

// TestFactor: the product of the factor with its transpose is the covariance, or of one with a negative part what is
// left without it; the factor is upper triangular, and what stands below the diagonal is not read.
func TestFactor(t *testing.T) {
	const d = 5
	random := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			random.Set(i, j, math.Sin(float64(i*i+3*j*j+i*j+1)))
		}
	}
	var qr mat.QR
	qr.Factorize(random)
	var q mat.Dense
	qr.QTo(&q)
	for _, c := range []struct {
		values, left []float64
		positive     bool
	}{
		{[]float64{3, 0.1, 1, 2, 0.5}, []float64{3, 0.1, 1, 2, 0.5}, true},
		{[]float64{3, -0.2, 1, 2, -0.5}, []float64{3, 0, 1, 2, 0}, false},
	} {
		covariance := spectral(&q, c.values)
		for i := range d {
			for j := range i {
				covariance[i*d+j] = math.NaN()
			}
		}
		factor, positive := Factor(new(kernel.Pool), d, covariance)
		if positive != c.positive {
			t.Errorf("%v: positive %t", c.values, positive)
		}
		want := spectral(&q, c.left)
		for i := range d {
			for j := range d {
				if j < i && factor[i*d+j] != 0 {
					t.Errorf("%v: %v below the diagonal", c.values, factor[i*d+j])
				}
				if got := kernel.Dot(factor[i*d:(i+1)*d], factor[j*d:(j+1)*d]); !(math.Abs(got-want[i*d+j]) < 1e-9) {
					t.Errorf("%v: element %d, %d of the product is %v, want %v", c.values, i, j, got, want[i*d+j])
				}
			}
		}
	}
}

// TestCurvature: central differences of the gradient of a quadratic are its matrix, and those of a cubic term vanish.
func TestCurvature(t *testing.T) {
	want := [3][3]float64{{2, -0.5, 0.3}, {-0.5, 1, 0.7}, {0.3, 0.7, 4}}
	theta := []float64{0.4, -1, 2}
	got, err := Curvature(theta, 0.05, func(at []float64, k int, sign float64) ([]float64, error) {
		slopes := make([]float64, 3)
		for i, x := range at {
			moved := 0.0
			if i == k {
				moved = sign * 0.05
			}
			if math.Abs(x-theta[i]-moved) > 1e-15 {
				t.Errorf("coordinate %d at %v for a move of %d by %v", i, x, k, sign)
			}
			slopes[i] = (x - theta[i]) * (x - theta[i])
			for j, y := range at {
				slopes[i] -= want[i][j] * y
			}
		}
		return slopes, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for j, v := range want[i] {
			if math.Abs(got.At(i, j)-v) > 1e-12 {
				t.Errorf("curvature %d, %d is %v, want %v", i, j, got.At(i, j), v)
			}
		}
	}
}
