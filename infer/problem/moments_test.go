package problem

import (
	"math"
	"testing"
)

// TestMerge: moments of parts are those of the whole, an empty part included.
func TestMerge(t *testing.T) {
	targets, weights := []float64{1e6 + 1, 1e6 + 4, 1e6 - 2, 1e6 + 0.5, 1e6 - 7}, []float64{1, 2, 0, 0.5, 3}
	var whole Moments
	for i, y := range targets {
		whole.Add(y, weights[i])
	}
	for cut := range len(targets) + 1 {
		var first, second Moments
		for i, y := range targets {
			part := &second
			if i < cut {
				part = &first
			}
			part.Add(y, weights[i])
		}
		first.Merge(second)
		if first.Weight != whole.Weight || first.Low != whole.Low || first.High != whole.High ||
			math.Abs(first.Mean-whole.Mean) > 1e-9 || math.Abs(first.Variance()/whole.Variance()-1) > 1e-9 {
			t.Errorf("cut at %d: %+v, want %+v", cut, first, whole)
		}
	}
}
