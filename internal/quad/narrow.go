package quad

import "math"

// narrowVariance is the largest variance at which narrowSoftplus is right to 1e-11.
const narrowVariance = 1.0 / 64

// narrowSoftplus is [Softplus] for a variance of at most narrowVariance, as the fits of many rows have it: its series
//
//	E s(f) = Σ_k s⁽²ᵏ⁾(mean) (variance/2)ᵏ/k!
//
// up to k = 5, whose gradients in the mean and the variance are those of the sum. small is σ(−|mean|) and log is
// log(1+exp(−|mean|)). With q = σ(m)σ(−m) derivatives of even order of s = log(1+eᶠ) are polynomials in q; that of
// order 2k+1 is the derivative of that of 2k in q, times q(1−2σ(m)). The term left out is at most
// 86 variance⁶/46080 in the value, and 86 variance⁵/7680 in its slope in the variance.
func narrowSoftplus(mean, variance, small, log float64) (value, dMean, dVariance float64) {
	q, t := small*(1-small), variance/2
	tilt := q * (1 - 2*small) // q′ at −|mean|
	s4 := q * (1 - 6*q)
	s6 := q * (1 + q*(-30+q*120))
	s8 := q * (1 + q*(-126+q*(1680-q*5040)))
	s10 := q * (1 + q*(-510+q*(17640+q*(-151200+q*362880))))
	d4 := 1 - 12*q
	d6 := 1 + q*(-60+q*360)
	d8 := 1 + q*(-252+q*(5040-q*20160))
	d10 := 1 + q*(-1020+q*(52920+q*(-604800+q*1814400)))
	value = log + t*(q+t/2*(s4+t/3*(s6+t/4*(s8+t/5*s10))))
	dMean = small + t*tilt*(1+t/2*(d4+t/3*(d6+t/4*(d8+t/5*d10))))
	dVariance = (q + t*(s4+t/2*(s6+t/3*(s8+t/4*s10)))) / 2
	if mean > 0 { // s(f) = f + s(−f)
		return mean + value, 1 - dMean, dVariance
	}
	return value, dMean, dVariance
}

// middleVariance is the largest variance at which middleSoftplus is right to 1e-11.
const middleVariance = 1.0 / 8

// nineNodes are the nodes from 0 on and the weights of the Gauss–Hermite rule of nine nodes; a test derives it anew.
var nineNodes = [5]struct{ z, weight float64 }{
	{0, 0.40634920634920635},
	{1.0232556637891324, 0.24409750289493945},
	{2.0768479786778302, 0.049916406765217858},
	{3.2054290028564703, 0.0027891413212317684},
	{4.5127458633997826, 2.2345844007746583e-05},
}

// middleSoftplus is [Softplus] for a variance of at most middleVariance, by nine nodes at which the logistic function
// and log(1+eᶠ) are taken: fewer operations than the rule of the logistic distribution. The error of the value is at
// most 9! variance⁹ |s⁽¹⁸⁾|/18!, 4e-13.
func middleSoftplus(mean, variance float64) (value, dMean, dVariance float64) {
	a, sd := math.Abs(mean), math.Sqrt(variance)
	for k, node := range nineNodes {
		for _, d := range [2]float64{sd * node.z, -sd * node.z} {
			e := math.Exp(-math.Abs(d - a))
			log, small := math.Log1p(e), e/(1+e)
			if d > a {
				log, small = log+d-a, 1-small
			}
			value += node.weight * log
			dMean += node.weight * small
			dVariance += node.weight * (small * (1 - small))
			if k == 0 {
				break
			}
		}
	}
	if mean > 0 { // s(f) = f + s(−f)
		return mean + value, 1 - dMean, dVariance / 2
	}
	return value, dMean, dVariance / 2
}

// LogSquare returns E log(1+f²), E f/(1+f²) and E (1−f²)/(1+f²)² for f ~ N(mean, variance): the first two derivatives
// in the mean are twice the second and the third.
func LogSquare(mean, variance float64) (value, first, second float64) {
	if variance <= narrowSquare {
		value, first, second, _ = logSquare(mean, variance)
		return value, first, second
	}
	return Normal(func(f float64) (float64, float64, float64) {
		k := 1 / (1 + f*f)
		return math.Log1p(f * f), f * k, (1 - f*f) * k * k
	}, mean, variance)
}

// LogSquareShare returns E log(1+f²) and E f²/(1+f²) for f ~ N(mean, variance).
func LogSquareShare(mean, variance float64) (value, share float64) {
	if variance <= narrowSquare {
		value, _, _, share = logSquare(mean, variance)
		return value, share
	}
	value, share, _ = Normal(func(f float64) (float64, float64, float64) {
		return math.Log1p(f * f), 1 / (1 + 1/(f*f)), 0
	}, mean, variance)
	return value, share
}

// narrowSquare is the largest variance at which [logSquare] is right to the last digits: a dozen terms.
const narrowSquare = 1.0 / 256

// logSquare is [LogSquare] and [LogSquareShare] by the series E g(f) = Σ vᵏ g⁽²ᵏ⁾(m)/(2ᵏk!), which has a closed form:
// with w = 1/(f−i), log(1+f²) has the derivatives 2 Re w, −2 Re w², and the n-th of w is (−1)ⁿ n! wⁿ⁺¹. As |w| ≤ 1 on
// the whole real line, what is left after k terms is at most vᵏ(2k+1)!!.
func logSquare(mean, variance float64) (value, first, second, share float64) {
	const digits = 1e-17
	x := mean * mean
	im := 1 / (1 + x)
	re := mean * im // of w
	squareRe, squareIm := re*re-im*im, 2*re*im
	tRe, tIm := variance/2*squareRe, variance/2*squareIm // vᵏ(2k−1)!/(2ᵏk!) w²ᵏ
	var once, onceIm, twice, twiceIm float64             // Σ 2k t and Σ 2k(2k+1) t
	for k, rest := 1.0, 3*variance; rest > digits; k++ {
		value += tRe
		once, onceIm = once+2*k*tRe, onceIm+2*k*tIm
		twice, twiceIm = twice+2*k*(2*k+1)*tRe, twiceIm+2*k*(2*k+1)*tIm
		by := variance * k * (2*k + 1) / (k + 1)
		tRe, tIm = by*(tRe*squareRe-tIm*squareIm), by*(tRe*squareIm+tIm*squareRe)
		rest *= variance * (2*k + 3)
	}
	return math.Log1p(x) - 2*value, re + once*re - onceIm*im, -(squareRe + twice*squareRe - twiceIm*squareIm), 1/(1+1/x) - (once*im + onceIm*re)
}
