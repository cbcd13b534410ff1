package special

import "math"

// Finite says whether x is a number, and not an infinite one.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
