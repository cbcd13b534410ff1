package convex

import (
	"math"
	"testing"
)

// TestExpectedCurvature: the expected curvature of a site under a normal distribution is, by Stein's identity, that of
// its logarithm times ((s − m)² − v)/v², which needs no derivative.
func TestExpectedCurvature(t *testing.T) {
	for _, p := range []Potential{Logistic{0.8}, Laplace{1.3}, StudentT{0.7, 4}, Gaussian{2}} {
		for _, noise := range []float64{0.5, 2} {
			for _, q := range [][2]float64{{0, 0.3}, {0.7, 0.3}, {-1.5, 4}} {
				mean, variance := q[0], q[1]
				sd, want := math.Sqrt(variance), 0.0
				const step = 1e-3
				for z := -9.0; z < 9; z += step {
					s := mean + sd*z
					value, _, _ := p.At(s * s / noise)
					want -= step * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * value * (z*z - 1) / variance
				}
				if got := expectedCurvature(p, mean, variance, noise); !(math.Abs(got-want) <= 1e-4*want) {
					t.Errorf("%T%v at %v ± %v, noise %v: %v, want %v", p, p, mean, sd, noise, got, want)
				}
			}
		}
	}
}
