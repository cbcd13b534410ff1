package diagnose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// TestNarrow: the median of the ratios is told whatever it is; a warning says why and what to do where it is low, or
// where that of one weight is and weights can be told apart, by the name of that weight.
func TestNarrow(t *testing.T) {
	name := func(j int) string { return fmt.Sprint("w", j) }
	for _, c := range []struct {
		ratios []float64
		first  int
		name   func(j int) string
		median float64
		warned string
	}{
		{[]float64{0.99, 0.5, 1, 0.98, 0.97}, 2, name, 0.98, "why: standard deviations of weights are about 0.98 of what they should be (least: w3, 0.50); remedy"},
		{[]float64{0.99, 0.5, 1, 0.98, 0.97}, 2, nil, 0.98, ""},
		{[]float64{0.95, 0.85, 0.95}, 0, name, 0.95, ""},
		{[]float64{0.86, 0.85, 0.95}, 0, nil, 0.86, "why: standard deviations of weights are about 0.86 of what they should be; remedy"},
	} {
		var r credence.Report
		Narrow(&r, c.ratios, c.first, c.name, "why", "remedy")
		if r.SDRatio == nil || *r.SDRatio != c.median {
			t.Errorf("%v: %v", c.ratios, r.SDRatio)
		}
		if strings.Join(r.Warnings, "|") != c.warned {
			t.Errorf("%v: %q, want %q", c.ratios, r.Warnings, c.warned)
		}
	}
	var r credence.Report
	if Narrow(&r, nil, 0, name, "why", "remedy"); r.SDRatio != nil || r.Warnings != nil {
		t.Errorf("no weights: %+v", r)
	}
}
