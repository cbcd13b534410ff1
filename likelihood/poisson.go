package likelihood

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// Poisson is a count y with mean eᶠ (link Log, the default) or log(1+eᶠ)
// (link Softplus), which grows only linearly in f.
type Poisson struct {
	Link Link `json:"link,omitempty"`
}

// Name is "poisson".
func (l Poisson) Name() string { return "poisson" }

// Describe implements [Described].
func (l Poisson) Describe() (Link, TargetKind) { return cmp.Or(l.Link, Log), Counts }

func readPoisson(a *spec.Arguments) Named {
	return Poisson{Link: Link(a.Means("what takes the mean to f", "log").Word("link", "", string(Log), string(Softplus)))}
}

// String returns poisson or poisson(link=…).
func (l Poisson) String() string { return linkText(l.Name(), l.Link) }

// Validate refuses a link that a Poisson does not have.
func (l Poisson) Validate() error { return checkLink("poisson", l.Link, Log, Softplus) }

// logMean is log E[y|f]. That of Softplus, log log(1+eᶠ), is f − eᶠ/2 to rounding below −36.
func (l Poisson) logMean(f float64) float64 {
	if l.Link != Softplus || f < -36 {
		return f
	}
	return math.Log(special.Softplus(f))
}

// LogDensity returns y log μ − μ − log y!.
func (l Poisson) LogDensity(y, f float64) float64 {
	if !isCount(y) {
		return math.Inf(-1)
	}
	if y == 0 {
		return -l.Mean(f)
	}
	return poissonAtMode(y) - y*special.ExpRemainder(l.logMean(f)-math.Log(y))
}

// poissonAtMode is the Poisson log probability of y > 0 at mean y. The rest of
// the density is the deviance, so that large terms never meet (Loader 2000).
func poissonAtMode(y float64) float64 {
	return -special.StirlingError(y) - special.LogSqrt2Pi - math.Log(y)/2
}

// Mean returns eᶠ or log(1+eᶠ).
func (l Poisson) Mean(f float64) float64 {
	if l.Link == Softplus {
		return special.Softplus(f)
	}
	return math.Exp(f)
}

// Variance returns the mean.
func (l Poisson) Variance(f float64) float64 { return l.Mean(f) }

// Derivatives returns log p(y|f) and its derivatives in f.
func (l Poisson) Derivatives(y, f float64) (value, first, second float64) {
	value = l.LogDensity(y, f)
	if l.Link == Softplus {
		first, second = softplusDerivatives(y, f)
		return value, first, second
	}
	mu := math.Exp(f)
	return value, y - mu, -mu
}

// softplusDerivatives are those of y log μ − μ at μ = log(1+eᶠ). With p = σ(f)
// and ρ = p/μ they are yρ − p and yρ(1−p−ρ) − p(1−p).
func softplusDerivatives(y, f float64) (first, second float64) {
	p, q := special.Sigmoid(f), special.Sigmoid(-f)
	var rho, curvature float64 // p/μ and 1 − p − p/μ
	if x := math.Exp(f); x < 1e-3 {
		// Series of x/((1+x) log(1+x)) and of its sum with x/(1+x), less one:
		// the direct form cancels.
		rho = 1 + x*(-1.0/2+x*(5.0/12+x*(-3.0/8+x*251/720)))
		curvature = x * (-1.0/2 + x*(7.0/12+x*(-5.0/8+x*469/720)))
	} else {
		rho = p / special.Softplus(f)
		curvature = q - rho
	}
	return y*rho - p, y*rho*curvature - p*q
}

// Discrete returns true.
func (l Poisson) Discrete() bool { return true }

// Support is 0, 1, 2, …
func (l Poisson) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a count.
func (l Poisson) CheckTarget(y float64) error { return checkCount("poisson", y) }

// CDF returns P(Y ≤ y|f), an incomplete gamma function.
func (l Poisson) CDF(y, f float64) float64 {
	mean := l.Mean(f)
	switch {
	case y < 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	case math.IsInf(mean, 1):
		return 0
	}
	return mathext.GammaIncRegComp(math.Floor(y)+1, mean)
}

