package effect

import (
	"math"
	"testing"
)

// TestSample: values of whole weights are values that stand so often.
func TestSample(t *testing.T) {
	weighed := &sample{values: []float64{-2, 0, 1, 5, 9}, weights: []float64{1, 3, 2, 1, 2}}
	alone := &sample{values: []float64{-2, 0, 0, 0, 1, 1, 5, 9, 9}}
	for _, p := range []float64{0, .1, .25, .5, .6, .75, .9, 1} {
		if a, b := weighed.quantile(p), alone.quantile(p); !(math.Abs(a-b) <= 1e-12) {
			t.Errorf("the quantile at %g is %g, and %g of copies", p, a, b)
		}
	}
	if a, b := weighed.sd(), alone.sd(); !(math.Abs(a-b) <= 1e-12) {
		t.Errorf("the standard deviation is %g, and %g of copies", a, b)
	}
}
