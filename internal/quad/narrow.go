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

// analyticVariance is the largest variance at which nine nodes give [Analytic].
const analyticVariance = 1.0 / 256

// Analytic is [Normal] for functions of about unit size that are analytic within a distance of 1 of the real axis, as
// log(1+f²) and its derivatives are: nine nodes do for a small variance, as the fits of many rows have it. Their error
// is at most 9! variance⁹ |g⁽¹⁸⁾|/18!, for the second derivative of log(1+f²) 6e-15.
func Analytic(g func(f float64) (a, b, c float64), mean, variance float64) (a, b, c float64) {
	if !(variance <= analyticVariance) {
		return Normal(g, mean, variance)
	}
	sd := math.Sqrt(variance)
	for k, node := range nineNodes {
		for _, d := range [2]float64{sd * node.z, -sd * node.z} {
			x, y, z := g(mean + d)
			a, b, c = a+node.weight*x, b+node.weight*y, c+node.weight*z
			if k == 0 {
				break
			}
		}
	}
	return a, b, c
}
