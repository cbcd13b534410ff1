package likelihood

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// Bernoulli is a two-valued y ∈ {0, 1} with P(y=1|f) given by the link: σ(f) for
// Logit, the default, Φ(f) for Probit, 1 − exp(−eᶠ) for Cloglog.
type Bernoulli struct {
	Link Link `json:"link,omitempty"`
}

// Name is "bernoulli".
func (l Bernoulli) Name() string { return "bernoulli" }

// Describe implements [Described].
func (l Bernoulli) Describe() (Link, TargetKind) { return cmp.Or(l.Link, Logit), Classes }

func readBernoulli(a *spec.Arguments) Named {
	return Bernoulli{Link: Link(a.Means("what takes the probability to f", "logit").Word("link", "", string(Logit), string(Probit), string(Cloglog)))}
}

// String returns bernoulli or bernoulli(link=…).
func (l Bernoulli) String() string { return linkText(l.Name(), l.Link) }

// Validate refuses a link that a Bernoulli does not have.
func (l Bernoulli) Validate() error {
	return checkLink("bernoulli", l.Link, Logit, Probit, Cloglog)
}

// LogDensity returns log σ(cf), log Φ(cf) with c = 2y−1, or the cloglog form.
func (l Bernoulli) LogDensity(y, f float64) float64 {
	if y != 0 && y != 1 {
		return math.Inf(-1)
	}
	if y == 0 && l.Link != Cloglog {
		f = -f
	}
	switch l.Link {
	case Probit:
		return special.LogNormalCDF(f)
	case Cloglog:
		if y == 0 {
			return -math.Exp(f)
		}
		return cloglogSuccess(f)
	}
	return special.LogSigmoid(f)
}

// cloglogSuccess is log(1 − exp(−eᶠ)). Below −36, 1 − exp(−μ) = μ(1 − μ/2) to
// rounding, which survives the underflow of eᶠ.
func cloglogSuccess(f float64) float64 {
	mu := math.Exp(f)
	if f < -36 {
		return f - mu/2
	}
	return special.Log1mExp(-mu)
}

// probability returns P(y=1|f) and P(y=0|f), each to full relative accuracy.
func (l Bernoulli) probability(f float64) (one, zero float64) {
	switch l.Link {
	case Probit:
		return special.NormalCDF(f), special.NormalCDF(-f)
	case Cloglog:
		mu := math.Exp(f)
		return -math.Expm1(-mu), math.Exp(-mu)
	}
	return special.Sigmoid(f), special.Sigmoid(-f)
}

// Mean returns P(y=1|f).
func (l Bernoulli) Mean(f float64) float64 {
	one, _ := l.probability(f)
	return one
}

// Variance returns P(y=1|f) P(y=0|f).
func (l Bernoulli) Variance(f float64) float64 {
	one, zero := l.probability(f)
	return one * zero
}

// Derivatives returns log p(y|f) and its derivatives in f.
func (l Bernoulli) Derivatives(y, f float64) (value, first, second float64) {
	c := 1.0
	if y == 0 {
		c = -1
	}
	switch l.Link {
	case Probit:
		value, r, slope := special.LogNormalCDFDerivatives(c * f)
		return value, c * r, -slope
	case Cloglog:
		if y == 0 {
			mu := math.Exp(f)
			return -mu, -mu, -mu
		}
		return cloglogDerivatives(f)
	}
	p := special.Sigmoid(-c * f)
	return special.LogSigmoid(c * f), c * p, -p * special.Sigmoid(c*f)
}

// cloglogDerivatives returns log(1−e⁻ᵘ), b = u/(eᵘ−1) and b(1−u−b) at u = eᶠ.
func cloglogDerivatives(f float64) (value, first, second float64) {
	mu := math.Exp(f)
	value = cloglogSuccess(f)
	switch {
	case mu < 0.05:
		// b is the generating function of the Bernoulli numbers; 1 − μ − b cancels.
		b := 1 + mu*(-0.5+mu*(1.0/12-mu*mu*(1.0/720-mu*mu/30240)))
		return value, b, b * mu * (-0.5 - mu*(1.0/12-mu*mu*(1.0/720-mu*mu/30240)))
	case mu > 700: // b and μb have underflowed
		return value, 0, 0
	}
	b := mu / math.Expm1(mu)
	return value, b, b * (1 - mu - b)
}

// Discrete returns true.
func (l Bernoulli) Discrete() bool { return true }

// Support is {0, 1}.
func (l Bernoulli) Support() (lower, upper float64) { return 0, 1 }

// CheckTarget refuses what is neither 0 nor 1.
func (l Bernoulli) CheckTarget(y float64) error {
	if y == 0 || y == 1 {
		return nil
	}
	return fmt.Errorf("target %v is neither 0 nor 1, which bernoulli needs: name the positive class with --positive, or choose binomial for counts of successes and gaussian for measurements", y)
}

// CDF returns P(y=0|f) on [0, 1).
func (l Bernoulli) CDF(y, f float64) float64 {
	_, zero := l.probability(f)
	return bernoulliCDF(y, zero)
}

func bernoulliCDF(y, zero float64) float64 {
	switch {
	case y < 0:
		return 0
	case y < 1:
		return zero
	}
	return 1
}

// Sample returns 1 with probability P(y=1|f).
func (l Bernoulli) Sample(rng *rand.Rand, f float64) float64 {
	if rng.Float64() < l.Mean(f) {
		return 1
	}
	return 0
}

// ExpectedLogDensity is the logistic mixture for Logit, −E eᶠ for Cloglog at
// y = 0, and quadrature otherwise.
func (l Bernoulli) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	switch {
	case l.Link == Cloglog && y == 0:
		mu := math.Exp(mean + variance/2)
		return -mu, -mu, -mu / 2
	case l.Link == Cloglog || l.Link == Probit:
		return expectedLogDensity(l, y, mean, variance)
	case y == 0:
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
		return tiltedMoments(l, y, mean, variance)
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
		logZ = math.Min(logZ, 0)
		return -math.Expm1(logZ), math.Exp(logZ)
	}
	if variance <= 0 {
		return l.probability(mean)
	}
	small := quad.Sigmoid(-math.Abs(mean), variance)
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

// PredictiveMoments returns both at once.
func (l Bernoulli) PredictiveMoments(mean, variance float64) (expected, spread float64) {
	one, zero := l.predictive(mean, variance)
	return one, one * zero
}

// PredictiveCDF returns P(y=0) on [0, 1).
func (l Bernoulli) PredictiveCDF(y, mean, variance float64) float64 {
	_, zero := l.predictive(mean, variance)
	return bernoulliCDF(y, zero)
}

// PredictiveQuantile returns 0 up to p = P(y=0), then 1.
func (l Bernoulli) PredictiveQuantile(p, mean, variance float64) float64 {
	_, zero := l.predictive(mean, variance)
	if p <= zero && p < 1 {
		return 0
	}
	return 1
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
