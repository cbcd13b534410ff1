package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Gamma is a positive y with mean μ = eᶠ and variance μ²/Shape; Shape 1 is the
// exponential distribution.
type Gamma struct {
	Shape param.Parameter `json:"shape,omitzero"` // left out: learned, from 1
}

func (l Gamma) shape() float64 { return l.Shape.Or(1) }

// Name is "gamma".
func (l Gamma) Name() string { return "gamma" }

// Describe implements [Described].
func (l Gamma) Describe() (Link, TargetKind) { return Log, Measurements }

func readGamma(a *spec.Arguments) Named {
	return Gamma{Shape: a.Means("one over the squared coefficient of variation", "").Setting("shape", spec.Positive())}
}

// String returns gamma or gamma(shape=…).
func (l Gamma) String() string { return textOf(l) }

// Validate refuses a shape that is not positive.
func (l Gamma) Validate() error { return checkPositive("gamma", "shape", l.Shape) }

// LogDensity returns a(log a − f) + (a−1) log y − a y e⁻ᶠ − log Γ(a), a = Shape,
// as a deviance in d = log y − f so that a large shape does not cancel.
func (l Gamma) LogDensity(y, f float64) float64 {
	if !(y > 0) || math.IsInf(y, 1) {
		return math.Inf(-1)
	}
	a, logY := l.shape(), math.Log(y)
	return gammaAtMode(a) - logY - a*special.ExpRemainder(logY-f)
}

// gammaAtMode is a log a − a − log Γ(a), the log density of log y at its mode.
func gammaAtMode(a float64) float64 {
	return math.Log(a)/2 - special.LogSqrt2Pi - special.StirlingError(a)
}

// Mean returns eᶠ.
func (l Gamma) Mean(f float64) float64 { return math.Exp(f) }

// Variance returns e²ᶠ/Shape.
func (l Gamma) Variance(f float64) float64 {
	mu := math.Exp(f)
	return mu * mu / l.shape()
}

// Derivatives returns log p(y|f), a(y e⁻ᶠ − 1) and −a y e⁻ᶠ.
func (l Gamma) Derivatives(y, f float64) (value, first, second float64) {
	a, d := l.shape(), math.Log(y)-f
	return l.LogDensity(y, f), a * math.Expm1(d), -a * math.Exp(d)
}

// Discrete returns false.
func (l Gamma) Discrete() bool { return false }

// Support is the positive half-line.
func (l Gamma) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a positive finite number.
func (l Gamma) CheckTarget(y float64) error {
	if err := checkFinite("gamma", y); err != nil {
		return err
	}
	if y <= 0 {
		return fmt.Errorf("target %v is not positive, which gamma needs: drop or shift such rows, or choose poisson or negbinomial for counts with zeros and gaussian for signed targets", y)
	}
	return nil
}

// CDF returns P(Y ≤ y|f), an incomplete gamma function.
func (l Gamma) CDF(y, f float64) float64 {
	switch {
	case y <= 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	}
	x := l.shape() * math.Exp(math.Log(y)-f)
	if math.IsInf(x, 1) {
		return 1
	}
	return mathext.GammaIncReg(l.shape(), x)
}

// Sample returns a draw of y.
func (l Gamma) Sample(rng *rand.Rand, f float64) float64 {
	a := l.shape()
	return drawGamma(rng, a) * math.Exp(f-math.Log(a))
}

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

// PredictiveCDF is by quadrature.
func (l Gamma) PredictiveCDF(y, mean, variance float64) float64 {
	if y <= 0 {
		return 0
	}
	if math.IsInf(y, 1) {
		return 1
	}
	a := l.shape()
	peak := gammaAtMode(a)
	return quad.Step(func(f float64) float64 { return l.CDF(y, f) },
		func(d float64) float64 { return math.Exp(peak - a*special.ExpRemainder(-d)) },
		mean, variance, math.Log(y), 1/math.Sqrt(math.Max(a, 1)))
}

// Location implements [Located].
func (l Gamma) Location() (unit float64, logarithm bool) {
	return 1 / math.Sqrt(math.Max(l.shape()+0.5, 1.5)), true
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

// WithPrecision implements [Dispersed]: it multiplies the shape.
func (l Gamma) WithPrecision(precision float64) Family {
	l.Shape = l.Shape.At(l.shape() * precision)
	return l
}

// ExpectedParameterGradient stores −a [ψ(a) − log a + E(eᵈ − 1 − d)], d = log y − f, with E e⁻ᶠ in
// closed form.
func (l Gamma) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("gamma", dst, 1)
	a := l.shape()
	d := math.Log(y) - mean + variance/2
	dst[0] = -a * (special.DigammaMinusLog(a) + special.ExpRemainder(d) + variance/2)
}
