package shards

import "testing"

// TestAscend: places are those of a file, each once.
func TestAscend(t *testing.T) {
	for _, c := range []struct {
		values []float64
		right  bool
	}{
		{nil, true}, {[]float64{5, 6, 9}, true}, {[]float64{5, 5}, false}, {[]float64{6, 5}, false}, {[]float64{4}, false}, {[]float64{10}, false}, {[]float64{5.5}, false},
	} {
		if ascend(c.values, 5, 5) != c.right {
			t.Errorf("%v of places 5 to 9: %v", c.values, !c.right)
		}
	}
}
