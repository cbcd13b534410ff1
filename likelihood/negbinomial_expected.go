package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// ExpectedLogDensity is a constant plus y·mean − (y+r) E log(1+e^t), t = f − log r,
// by the logistic mixture up to y+r = 20 and by quadrature beyond.
func (l NegativeBinomial) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	r := l.size()
	n, t := y+r, mean-math.Log(r)
	softplus, p, curvature := softplusTimes(n, t, variance)
	return l.fromSoftplus(y, mean, softplus, p, curvature)
}

// fromSoftplus makes the expectation of y from that of log(1+e^t) and its gradients.
func (l NegativeBinomial) fromSoftplus(y, mean, softplus, p, curvature float64) (value, dMean, dVariance float64) {
	r := l.size()
	n, t := y+r, mean-math.Log(r)
	// log p(y|mean) plus n times the Jensen gap, which is the small part.
	value = l.LogDensity(y, mean) - n*(softplus-special.Softplus(t))
	return value, y - n*p, -n * curvature
}

// TiltedMoments is by quadrature.
func (l NegativeBinomial) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	if y == 0 || variance <= 0 {
		return tiltedMoments(l, y, mean, variance)
	}
	// Derivatives with what depends on y alone taken out of the loop.
	r := l.size()
	n, logR, logY := y+r, math.Log(r), math.Log(y)
	peak, w, complement := negbinomialAtMode(y, r), r/n, y/n
	return quad.Tilted(func(f float64) (value, first, second float64) {
		p, q := sigmoids(f - logR)
		return peak - n*special.BernoulliDivergence(w, complement, logY-f), y*q - r*p, -n * p * q
	}, mean, variance)
}

// PredictiveMean returns exp(mean + variance/2).
func (l NegativeBinomial) PredictiveMean(mean, variance float64) float64 {
	return math.Exp(mean + variance/2)
}

// PredictiveVariance returns E μ + E μ²/r + Var μ.
func (l NegativeBinomial) PredictiveVariance(mean, variance float64) float64 {
	mu, spread, second := logNormalMoments(mean, variance)
	return mu + second/l.size() + spread
}

// PredictiveLogDensity is by quadrature.
func (l NegativeBinomial) PredictiveLogDensity(y, mean, variance float64) float64 {
	if !isCount(y) {
		return math.Inf(-1)
	}
	logZ, _, _ := l.TiltedMoments(y, mean, variance)
	return logZ
}

// PredictiveCDF is by quadrature.
func (l NegativeBinomial) PredictiveCDF(y, mean, variance float64) float64 {
	if y < 0 {
		return 0
	}
	median := math.Floor(y) + 2.0/3
	return quad.Step(func(f float64) float64 { return l.CDF(y, f) }, mean, variance,
		math.Log(median), math.Sqrt(1/median+1/l.size()))
}

// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p.
func (l NegativeBinomial) PredictiveQuantile(p, mean, variance float64) float64 {
	start, scale := logLinkStart(p, mean, variance, math.Exp(-mean)+1/l.size())
	return quad.Count(func(y float64) float64 { return l.PredictiveCDF(y, mean, variance) }, p,
		start, scale, 0, math.Inf(1))
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l NegativeBinomial) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	l.eachSoftplus(y, mean, variance, func(i int, softplus, p, curvature float64) {
		value[i], dMean[i], dVariance[i] = l.fromSoftplus(y[i], mean[i], softplus, p, curvature)
	})
}

// eachSoftplus calls do with E log(1+e^t) and its gradients for every row.
func (l NegativeBinomial) eachSoftplus(y, mean, variance []float64, do func(i int, softplus, p, curvature float64)) {
	var t terms
	var n, shifted, softplus, p, curvature [rowsAtOnce]float64
	r := l.size()
	logR := math.Log(r)
	for from := 0; from < len(y); from += rowsAtOnce {
		to := min(len(y), from+rowsAtOnce)
		count := to - from
		for i := range count {
			n[i], shifted[i] = y[from+i]+r, mean[from+i]-logR
		}
		softplusTimesRows(&t, softplus[:count], p[:count], curvature[:count], n[:count], shifted[:count], variance[from:to])
		for i := range count {
			do(from+i, softplus[i], p[i], curvature[i])
		}
	}
}

// Parameters returns the size, "size".
func (l NegativeBinomial) Parameters() []Parameter {
	return []Parameter{parameter("size", l.Size, 1)}
}

// WithParameters returns the family at another size.
func (l NegativeBinomial) WithParameters(values []float64) Family {
	checkValues("negbinomial", values, 1)
	return NegativeBinomial{Size: l.Size.At(values[0])}
}

// ParameterGradient stores r times
//
//	[ψ(y+r) − log(y+r)] − [ψ(r) − log r] + log(1+u) − u,   u = (y−μ)/(r+μ),
//
// in which large sizes do not cancel.
func (l NegativeBinomial) ParameterGradient(dst []float64, y, f float64) {
	checkValues("negbinomial", dst, 1)
	r := l.size()
	t := f - math.Log(r)
	p, q := special.Sigmoid(t), special.Sigmoid(-t)
	u := y/r*q - p
	// log(1+u) is log((y+r)/(μ+r)), which has its digits where u is near −1.
	remainder := special.LogRemainder(u)
	if u < -0.5 {
		remainder = math.Log1p(y/r) - special.Softplus(t) - u
	}
	dst[0] = r * (special.DigammaMinusLog(y+r) - special.DigammaMinusLog(r) + remainder)
}

// ExpectedParameterGradient stores the gradient at mean, less r times the Jensen
// gaps of log(1+e^t) and of (y+r)/r σ(−t).
func (l NegativeBinomial) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	l.ParameterGradient(dst, y, mean)
	r := l.size()
	softplus, p, _ := softplusTimes(y+r, mean-math.Log(r), variance)
	dst[0] -= l.parameterGap(y, mean, softplus, p)
}

// ExpectedParameterGradients implements [ParametricBatch].
func (l NegativeBinomial) ExpectedParameterGradients(dst, y, mean, variance []float64) {
	checkRows(len(y), dst, mean, variance)
	l.eachSoftplus(y, mean, variance, func(i int, softplus, p, _ float64) {
		l.ParameterGradient(dst[i:i+1], y[i], mean[i])
		dst[i] -= l.parameterGap(y[i], mean[i], softplus, p)
	})
}

// parameterGap is what the gradient at the mean exceeds its expectation by.
func (l NegativeBinomial) parameterGap(y, mean, softplus, p float64) float64 {
	r := l.size()
	t := mean - math.Log(r)
	return r*(softplus-special.Softplus(t)) - (y+r)*(p-special.Sigmoid(t))
}
