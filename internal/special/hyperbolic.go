package special

import "math"

// LogCosh is log cosh v.
func LogCosh(v float64) float64 {
	v = math.Abs(v)
	if v < 0.25 {
		// |v| + log1p(e⁻²ᵛ) − log 2 loses v²/2 to the rounding of log 2;
		// cosh v − 1 = 2 sinh²(v/2) does not.
		s := math.Sinh(v / 2)
		return math.Log1p(2 * s * s)
	}
	return v + math.Log1p(math.Exp(-2*v)) - math.Ln2
}

// TanhRatio is tanh(v)/v, 1 at the origin.
func TanhRatio(v float64) float64 {
	if math.Abs(v) < 1e-3 {
		v *= v
		return 1 + v*(-1.0/3+v*2/15)
	}
	return math.Tanh(v) / v
}

// TanhCurvature is (tanh v/v + tanh²v − 1)/v², the curvature of the logistic
// site as a function of the squared argument; 2/3 at the origin. Below 0.15 in
// size the series replaces the difference of nearly equal terms.
func TanhCurvature(v float64) float64 {
	v = math.Abs(v)
	if v < 0.15 {
		// Taylor coefficients of tanh(v)/v − sech²(v), lowered by v².
		x := v * v
		return 2.0/3 + x*(-8.0/15+x*(34.0/105+x*(-496.0/2835+x*(2764.0/31185+
			x*(-87376.0/2027025+x*(1859138.0/91216125+x*(-102473312.0/10854718875)))))))
	}
	if math.IsInf(v, 0) {
		return 0
	}
	// tanh²v − 1 = −sech²v = −4e⁻²ᵛ/(1+e⁻²ᵛ)².
	e := math.Exp(-2 * v)
	sech2 := 4 * e / ((1 + e) * (1 + e))
	return (math.Tanh(v)/v - sech2) / (v * v)
}
