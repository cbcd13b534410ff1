package hyper

import (
	"math"
	"testing"
)

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
