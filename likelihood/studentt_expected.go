package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// A Student-t variable is normal with variance Scale²/λ for a gamma variable λ of
// shape a = ν/2 and mean 1. Every expectation below is one integral over
// u = log λ, smooth however narrow the density is beside the normal of f:
// quadrature in f would have to resolve that.

// studentExpectations are, for X = (y−f)²/c with c = ν·Scale², f ~ N(mean, variance),
// alpha = (y−mean)²/c and beta = variance/c:
//
//	E log(1+X),   its derivatives in alpha and beta,   E 1/(1+X).
//
// From log(1+X) = ∫ (1 − e^(−tX)) e^(−t)/t dt and the normal integral
// G(t) = E e^(−tX) = exp(−tα/(1+2tβ))/√(1+2tβ) the four are integrals over
// t = eᵘ. The first is taken about log(1+A), A = E X, the value without spread.
func studentExpectations(alpha, beta float64) (value, dAlpha, dBeta, shrink float64) {
	a := alpha + beta
	// The integrands are analytic for |Im u| < π/2: an error of exp(−π²/h).
	const h = 0.36
	start := -math.Log1p(a) - 17
	gap := 0.0
	for u := start; u < 3.75; u += h { // e^−e^3.75 = 4e-19
		t := math.Exp(u)
		spread := 1 / (1 + 2*t*beta)
		weight := math.Exp(-t)
		g := math.Exp(-t*alpha*spread) * math.Sqrt(spread)
		gap += (g - math.Exp(-t*a)) * weight
		g *= weight * t
		shrink += g
		dAlpha += g * spread
		dBeta += g * spread * (1 - 2*t*alpha*spread)
	}
	// Below start the last three integrands are e^u up to e^−17 of themselves.
	tail := math.Exp(start) / math.Expm1(h)
	return math.Log1p(a) - h*gap, h * (dAlpha + tail), h * (dBeta + tail), h * (shrink + tail)
}

// wide says whether the normal of f is so much narrower than the density that
// plain quadrature in f is the faster way.
func (l StudentT) wide(variance float64) bool {
	w := l.width()
	return variance <= w*w/4
}

// ExpectedLogDensity is by a series, or by quadrature in f or in the scale.
func (l StudentT) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	width := l.width()
	return l.expected(special.LogStudentPeak(l.df(), width), width, y, mean, variance)
}

// expected is ExpectedLogDensity from the log density at the peak.
func (l StudentT) expected(peak, width, y, mean, variance float64) (value, dMean, dVariance float64) {
	nu := l.df()
	if l.wide(variance) {
		logarithm, first, second := quad.LogSquare((mean-y)/width, variance/(width*width))
		return peak - (nu+1)/2*logarithm, -(nu + 1) / width * first, -(nu + 1) / (2 * width * width) * second
	}
	d := (y - mean) / width
	expectation, dAlpha, dBeta, _ := studentExpectations(d*d, variance/(width*width))
	return peak - (nu+1)/2*expectation, (nu + 1) * d / width * dAlpha, -(nu + 1) / 2 / (width * width) * dBeta
}

