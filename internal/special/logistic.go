package special

import "math"

// Sigmoid is the logistic function 1/(1+e⁻ᵃ), by sign so that the small side
// keeps its relative accuracy.
func Sigmoid(a float64) float64 {
	if a >= 0 {
		return 1 / (1 + math.Exp(-a))
	}
	e := math.Exp(a)
	return e / (1 + e)
}

// LogSigmoid is log σ(a) = −log(1+e⁻ᵃ).
func LogSigmoid(a float64) float64 {
	return -Softplus(-a)
}

// Softplus is log(1+eᵃ); it does not overflow at large a and keeps its
// relative accuracy at large −a.
func Softplus(a float64) float64 {
	if a > 0 {
		return a + math.Log1p(math.Exp(-a))
	}
	return math.Log1p(math.Exp(a))
}

// Logit is log(p/(1−p)), the inverse of Sigmoid.
func Logit(p float64) float64 {
	return math.Log(p) - math.Log1p(-p)
}

// LogAddExp is log(eᵃ+eᵇ); −Inf for two −Inf.
func LogAddExp(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(a, 0) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// LogSumExp is log Σ exp(a_i); −Inf for an empty slice or all −Inf.
func LogSumExp(a []float64) float64 {
	top := math.Inf(-1)
	for _, v := range a {
		if v > top || math.IsNaN(v) {
			top = v
		}
	}
	if math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, v := range a {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum)
}

// Log1mExp is log(1−eᵃ) for a ≤ 0, switching at −log 2 where either form
// would start to cancel (Mächler 2012).
func Log1mExp(a float64) float64 {
	if a > -math.Ln2 {
		return math.Log(-math.Expm1(a))
	}
	return math.Log1p(-math.Exp(a))
}

// ExpRemainder is eᵈ − 1 − d ≥ 0, the Poisson and gamma deviance in the log
// of the ratio. Below 1e-2 in size the series replaces the difference.
func ExpRemainder(d float64) float64 {
	if math.Abs(d) < 1e-2 {
		return d * d * (1.0/2 + d*(1.0/6+d*(1.0/24+d*(1.0/120+d*(1.0/720+d/5040)))))
	}
	return math.Expm1(d) - d
}

// LogRemainder is log(1+u) − u ≤ 0 for u > −1, without the cancellation at
// small u.
func LogRemainder(u float64) float64 {
	if math.Abs(u) < 1e-2 {
		return u * u * (-1.0/2 + u*(1.0/3+u*(-1.0/4+u*(1.0/5+u*(-1.0/6+u*(1.0/7+u*(-1.0/8)))))))
	}
	return math.Log1p(u) - u
}

// BernoulliDivergence is KL(w ‖ w') ≥ 0 between two Bernoulli distributions,
// w stated by itself and by its complement, w' by logit w' = logit w + shift.
// It is the Bregman divergence of Softplus,
//
//	log(1 − w + w e^shift) − w·shift,
//
// evaluated on the side whose weight is below ½, so that its absolute error
// is of the order of 1e-16·min(w, 1−w)·|shift|: the binomial and negative
// binomial log densities multiply it by counts of any size.
func BernoulliDivergence(w, complement, shift float64) float64 {
	if w > complement {
		w, complement, shift = complement, w, -shift
	}
	if w == 0 {
		return 0
	}
	if shift > 30 { // e^shift would overflow or swamp 1−w
		return LogAddExp(math.Log1p(-w), math.Log(w)+shift) - w*shift
	}
	u := w * math.Expm1(shift)
	if math.Abs(shift) > 1 { // the two terms are no longer alike
		return math.Log1p(u) - w*shift
	}
	return LogRemainder(u) + w*ExpRemainder(shift)
}
