package credence

import (
	"math"
	"testing"
	"time"

	"github.com/credence-ml/credence/linop"
)

// steps is a family of whole numbers whose mass all lies on f rounded down, so that
// quantiles of mixtures are those of the few values.
type steps struct{ normalFamily }

func (steps) Discrete() bool { return true }

func (steps) PredictiveCDF(y, mean, _ float64) float64 {
	if y >= math.Floor(mean) {
		return 1
	}
	return 0
}

func (steps) PredictiveQuantile(_, mean, _ float64) float64 { return math.Floor(mean) }

// The quantile of a mixture of whole numbers is the smallest with enough mass, also
// beyond 2⁵³, where neighbouring numbers are more than 1 apart.
func TestQuantileOfCountMixtures(t *testing.T) {
	const apart = 1 << 53
	for _, c := range []struct{ p, low, high, want float64 }{
		{0.4, 3, 90, 3}, {0.6, 3, 90, 90}, {0.4, 0, 1, 0}, {0.6, 0, 1, 1},
		{0.4, apart, apart + 2, apart}, {0.6, apart, apart + 2, apart + 2},
		{0.6, 1, 1e300, 1e300}, {0.4, 1e18, 3e18, 1e18},
	} {
		of := func(w float64) Member {
			return Member{Model: Model{Features: identity{1}, Likelihood: steps{}}, Posterior: point{[]float64{w}, 1}}
		}
		fitted := &Fitted{Members: []Member{of(c.low), of(c.high)}}
		dist, err := fitted.Distribution(NewWorkspace(1), &Batch{X: linop.Dense{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan float64, 1)
		go func() { done <- dist.Quantile(0, c.p) }()
		select {
		case got := <-done:
			if got != c.want {
				t.Errorf("the %g quantile of %g and %g is %g, want %g", c.p, c.low, c.high, got, c.want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("the %g quantile of %g and %g was not found", c.p, c.low, c.high)
		}
	}
}
