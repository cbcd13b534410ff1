package special

import (
	"math"
	"slices"
)

// QuantileSkewness is (a + b − 2m)/(b − a) of the median m and the quantiles a and b of a twentieth and of nineteen
// twentieths (Hinkley 1975): in [−1, 1], and not moved by outliers. It is 0 where there are no values, or a = b.
func QuantileSkewness(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	low, middle, high := sorted[n/20], sorted[n/2], sorted[n-1-n/20]
	if high == low {
		return 0
	}
	return (high - middle - (middle - low)) / (high - low)
}

// Quantile returns the quantile of p in [0, 1] of one or more sorted numbers, by R's type 7 (Hyndman and Fan 1996).
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	low := int(at)
	if at == float64(low) { // the next may be farther away than any number
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[min(low+1, len(sorted)-1)]-sorted[low])
}

// Finite says whether x is a number, and not an infinite one.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
