package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// ExpectedLogDensity is the logistic mixture for Logit, −E eᶠ for Cloglog at
// y = 0, and quadrature otherwise.
func (l Bernoulli) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	switch {
	case l.Link == Cloglog && y == 0:
		mu := math.Exp(mean + variance/2)
		return -mu, -mu, -mu / 2
	case l.Link == Cloglog || l.Link == Probit:
		return expectedLogDensity(l, y, mean, variance)
	}
	return expectedLogSigmoid(y, mean, variance)
}

// expectedLogSigmoid is E log σ(cf) with its gradients, c = 2y−1.
func expectedLogSigmoid(y, mean, variance float64) (value, dMean, dVariance float64) {
	if y == 0 {
		value, dMean, dVariance = quad.Softplus(mean, variance)
		return -value, -dMean, -dVariance
	}
	value, dMean, dVariance = quad.Softplus(-mean, variance)
	return -value, dMean, -dVariance
}

// TiltedMoments is in closed form for Probit (Rasmussen & Williams 2006, §3.6), by
// the logistic mixture or quadrature for Logit, and by quadrature for Cloglog.
func (l Bernoulli) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	c := 1.0
	if y == 0 {
		c = -1
	}
	switch l.Link {
	case Probit:
		s := 1 + variance
		root := math.Sqrt(s)
		z := c * mean / root
		logZ, r, _ := special.LogNormalCDFDerivatives(z)
		dVariance = -z * r / (2 * s)
		if r == 0 { // z·0 at infinity
			dVariance = 0
		}
		return logZ, c * r / root, dVariance
	case Cloglog:
		return tiltedMoments(l, y, mean, variance)
	}
	if variance <= 0 {
		return quad.Tilted(func(f float64) (float64, float64, float64) { return l.Derivatives(y, f) }, mean, variance)
	}
	logZ, dMean, dVariance = quad.LogSigmoid(c*mean, variance)
	return logZ, c * dMean, dVariance
}

// predictive returns P(y=1) and P(y=0) under f ~ N(mean, variance), the smaller
// of the two to full relative accuracy for Probit and to 1e-8 for Logit.
func (l Bernoulli) predictive(mean, variance float64) (one, zero float64) {
	switch l.Link {
	case Probit:
		return l.probability(mean / math.Sqrt(1+variance))
	case Cloglog:
		logZ, _, _ := tiltedMoments(l, 0, mean, variance)
		return -math.Expm1(logZ), math.Exp(logZ)
	}
	if variance <= 0 {
		return l.probability(mean)
	}
	logZ, _, _ := quad.LogSigmoid(-math.Abs(mean), variance)
	small := math.Exp(logZ)
	if mean < 0 {
		return small, 1 - small
	}
	return 1 - small, small
}

// PredictiveMean returns P(y=1).
func (l Bernoulli) PredictiveMean(mean, variance float64) float64 {
	one, _ := l.predictive(mean, variance)
	return one
}

// PredictiveVariance returns P(y=1) P(y=0).
func (l Bernoulli) PredictiveVariance(mean, variance float64) float64 {
	one, zero := l.predictive(mean, variance)
	return one * zero
}

// PredictiveLogDensity returns log P(y).
func (l Bernoulli) PredictiveLogDensity(y, mean, variance float64) float64 {
	if y != 0 && y != 1 {
		return math.Inf(-1)
	}
	logZ, _, _ := l.TiltedMoments(y, mean, variance)
	return logZ
}

// PredictiveCDF returns P(y=0) on [0, 1).
func (l Bernoulli) PredictiveCDF(y, mean, variance float64) float64 {
	_, zero := l.predictive(mean, variance)
	return bernoulliCDF(y, zero)
}

// PredictiveQuantile returns 0 up to p = P(y=0), then 1.
func (l Bernoulli) PredictiveQuantile(p, mean, variance float64) float64 {
	_, zero := l.predictive(mean, variance)
	return bernoulliQuantile(p, zero)
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Bernoulli) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	switch l.Link {
	case Probit:
		expectedRows(probit, value, dMean, dVariance, y, mean, variance, l.ExpectedLogDensity)
	case Cloglog:
		expectedRows(cloglog, value, dMean, dVariance, y, mean, variance, l.ExpectedLogDensity)
	default:
		logSigmoidRows(value, dMean, dVariance, y, mean, variance)
	}
}
