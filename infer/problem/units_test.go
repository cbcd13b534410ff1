package problem

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
)

// TestLogHyperPrior: the slope of the prior of a logarithm is that of its log density, of any width.
func TestLogHyperPrior(t *testing.T) {
	for _, sd := range []float64{0, 0.3, 1, 4} {
		h := credence.Hyper{PriorMean: 0.7, PriorSD: sd}
		const step = 1e-4
		below, _ := LogHyperPrior(h, 1.5-step)
		above, _ := LogHyperPrior(h, 1.5+step)
		if _, slope := LogHyperPrior(h, 1.5); !(math.Abs(slope-(above-below)/(2*step)) <= 1e-8) {
			t.Errorf("of width %v the slope is %v, by differences %v", sd, slope, (above-below)/(2*step))
		}
	}
}

// TestUnits: the ways of a mean, a covariance and its factor to own units are those of w ↦
// T(s·w) + (c, 0, 0) with T = [1, −x̄ᵀ; 0, I], multiplied out.
func TestUnits(t *testing.T) {
	u := Units{Centre: 7, Scale: 3, Means: []float64{0, 2, -0.5}}
	transform := [][]float64{{3, -6, 1.5}, {0, 3, 0}, {0, 0, 3}}
	factor := []float64{2, 0.3, -1, 0, 1, 0.5, 0, 0, 0.7}
	covariance, want := make([]float64, 9), make([]float64, 9)
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				covariance[i*3+j] += factor[i*3+k] * factor[j*3+k]
			}
		}
	}
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				for l := range 3 {
					want[i*3+j] += transform[i][k] * covariance[k*3+l] * transform[j][l]
				}
			}
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	u.Covariance(covariance)
	u.Factor(factor)
	for i := range 3 {
		for j := range 3 {
			product := 0.0
			for k := range 3 {
				product += factor[i*3+k] * factor[j*3+k]
			}
			near("an element of the covariance", covariance[i*3+j], want[i*3+j])
			near("an element of the factor's", product, want[i*3+j])
		}
	}
	mean := []float64{1, 2, 4}
	u.Own(mean)
	for i, row := range transform {
		sum := 0.0
		for j, v := range row {
			sum += v * []float64{1, 2, 4}[j]
		}
		if i == 0 {
			sum += 7
		}
		near("a mean", mean[i], sum)
	}
}

// TestLogBounds: a hyper-parameter is bounded by the logarithms of its bounds, and by none where they are left out; one
// without a prior has a flat one.
func TestLogBounds(t *testing.T) {
	for _, h := range []credence.Hyper{{}, {Lower: 0.5}, {Upper: 8}, {Lower: 0.5, Upper: 8}} {
		wantLower, wantUpper := math.Inf(-1), math.Inf(1)
		if h.Lower != 0 {
			wantLower = math.Log(0.5)
		}
		if h.Upper != 0 {
			wantUpper = math.Log(8)
		}
		if lower, upper := LogBounds(h); lower != wantLower || upper != wantUpper {
			t.Errorf("%+v: bounds %v and %v, want %v and %v", h, lower, upper, wantLower, wantUpper)
		}
		if value, slope := LogHyperPrior(h, 3); value != 0 || slope != 0 {
			t.Errorf("%+v: log density %v, slope %v", h, value, slope)
		}
	}
}
