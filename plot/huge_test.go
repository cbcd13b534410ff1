package plot

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/internal/special"
)

// Values that are farther apart than any number are refused, and their quantiles stay numbers.
func TestGridOfHugeValues(t *testing.T) {
	const huge = 1e308
	sorted := slices.Concat(slices.Repeat([]float64{-huge}, 51), slices.Repeat([]float64{huge}, 50))
	p := &picture{}
	if _, _, err := p.curve(t.Context(), &effect.Column{Name: "x", Values: sorted}, effect.Options{}); err == nil || !strings.Contains(err.Error(), "column x reaches from -1e+308 to 1e+308") {
		t.Error(err)
	}
	if got := special.Quantile(sorted, .5); got != -huge {
		t.Errorf("the median is %v", got)
	}
	if got := grid([]float64{0, huge}); !(math.Abs(got[gridPoints/2]/huge-.5) <= 1e-12) || slices.ContainsFunc(got, func(v float64) bool { return math.IsInf(v, 0) }) {
		t.Errorf("the grid of 0 to 1e308 is %v", got)
	}
	if got := grid([]float64{0, 1, 2, 3}); len(got) != gridPoints || !(math.Abs(got[0]-.03) <= 1e-12) || !(math.Abs(got[gridPoints-1]-2.97) <= 1e-12) {
		t.Errorf("the grid of 0 to 3 is %v", got)
	}
}
