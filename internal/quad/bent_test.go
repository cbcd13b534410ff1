package quad_test

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
)

// TestBent: expectations of a function that bends at 0 are those of a trapezium rule whose steps are a small part of
// the bend, wherever the mean is, in no more than some hundreds of evaluations.
func TestBent(t *testing.T) {
	// softplus, its slope, and how that bends, which is 0 but for some units
	g := func(f float64) (float64, float64, float64) {
		p := 1 / (1 + math.Exp(-f))
		return math.Max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))), p, p * (1 - p)
	}
	for _, sd := range []float64{3, 19, 21, 300, 3000} {
		for _, shift := range []float64{-6, -2, 0, 0.5, 4} {
			mean, calls := shift*sd, 0
			var got, want [3]float64
			got[0], got[1], got[2] = quad.Bent(func(f float64) (float64, float64, float64) { calls++; return g(f) }, mean, sd*sd)
			const step = 0.125
			for f := math.Floor(mean - 11*sd); f < mean+11*sd; f += step {
				z := (f - mean) / sd
				w := math.Exp(-z*z/2) / (sd * math.Sqrt(2*math.Pi)) * step
				a, b, c := g(f)
				for k, v := range [3]float64{a, b, c} {
					want[k] += w * v
				}
			}
			for k := range got {
				if !(math.Abs(got[k]-want[k]) <= 1e-9*want[k]) {
					t.Errorf("sd %v, mean %v: expectation %d is %v, by small steps %v", sd, mean, k, got[k], want[k])
				}
			}
			if sd > 20 && calls > 1000 {
				t.Errorf("sd %v, mean %v: %d evaluations", sd, mean, calls)
			}
		}
	}
	// Far from all that one can add up, the bend is a corner: E max(f, 0) is sd φ(0), and the slope one half.
	const sd = 1e12
	value, slope, bend := quad.Bent(g, 0, sd*sd)
	density := 1 / math.Sqrt(2*math.Pi)
	for k, c := range [][2]float64{{value, sd * density}, {slope, 0.5}, {bend, density / sd}} {
		if !(math.Abs(c[0]-c[1]) <= 1e-9*c[1]) {
			t.Errorf("expectation %d of a corner is %v, want %v", k, c[0], c[1])
		}
	}
}
