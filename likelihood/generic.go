package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// The functions here serve every family that has no closed form for an ability.
// They are generic, not interface calls, so that no receiver is moved to the heap.

// expectedLogDensity is ExpectedLogDensity by quadrature.
func expectedLogDensity[L Differentiable](l L, y, mean, variance float64) (value, dMean, dVariance float64) {
	return quad.Normal(func(f float64) (float64, float64, float64) {
		value, first, second := l.Derivatives(y, f)
		return value, first, second / 2
	}, mean, variance)
}

// tiltedMoments is TiltedMoments by quadrature, for log-concave families.
func tiltedMoments[L Differentiable](l L, y, mean, variance float64) (logZ, dMean, dVariance float64) {
	return quad.Tilted(func(f float64) (float64, float64, float64) {
		return l.Derivatives(y, f)
	}, mean, variance)
}

// predictiveMoments is E y and Var y by quadrature. The variance of the mean is
// taken about E[y|mean], so that it does not cancel.
func predictiveMoments[L Family](l L, mean, variance float64) (yMean, yVariance float64) {
	centre := l.Mean(mean)
	shift, within, between := quad.Normal(func(f float64) (float64, float64, float64) {
		d := l.Mean(f) - centre
		return d, l.Variance(f), d * d
	}, mean, variance)
	return centre + shift, within + math.Max(between-shift*shift, 0)
}

// logNormalMoments is the mean, the variance and the second moment of eᶠ.
func logNormalMoments(mean, variance float64) (mu, spread, second float64) {
	mu = math.Exp(mean + variance/2)
	return mu, mu * mu * math.Expm1(variance), math.Exp(2 * (mean + variance))
}

// logLinkStart guesses a predictive quantile of a family with mean eᶠ, whose log
// has about the variance of f plus that of log y. It also gives the scale.
func logLinkStart(p, mean, variance, within float64) (start, scale float64) {
	spread := math.Sqrt(variance + math.Min(within, 1)) // small counts are not log-normal
	start = math.Min(math.Exp(mean+spread*roughQuantile(p)), math.MaxFloat64)
	return start, math.Min(math.Max(start*spread/8, 1e-300), math.MaxFloat64)
}

// roughQuantile is Φ⁻¹(p), not too far out, to start a search from.
func roughQuantile(p float64) float64 {
	return special.NormalQuantile(math.Min(math.Max(p, 1e-12), 1-1e-12))
}

// countQuantile is PredictiveQuantile of a family of counts, searched from start in steps of scale.
func countQuantile[L interface {
	Supported
	Predictive
}](l L, p, mean, variance, start, scale float64) float64 {
	_, upper := l.Support()
	return quad.Count(func(y float64) float64 { return l.PredictiveCDF(y, mean, variance) }, p, start, scale, 0, upper)
}

// checkRows panics unless all slices have n elements.
func checkRows(n int, slices ...[]float64) {
	for _, s := range slices {
		if len(s) != n {
			panic("likelihood: batch slices differ in length")
		}
	}
}

// expectedBatch is ExpectedLogDensities row by row.
func expectedBatch[L Expected](l L, value, dMean, dVariance, y, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	for i := range y {
		value[i], dMean[i], dVariance[i] = l.ExpectedLogDensity(y[i], mean[i], variance[i])
	}
}

// Repeated is the ability to give the density of one y at many f by vector kernels,
// where draws from a posterior are judged.
type Repeated interface {
	// LogDensitiesAt stores log p(y|f[i]) in dst[i], which may be f: the values of
	// LogDensity, to rounding of their largest term. y must lie in the support.
	LogDensitiesAt(dst []float64, y float64, f []float64)
}

// LogDensities stores log p(y|f[i]) of any family in dst, which may be f.
func LogDensities(l Family, dst []float64, y float64, f []float64) {
	if r, ok := l.(Repeated); ok {
		r.LogDensitiesAt(dst, y, f)
	} else {
		eachLogDensity(l, dst, y, f)
	}
}

func eachLogDensity[L Family](l L, dst []float64, y float64, f []float64) {
	for i, v := range f {
		dst[i] = l.LogDensity(y, v)
	}
}

// LogDensitiesAt implements [Repeated].
func (l Bernoulli) LogDensitiesAt(dst []float64, y float64, f []float64) {
	if l.Link == Probit || l.Link == Cloglog {
		eachLogDensity(l, dst, y, f)
		return
	}
	for i, v := range f {
		if y != 0 {
			v = -v
		}
		dst[i] = v
	}
	kernel.Log1pExp(dst, dst)
	kernel.Scale(-1, dst)
}

// LogDensitiesAt implements [Repeated].
func (l Poisson) LogDensitiesAt(dst []float64, y float64, f []float64) {
	if l.Link == Softplus {
		eachLogDensity(l, dst, y, f)
		return
	}
	peak, logY := 0.0, 0.0
	if y > 0 {
		peak, logY = poissonAtMode(y)+y, math.Log(y)
	}
	var mu [rowsAtOnce]float64
	for from := 0; from < len(f); from += rowsAtOnce {
		n := min(rowsAtOnce, len(f)-from)
		kernel.Exp(mu[:n], f[from:from+n])
		for i, v := range mu[:n] {
			dst[from+i] = peak + y*(f[from+i]-logY) - v
		}
	}
}