// Sample returns a draw of the count.
func (l Poisson) Sample(rng *rand.Rand, f float64) float64 {
	return drawPoisson(rng, l.Mean(f))
}

// ExpectedLogDensity is in closed form for Log, from E eᶠ = exp(mean +
// variance/2), by the logistic mixture for Softplus at y = 0, and by quadrature
// otherwise.
func (l Poisson) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	if l.Link == Softplus {
		if y == 0 {
			value, dMean, dVariance = quad.Softplus(mean, variance)
			return -value, -dMean, -dVariance
		}
		return quad.Bent(func(f float64) (float64, float64, float64) {
			value, first, second := l.Derivatives(y, f)
			return value, first, second / 2
		}, mean, variance)
	}
	t := mean + variance/2
	return expectedPoisson(y, variance, t, math.Exp(t))
}

// expectedPoisson is ExpectedLogDensity for the log link, of which mu = exp(t), t = mean + variance/2.
func expectedPoisson(y, variance, t, mu float64) (value, dMean, dVariance float64) {
	if y == 0 {
		return -mu, -mu, -mu / 2
	}
	d := t - math.Log(y)
	excess := mu/y - 1 - d
	if math.Abs(d) < 0.25 { // where the terms cancel
		excess = special.ExpRemainder(d)
	}
	// The density at the log mean t, and what y·mean falls short of y·t.
	return poissonAtMode(y) - y*excess - y*variance/2, y - mu, -mu / 2
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

// PredictiveCDF is by quadrature.
func (l Poisson) PredictiveCDF(y, mean, variance float64) float64 {
	switch {
	case y < 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	}
	g := func(f float64) float64 { return l.CDF(y, f) }
	k := math.Floor(y)
	if l.Link != Softplus { // e^f is beyond a gamma variable of shape k+1
		peak := gammaAtMode(k + 1)
		return quad.Step(g, func(d float64) float64 { return math.Exp(peak - (k+1)*special.ExpRemainder(d)) },
			mean, variance, math.Log(k+1), 1/math.Sqrt(k+1))
	}
	// At most k counts have probability ½ at a mean near k + ⅔: f = log(eᵘ − 1), df/du = u'/σ(f).
	median := k + 2.0/3
	centre := median + math.Log(-math.Expm1(-median))
	slope := func(d float64) float64 {
		return math.Exp(l.LogDensity(k, centre+d)) * special.Sigmoid(centre+d)
	}
	return quad.Step(g, slope, mean, variance, centre, 0.7*math.Sqrt(median))
}

// Recursion implements [Recursive].
func (l Poisson) Recursion(zero, ratio, f []float64) (size float64) {
	if l.Link == Softplus {
		kernel.Log1pExp(ratio, f)
	} else {
		kernel.Exp(ratio, f)
	}
	for j, mean := range ratio {
		zero[j] = -mean
	}
	kernel.Exp(zero, zero)
	return math.Inf(1)
}

// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p.
func (l Poisson) PredictiveQuantile(p, mean, variance float64) float64 {
	var start, scale float64
	if l.Link == Softplus {
		mu, v := predictiveMoments(l, mean, variance)
		start, scale = mu+roughQuantile(p)*math.Sqrt(v), math.Sqrt(v)/4
	} else {
		start, scale = logLinkStart(p, mean, variance, math.Exp(-mean))
	}
	return countQuantile(l, p, mean, variance, start, scale)
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Poisson) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	if l.Link == Softplus {
		expectedRows(softplus, value, dMean, dVariance, y, mean, variance, l.ExpectedLogDensity)
		return
	}
	var t, mu [rowsAtOnce]float64
	for from := 0; from < len(y); from += rowsAtOnce {
		n := min(rowsAtOnce, len(y)-from)
		for i := range n {
			t[i] = mean[from+i] + variance[from+i]/2
		}
		kernel.Exp(mu[:n], t[:n])
		for i := range n {
			k := from + i
			value[k], dMean[k], dVariance[k] = expectedPoisson(y[k], variance[k], t[i], mu[i])
		}
	}
}
