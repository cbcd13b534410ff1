package special

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// LogSqrt2Pi is ½ log 2π.
const LogSqrt2Pi = 0.918938533204672741780329736405617639861397473637783412817

const invSqrt2Pi = 0.398942280401432677939946059934381868475858631164934657666

// NormalDensity is φ(z).
func NormalDensity(z float64) float64 {
	return invSqrt2Pi * math.Exp(-z*z/2)
}

// NormalCDF is Φ(z); the lower tail keeps its relative accuracy.
func NormalCDF(z float64) float64 {
	return math.Erfc(-z/math.Sqrt2) / 2
}

// NormalQuantile is Φ⁻¹(p); ∓Inf at 0 and 1.
func NormalQuantile(p float64) float64 {
	switch p {
	case 0:
		return math.Inf(-1)
	case 1:
		return math.Inf(1)
	}
	return mathext.NormalQuantile(p)
}

// LogNormalCDF is log Φ(z).
func LogNormalCDF(z float64) float64 {
	switch {
	case z > 0: // log of a number that may be next to one
		return math.Log1p(-math.Erfc(z/math.Sqrt2) / 2)
	case z > -30:
		return math.Log(math.Erfc(-z/math.Sqrt2) / 2)
	case math.IsInf(z, -1):
		return z
	}
	// erfc underflows before long: Φ(z) = φ(z)/r(z).
	r, _ := millsTail(-z)
	return -z*z/2 - LogSqrt2Pi - math.Log(r)
}

// LogNormalCDFDerivatives returns log Φ(z) and
//
//	r(z) = φ(z)/Φ(z)   and   r(z)·(z + r(z)),
//
// its first derivative and minus its second. The second lies in (0, 1); z + r is never formed by
// subtraction in the lower tail.
func LogNormalCDFDerivatives(z float64) (value, r, slope float64) {
	if z < -5 {
		if math.IsInf(z, -1) {
			return z, math.Inf(1), 1
		}
		r, excess := millsTail(-z)
		return -z*z/2 - LogSqrt2Pi - math.Log(r), r, r * excess
	}
	var cdf float64
	if z > 0 {
		tail := math.Erfc(z/math.Sqrt2) / 2
		value, cdf = math.Log1p(-tail), 1-tail
	} else {
		cdf = math.Erfc(-z/math.Sqrt2) / 2
		value = math.Log(cdf)
	}
	r = NormalDensity(z) / cdf
	if r == 0 {
		return value, 0, 0 // z·0 at z = +Inf
	}
	return value, r, r * (z + r)
}

// millsTail returns φ(x)/Φ(−x) and the same minus x, for x ≥ 5, by Laplace's
// continued fraction x + 1/(x + 2/(x + 3/(x + …))): the excess over x is the
// fraction's tail, so nothing cancels and no exponential is needed. The depths
// leave r exact to rounding; a test compares them with depth 2000.
func millsTail(x float64) (r, excess float64) {
	depth := 26
	switch {
	case x > 16:
		depth = 10
	case x > 8:
		depth = 16
	}
	t := x
	for k := depth; k >= 2; k-- {
		t = x + float64(k)/t
	}
	excess = 1 / t
	return x + excess, excess
}
