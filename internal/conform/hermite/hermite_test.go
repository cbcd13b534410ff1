package hermite

import (
	"math"
	"testing"
)

func TestHermite(t *testing.T) {
	for _, n := range []int{1, 2, 5, 20, 32, 64, 128} {
		rule := New(n)
		moment := 1.0 // E z^k = (k−1)!! for even k
		for k := 0; k < 2*n && k <= 40; k += 2 {
			sum := 0.0
			for i, x := range rule.Nodes {
				sum += rule.Weights[i] * math.Pow(x, float64(k))
			}
			// Rounding of x is amplified k times by the power.
			if !(math.Abs(sum/moment-1) <= 1e-13*float64(k+1)) {
				t.Errorf("n=%d: moment %d is off by %.2g", n, k, sum/moment-1)
			}
			moment *= float64(k + 1)
		}
		for i := 1; i < n; i++ {
			if rule.Nodes[i] <= rule.Nodes[i-1] || rule.Nodes[i] != -rule.Nodes[n-1-i] {
				t.Errorf("n=%d: nodes do not ascend symmetrically", n)
			}
		}
	}
}
