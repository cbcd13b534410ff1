package hyper

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The marginal of a normal law of two correlated coordinates is normal; that of a law skewed along one and normal given
// it is the skewed one, as far as its tail goes.
func TestMarginal(t *testing.T) {
	const slope, sd = 0.7, 0.5 // of the second coordinate on the first, and of the second given the first
	for name, log := range map[string]func(u float64) float64{
		"normal": func(u float64) float64 { return -u * u / 2 },
		"skewed": func(u float64) float64 { return -(math.Exp(-2*u) + 2*u - 1) / 2 }, // of curvature 2 at its top
	} {
		at := func(theta []float64) float64 {
			gap := (theta[1] - slope*theta[0]) / sd
			return log(theta[0]) - gap*gap/2
		}
		curvature := 1.0
		if name == "skewed" {
			curvature = 2
		}
		h := mat.NewSymDense(2, []float64{curvature + slope*slope/(sd*sd), -slope / (sd * sd), -slope / (sd * sd), 1 / (sd * sd)})
		axes, err := NewAxes([]float64{0, 0}, at([]float64{0, 0}), h, false)
		if err != nil {
			t.Fatal(err)
		}
		each := Each(func(_ context.Context, _ *Evaluation, theta []float64, to Precision) (*Evaluation, error) {
			return &Evaluation{Point: Point{LogDensity: at(theta)}}, nil
		})
		law, err := Rules{}.marginal(t.Context(), each, &Maximum{At: &Evaluation{Theta: axes.Theta}, Axes: axes}, 0)
		if err != nil || len(law.At) < marginalPoints {
			t.Fatalf("%d points, %v", len(law.At), err)
		}
		for i, u := range law.At {
			if !(math.Abs(law.LogDensity[i]-(log(u)-log(0))) <= 1e-9) {
				t.Errorf("%s: at %.3g the log density is %.9g, want %.9g", name, u, law.LogDensity[i], log(u)-log(0))
			}
		}
		if last := len(law.At) - 1; law.LogDensity[0] > -marginalDepth || law.LogDensity[last] > -marginalDepth {
			t.Errorf("%s: the ends %v and %v are not in the tails", name, law.At[0], law.At[last])
		}
	}
}
