package chart

import (
	"math"
	"strconv"
	"testing"
)

// TestTicksFarFromZeroDiffer: ticks far from 0, or close together, have as many digits as tell them apart.
func TestTicksFarFromZeroDiffer(t *testing.T) {
	for _, axis := range []Axis{
		{low: 1.7000e9, high: 1.7026e9},     // a month of seconds since 1970
		{low: 1.7000e9, high: 1.70000864e9}, // a day of them: nine ticks, all "1.7e9"
		{low: 12_345_000, high: 12_355_000}, // "1.235e7" five times
		{low: 1e6, high: 1.001e6},
		{low: 1e-4, high: 1.0004e-4},
	} {
		seen := map[string]bool{}
		for _, tick := range axis.ticks(7) {
			v, err := strconv.ParseFloat(tick.text, 64)
			if err != nil || !(math.Abs(v-tick.at) <= 1e-9*math.Abs(v)) {
				t.Errorf("from %g to %g: the tick at %.12g is called %s", axis.low, axis.high, tick.at, tick.text)
			}
			if seen[tick.text] {
				t.Errorf("from %g to %g: two ticks are called %s", axis.low, axis.high, tick.text)
			}
			seen[tick.text] = true
		}
	}
}