// TiltedMoments is by the trapezium rule over u = log λ: Z is the mixture over λ of N(y|mean, variance + Scale²/λ),
// which may have two peaks. The integrand is analytic for |Im u| < π/2, and is larger there by cos(Im u)^−a at most:
// with these steps the rule is off by less than 1e-11.
func (l StudentT) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	if variance <= 0 {
		value, first, second := l.Derivatives(y, mean)
		return value, first, (second + first*first) / 2
	}
	const negligible = 1e-15
	// More degrees of freedom would have steps too small to count, and change nothing.
	a, s2, d := math.Min(l.df()/2, mostShape), l.scale()*l.scale(), y-mean
	h := 0.62 / math.Sqrt(a+4)
	// logTerm is that of step k but for −½ log v.
	logTerm := func(k float64) (t, v float64) {
		u := h * k
		lambda := math.Exp(u)
		remainder := lambda - 1 - u
		if math.Abs(u) < 0.01 {
			remainder = special.ExpRemainder(u)
		}
		v = variance + s2/lambda
		return -a*remainder - d*d/v/2, v
	}
	whole := func(k float64) float64 {
		t, v := logTerm(k)
		return t - math.Log(v)/2
	}
	// λ is near 1, unless the residual asks for a smaller one.
	far := math.Min(0, math.Floor((math.Log(a+0.5)-math.Log(a+d*d/(2*s2)))/h))
	middle, high := far, 0.0
	for high-middle > 1 {
		if k := math.Floor((middle + high) / 2); whole(k+1) > whole(k) {
			middle = k
		} else {
			high = k
		}
	}
	starts := [3]float64{0, high, far}
	best := 0.0
	for _, start := range starts {
		if whole(start) > whole(best) {
			best = start
		}
	}
	peak, v := logTerm(best)
	largest := 1 / math.Sqrt(v)
	var z, first, second float64
	// from sums the steps before end, until nothing is left beside the sum and the largest start.
	from := func(k, by, end float64) float64 {
		for ; k != end; k += by {
			t, v := logTerm(k)
			if t > peak+30 {
				scale := math.Exp(peak - t)
				z, first, second, largest, peak = z*scale, first*scale, second*scale, largest*scale, t
			}
			w := math.Exp(t-peak) / math.Sqrt(v)
			z += w
			first += w * d / v
			second += w * (d*d/v - 1) / (2 * v)
			if !(w > negligible*math.Max(z, largest)) { // also where w is no number
				break
			}
		}
		return k
	}
	least := math.Inf(1) // steps from here on are summed
	for _, start := range starts {
		if start < least {
			from(start, 1, least)
			least = from(start-1, -1, math.Inf(-1))
		}
	}
	return peak + gammaAtMode(a) - special.LogSqrt2Pi + math.Log(h*z), first / z, second / z
}

// mostShape is half the degrees of freedom from which on a Student t is a normal distribution, to rounding.
const mostShape = 1e13

// PredictiveMean returns mean; NaN for at most one degree of freedom.
func (l StudentT) PredictiveMean(mean, _ float64) float64 { return l.Mean(mean) }

// PredictiveVariance returns variance + Scale²·ν/(ν−2), as Variance does.
func (l StudentT) PredictiveVariance(mean, variance float64) float64 {
	return variance + l.Variance(mean)
}

// PredictiveCDF is by quadrature: over f where its normal is the narrower, over the scale elsewhere.
func (l StudentT) PredictiveCDF(y, mean, variance float64) float64 {
	if variance <= 0 || math.IsInf(y, 0) {
		return l.CDF(y, mean)
	}
	// The lower tail on either side, which keeps its relative accuracy.
	nu, s := l.df(), l.scale()
	d := -math.Abs(y - mean)
	tail := 0.0
	if sd := math.Sqrt(variance) / s; sd <= narrowStudent {
		peak := special.LogStudentPeak(nu, math.Sqrt(nu))
		tail = special.StudentCDF(d/s, nu) + quad.Narrow(func(t float64) float64 {
			return math.Exp(peak - (nu+1)/2*math.Log1p(t*t/nu))
		}, -d/s, sd)
	} else {
		tail = l.scaleMixture(d, variance)
	}
	if y > mean {
		return 1 - tail
	}
	return tail
}

// narrowStudent is the standard deviation of f in scales up to which the quadrature over f settles.
const narrowStudent = 0.25

