package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// ExpectedLogDensity is in closed form, from E e⁻ᶠ = exp(−mean + variance/2).
func (l Gamma) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	a, logY := l.shape(), math.Log(y)
	d := logY - mean + variance/2
	// The density at d, and what log y − mean falls short of d.
	value = gammaAtMode(a) - logY - a*special.ExpRemainder(d) - a*variance/2
	return value, a * math.Expm1(d), -a * math.Exp(d) / 2
}

// TiltedMoments is by quadrature.
func (l Gamma) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	if variance <= 0 {
		return tiltedMoments(l, y, mean, variance)
	}
	// Derivatives with what depends on y alone taken out of the loop.
	a, logY := l.shape(), math.Log(y)
	peak := gammaAtMode(a) - logY
	return quad.Tilted(func(f float64) (value, first, second float64) {
		d := logY - f
		excess := special.ExpRemainder(d) // y/μ − 1 − d
		return peak - a*excess, a * (excess + d), -a * (1 + excess + d)
	}, mean, variance)
}

// PredictiveMean returns exp(mean + variance/2).
func (l Gamma) PredictiveMean(mean, variance float64) float64 {
	return math.Exp(mean + variance/2)
}

// PredictiveVariance returns E μ²/a + Var μ.
func (l Gamma) PredictiveVariance(mean, variance float64) float64 {
	_, spread, second := logNormalMoments(mean, variance)
	return second/l.shape() + spread
}

// PredictiveLogDensity is by quadrature.
func (l Gamma) PredictiveLogDensity(y, mean, variance float64) float64 {
	if !(y > 0) || math.IsInf(y, 1) {
		return math.Inf(-1)
	}
	logZ, _, _ := l.TiltedMoments(y, mean, variance)
	return logZ
}

// PredictiveCDF is by quadrature.
func (l Gamma) PredictiveCDF(y, mean, variance float64) float64 {
	if y <= 0 {
		return 0
	}
	if math.IsInf(y, 1) {
		return 1
	}
	return quad.Step(func(f float64) float64 { return l.CDF(y, f) }, mean, variance,
		math.Log(y)+1/(3*l.shape()), 1/math.Sqrt(l.shape()))
}

// PredictiveQuantile returns the y with PredictiveCDF = p.
func (l Gamma) PredictiveQuantile(p, mean, variance float64) float64 {
	start, scale := logLinkStart(p, mean, variance, 1/l.shape())
	return quad.Quantile(func(y float64) float64 { return l.PredictiveCDF(y, mean, variance) }, p,
		start, scale, 0, math.Inf(1))
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Gamma) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	expectedBatch(l, value, dMean, dVariance, y, mean, variance)
}

// Parameters returns the shape, "shape".
func (l Gamma) Parameters() []Parameter {
	return []Parameter{parameter("shape", l.Shape, 1)}
}

// WithParameters returns the family at another shape.
func (l Gamma) WithParameters(values []float64) Family {
	checkValues("gamma", values, 1)
	return Gamma{Shape: l.Shape.At(values[0])}
}

// ParameterGradient stores −a [ψ(a) − log a + (eᵈ − 1 − d)], d = log y − f.
func (l Gamma) ParameterGradient(dst []float64, y, f float64) {
	l.ExpectedParameterGradient(dst, y, f, 0)
}

// ExpectedParameterGradient stores the same with E e⁻ᶠ in closed form.
func (l Gamma) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("gamma", dst, 1)
	a := l.shape()
	d := math.Log(y) - mean + variance/2
	dst[0] = -a * (special.DigammaMinusLog(a) + special.ExpRemainder(d) + variance/2)
}
