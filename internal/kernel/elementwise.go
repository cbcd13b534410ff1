package kernel

import "math"

// Exp stores eˣ elementwise in dst, which may be x.
func Exp(dst, x []float64) {
	sameLength("Exp", len(x), len(dst))
	for i, v := range x {
		dst[i] = math.Exp(v)
	}
}

// SinCos stores sin x and cos x elementwise; either may be x itself.
func SinCos(sin, cos, x []float64) {
	sameLength("SinCos", len(x), len(sin), len(cos))
	for i, v := range x {
		sin[i], cos[i] = math.Sincos(v)
	}
}

// Log1pExp stores log(1+eˣ) elementwise in dst, which may be x.
func Log1pExp(dst, x []float64) {
	sameLength("Log1pExp", len(x), len(dst))
	for i, v := range x {
		dst[i] = log1pExp(v)
	}
}

// log1pExp keeps full relative accuracy in both tails: eˣ overflows for large
// x, and 1+eˣ rounds to 1 for very negative x.
func log1pExp(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

// Logistic stores 1/(1+e⁻ˣ) elementwise in dst, which may be x.
func Logistic(dst, x []float64) {
	sameLength("Logistic", len(x), len(dst))
	for i, v := range x {
		dst[i] = logistic(v)
	}
}

func logistic(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// NormalCDF stores Φ(x), the standard normal distribution function,
// elementwise in dst, which may be x.
func NormalCDF(dst, x []float64) {
	sameLength("NormalCDF", len(x), len(dst))
	for i, v := range x {
		dst[i] = 0.5 * math.Erfc(-v*(math.Sqrt2/2))
	}
}

// MillsRatio stores φ(x)/Φ(x), the inverse Mills ratio of the lower tail,
// elementwise in dst, which may be x. It tends to -x as x falls and to φ(x) as
// x grows.
func MillsRatio(dst, x []float64) {
	sameLength("MillsRatio", len(x), len(dst))
	for i, v := range x {
		dst[i] = millsRatio(v)
	}
}

func millsRatio(z float64) float64 {
	if z < -30 {
		if math.IsInf(z, -1) {
			return math.Inf(1)
		}
		// Asymptotic series of Φ(z)·(-z)/φ(z); the first term left out is
		// below 1e-11·30⁻², under the rounding error.
		q := 1 / (z * z)
		return -z / (1 - q*(1-q*(3-q*(15-q*(105-q*945)))))
	}
	return math.Exp(-0.5*z*z) / math.Sqrt(2*math.Pi) / (0.5 * math.Erfc(-z*(math.Sqrt2/2)))
}
