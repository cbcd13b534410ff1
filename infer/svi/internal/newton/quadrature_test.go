package newton

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/conform/hermite"
)

// TestNodes derives the rule of 15 nodes anew.
func TestNodes(t *testing.T) {
	rule, seen := hermite.New(nodes), 0
	for k := range nodes {
		z, weight := nodeAt(k)
		for i, at := range rule.Nodes {
			if math.Abs(at-z) < 1e-13 && math.Abs(rule.Weights[i]/weight-1) < 1e-10 {
				seen |= 1 << i
			}
		}
	}
	if seen != 1<<nodes-1 {
		t.Errorf("nodes %b of the rule are there", seen)
	}
}