// scaleMixture returns E Φ(d/√(variance + Scale²/λ)) by the trapezium rule over u = log λ. The integrand
// is analytic for |Im u| < π/2, and near its mode as wide as 1/√a: with these steps it is off by less than 1e-9.
func (l StudentT) scaleMixture(d, variance float64) float64 {
	const negligible = 1e-13
	a, s2 := l.df()/2, l.scale()*l.scale()
	peak, h := gammaAtMode(a), 0.9/math.Sqrt(a+4)
	weight := func(u float64) float64 { return math.Exp(peak - a*special.ExpRemainder(u)) }
	term := func(u float64) float64 {
		return weight(u) * special.NormalCDF(d/math.Sqrt(variance+s2*math.Exp(-u)))
	}
	// the scale that reaches d, whose square may be beyond all numbers
	far := math.Min(0, 2*math.Log(l.scale()/math.Abs(d)))
	sum := term(0)
	for u := h; ; u += h {
		t := term(u)
		if sum += t; !(t > negligible*sum) {
			break
		}
	}
	for u := -h; ; u -= h {
		t := term(u)
		if sum += t; !(t > negligible*sum) && (u < far || weight(u) <= negligible*sum) {
			break
		}
	}
	return sum * h
}

// Location implements [Located].
func (l StudentT) Location() (unit float64, logarithm bool) {
	return l.scale() * math.Sqrt(l.df()/(l.df()+1)), false
}

// PredictiveQuantile returns the y with PredictiveCDF = p.
func (l StudentT) PredictiveQuantile(p, mean, variance float64) float64 {
	s := l.scale()
	sign := 1.0
	if p > 0.5 {
		p, sign = 1-p, -1
	}
	spread := math.Sqrt(variance + s*s)
	d := quad.Quantile(func(d float64) float64 { return l.PredictiveCDF(d, 0, variance) }, p,
		spread*special.NormalQuantile(math.Max(p, 1e-12)), spread/2, math.Inf(-1), math.Inf(1))
	return mean + sign*d
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l StudentT) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	width := l.width()
	peak := special.LogStudentPeak(l.df(), width)
	for i := range y {
		value[i], dMean[i], dVariance[i] = l.expected(peak, width, y[i], mean[i], variance[i])
	}
}

// Parameters returns the degrees of freedom, "df", and the scale, "scale".
func (l StudentT) Parameters() []Parameter {
	return []Parameter{
		parameter("df", l.DegreesOfFreedom, 4),
		parameter("scale", l.Scale, 1),
	}
}

// WithParameters returns the family at other degrees of freedom and scale.
func (l StudentT) WithParameters(values []float64) Family {
	checkValues("studentt", values, 2)
	return StudentT{DegreesOfFreedom: l.DegreesOfFreedom.At(values[0]), Scale: l.Scale.At(values[1])}
}

// ExpectedParameterGradient stores
//
//	½ν[ψ((ν+1)/2) − ψ(ν/2) − 1/ν − E log(1+X)] + R   and   −1 + 2R,
//
// where R = ½(ν+1) E X/(1+X) and X = (y−f)²/(ν Scale²).
func (l StudentT) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("studentt", dst, 2)
	l.ExpectedParameterGradients(dst, []float64{y}, []float64{mean}, []float64{variance})
}

// ExpectedParameterGradients implements [ParametricBatch].
func (l StudentT) ExpectedParameterGradients(dst, y, mean, variance []float64) {
	checkRows(len(y), mean, variance)
	checkValues("studentt", dst, 2*len(y))
	nu, width := l.df(), l.width()
	// of the log density at the peak
	rest := special.DigammaMinusLog((nu+1)/2) - special.DigammaMinusLog(nu/2) + special.LogRemainder(1/nu)
	for i := range y {
		var logarithm, share float64 // E log(1+X) and E X/(1+X)
		if d, v := (mean[i]-y[i])/width, variance[i]/(width*width); l.wide(variance[i]) {
			logarithm, share = quad.LogSquareShare(d, v)
		} else {
			value, _, _, shrink := studentExpectations(d*d, v)
			logarithm, share = value, 1-shrink
		}
		r := (nu + 1) / 2 * share
		dst[2*i], dst[2*i+1] = nu/2*(rest-logarithm)+r, 2*r-1
	}
}
