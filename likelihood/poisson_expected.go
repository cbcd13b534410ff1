package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// ExpectedLogDensity is in closed form for Log, from E eᶠ = exp(mean +
// variance/2), by the logistic mixture for Softplus at y = 0, and by quadrature
// otherwise.
func (l Poisson) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	if l.Link == Softplus {
		if y == 0 {
			value, dMean, dVariance = quad.Softplus(mean, variance)
			return -value, -dMean, -dVariance
		}
		return expectedLogDensity(l, y, mean, variance)
	}
	t := mean + variance/2
	mu := math.Exp(t)
	if y == 0 {
		return -mu, -mu, -mu / 2
	}
	// The density at the log mean t, and what y·mean falls short of y·t.
	value = poissonAtMode(y) - y*special.ExpRemainder(t-math.Log(y)) - y*variance/2
	return value, y - mu, -mu / 2
}

// TiltedMoments is by quadrature.
func (l Poisson) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	if l.Link == Softplus || y == 0 || variance <= 0 {
		return tiltedMoments(l, y, mean, variance)
	}
	// Derivatives with what depends on y alone taken out of the loop.
	peak, logY := poissonAtMode(y), math.Log(y)
	return quad.Tilted(func(f float64) (value, first, second float64) {
		d := f - logY
		excess := special.ExpRemainder(d) // μ/y − 1 − d
		return peak - y*excess, -y * (excess + d), -y * (1 + excess + d)
	}, mean, variance)
}

// PredictiveMean returns exp(mean + variance/2) for Log, E log(1+eᶠ) for Softplus.
func (l Poisson) PredictiveMean(mean, variance float64) float64 {
	if l.Link == Softplus {
		mu, _ := predictiveMoments(l, mean, variance)
		return mu
	}
	return math.Exp(mean + variance/2)
}

// PredictiveVariance returns E μ + Var μ.
func (l Poisson) PredictiveVariance(mean, variance float64) float64 {
	if l.Link == Softplus {
		_, v := predictiveMoments(l, mean, variance)
		return v
	}
	mu, spread, _ := logNormalMoments(mean, variance)
	return mu + spread
}

// PredictiveLogDensity is by quadrature.
func (l Poisson) PredictiveLogDensity(y, mean, variance float64) float64 {
	if !isCount(y) {
		return math.Inf(-1)
	}
	logZ, _, _ := l.TiltedMoments(y, mean, variance)
	return logZ
}

// PredictiveCDF is by quadrature.
func (l Poisson) PredictiveCDF(y, mean, variance float64) float64 {
	if y < 0 {
		return 0
	}
	// At most y counts have probability ½ at a mean near y + ⅔.
	median := math.Floor(y) + 2.0/3
	centre, width := math.Log(median), 1/math.Sqrt(median)
	if l.Link == Softplus { // f = log(eᵘ − 1), df/du = u'/σ(f)
		width = math.Sqrt(median) / -math.Expm1(-median)
		centre = median + math.Log(-math.Expm1(-median))
	}
	return quad.Step(func(f float64) float64 { return l.CDF(y, f) }, mean, variance, centre, width)
}

// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p.
func (l Poisson) PredictiveQuantile(p, mean, variance float64) float64 {
	var start, scale float64
	if l.Link == Softplus {
		mu, v := predictiveMoments(l, mean, variance)
		z := special.NormalQuantile(math.Min(math.Max(p, 1e-12), 1-1e-12))
		start, scale = mu+z*math.Sqrt(v), math.Sqrt(v)/4
	} else {
		start, scale = logLinkStart(p, mean, variance, math.Exp(-mean))
	}
	return quad.Count(func(y float64) float64 { return l.PredictiveCDF(y, mean, variance) }, p,
		start, scale, 0, math.Inf(1))
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Poisson) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	if l.Link != Softplus {
		expectedBatch(l, value, dMean, dVariance, y, mean, variance)
		return
	}
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	expectedRows(softplus, value, dMean, dVariance, y, mean, variance, l.ExpectedLogDensity)
}
