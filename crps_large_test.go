package credence

import (
	"math"
	"testing"
)

// TestSumsOfLargeCounts: beyond 2⁵³ whole numbers are 2 and more apart, and a sum over them ends, with each number as
// often as it stands for others.
func TestSumsOfLargeCounts(t *testing.T) {
	const limit = 1 << 53
	for _, c := range []struct{ first, last float64 }{
		{limit - 10, limit - 2}, {limit - 4, limit + 8}, {limit, limit + 12}, {4 * limit, 4*limit + 8}, {1e18, 1e18 + 1024},
	} {
		if sum := sumCounts(func(float64) float64 { return 1 }, c.first, c.last, 0); math.Abs(sum-(c.last-c.first)) > 1e-9*(c.last-c.first) {
			t.Errorf("from %v to %v there are %v, want %v", c.first, c.last, sum, c.last-c.first)
		}
	}
}
