package gibbs

import (
	"math"
	"math/rand/v2"
)

// mostSteps bounds how often an interval is widened, in widths.
const mostSteps = 40

// slice draws the next x of a chain whose law has the log density given, up to a constant (Neal 2003,
// stepping out and shrinking in). A density that is no number counts as none.
func slice(rng *rand.Rand, x, width float64, logDensity func(x float64) float64) float64 {
	level := logDensity(x) - rng.ExpFloat64()
	low := x - width*rng.Float64()
	high := low + width
	left := rng.IntN(mostSteps)
	right := mostSteps - 1 - left
	for ; left > 0 && logDensity(low) > level; left-- {
		low -= width
	}
	for ; right > 0 && logDensity(high) > level; right-- {
		high += width
	}
	for {
		next := low + (high-low)*rng.Float64()
		if logDensity(next) >= level || math.Abs(next-x) < 1e-12*(1+math.Abs(x)) {
			return next
		}
		if next < x {
			low = next
		} else {
			high = next
		}
	}
}
