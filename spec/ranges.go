package spec

import "math"

// Range is an interval of allowed numbers, for the readers of [Arguments].
type Range struct {
	low, high         float64
	lowOpen, highOpen bool // the end itself is excluded
}

// Finite is every number but ±∞.
func Finite() Range {
	return Range{low: math.Inf(-1), high: math.Inf(1), lowOpen: true, highOpen: true}
}

// Positive is 0 < v < ∞.
func Positive() Range { return Above(0) }

// Fraction is 0 < v < 1.
func Fraction() Range { return Within(0, 1) }

// Between is low ≤ v ≤ high.
func Between(low, high float64) Range { return Range{low: low, high: high} }

// Within is low < v < high.
func Within(low, high float64) Range {
	return Range{low: low, high: high, lowOpen: true, highOpen: true}
}

// AtLeast is low ≤ v < ∞.
func AtLeast(low float64) Range { return Range{low: low, high: math.Inf(1), highOpen: true} }

// Above is low < v < ∞.
func Above(low float64) Range {
	return Range{low: low, high: math.Inf(1), lowOpen: true, highOpen: true}
}

// Contains reports whether v is allowed. NaN never is.
func (r Range) Contains(v float64) bool {
	above := v > r.low || v == r.low && !r.lowOpen
	below := v < r.high || v == r.high && !r.highOpen
	return above && below
}

// String completes the sentence "it must be …".
func (r Range) String() string {
	var s string
	switch noLow, noHigh := math.IsInf(r.low, -1), math.IsInf(r.high, 1); {
	case noLow && noHigh:
		return "finite"
	case noHigh && r.lowOpen && r.low == 0:
		s = "positive"
	case noHigh && r.lowOpen:
		s = "greater than " + formatNumber(r.low)
	case noHigh:
		s = formatNumber(r.low) + " or more"
	default:
		s = "between " + formatNumber(r.low) + " and " + formatNumber(r.high)
		if r.lowOpen && r.highOpen {
			s += ", both excluded"
		}
	}
	if math.IsInf(r.high, 1) {
		s += " and finite"
	}
	return s
}

// isWhole bounds integers to those that float64 holds exactly and every int
// of 64 bits holds too, ±2⁵³.
func isWhole(v float64) bool { return v == math.Trunc(v) && math.Abs(v) <= 1<<53 }
