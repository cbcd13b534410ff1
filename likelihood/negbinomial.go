package likelihood

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// NegativeBinomial is a count y with mean μ = eᶠ and variance μ + μ²/Size: a
// Poisson whose mean is multiplied by a gamma variable of mean 1 and shape Size.
type NegativeBinomial struct {
	Size param.Parameter `json:"size,omitzero"` // left out: learned, from 1
}

func (l NegativeBinomial) size() float64 { return l.Size.Or(1) }

// Name is "negbinomial".
func (l NegativeBinomial) Name() string { return "negbinomial" }

// Describe implements [Described].
func (l NegativeBinomial) Describe() (Link, TargetKind) { return Log, Counts }

func readNegativeBinomial(a *spec.Arguments) Named {
	return NegativeBinomial{Size: a.Means("the variance of a count of mean m is m + m²/size", "").Setting("size", spec.Positive())}
}

// String returns negbinomial or negbinomial(size=…).
func (l NegativeBinomial) String() string { return textOf(l) }

// Validate refuses a size that is not positive.
func (l NegativeBinomial) Validate() error { return checkPositive("negbinomial", "size", l.Size) }

// LogDensity returns the log probability of y. It is a binomial probability of
// Size successes before y failures at success probability Size/(Size+μ),
// written as a divergence from the observed proportion so that neither large
// counts nor a large Size cancel (Loader 2000).
func (l NegativeBinomial) LogDensity(y, f float64) float64 {
	if !isCount(y) {
		return math.Inf(-1)
	}
	r := l.size()
	if y == 0 {
		return -r * special.Softplus(f-math.Log(r))
	}
	n := r + y
	return negbinomialAtMode(y, r) -
		n*special.BernoulliDivergence(r/n, y/n, math.Log(y)-f)
}

// negbinomialAtMode is the log probability of y > 0 at mean y.
func negbinomialAtMode(y, r float64) float64 {
	n := r + y
	return special.StirlingError(n) - special.StirlingError(r) - special.StirlingError(y) -
		special.LogSqrt2Pi + math.Log(math.Sqrt(r/n)/math.Sqrt(y)) // y² may be beyond all numbers
}

// Mean returns eᶠ.
func (l NegativeBinomial) Mean(f float64) float64 { return math.Exp(f) }

// Variance returns μ + μ²/Size.
func (l NegativeBinomial) Variance(f float64) float64 {
	mu := math.Exp(f)
	return mu * (1 + mu/l.size())
}

// Derivatives returns log p(y|f), y σ(−t) − r σ(t) and −(y+r) σ(t) σ(−t), where
// t = f − log r and r = Size.
func (l NegativeBinomial) Derivatives(y, f float64) (value, first, second float64) {
	r := l.size()
	t := f - math.Log(r)
	p, q := sigmoids(t)
	return l.LogDensity(y, f), y*q - r*p, -(y + r) * p * q
}

// Discrete returns true.
func (l NegativeBinomial) Discrete() bool { return true }

// Support is 0, 1, 2, …
func (l NegativeBinomial) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a count.
func (l NegativeBinomial) CheckTarget(y float64) error { return checkCount("negbinomial", y) }

// CDF returns P(Y ≤ y|f), an incomplete beta function.
func (l NegativeBinomial) CDF(y, f float64) float64 {
	r, k := l.size(), math.Floor(y)
	switch {
	case k < 0:
		return 0
	case math.IsInf(k, 1):
		return 1
	}
	t := f - math.Log(r)
	if n := k + (r+1)/2; n*n > 1e10*(1+r)*(1+r)*(1+r) {
		// The gamma limit of the beta function (Wise 1950), whose error is of the
		// order of r³/24n²; the incomplete beta function itself loses digits here.
		return mathext.GammaIncReg(r, n*special.Softplus(-t))
	}
	return logitBetaCDF(r, k+1, -t)
}

// Sample returns a draw of the count: a Poisson whose mean is a gamma draw.
func (l NegativeBinomial) Sample(rng *rand.Rand, f float64) float64 {
	r := l.size()
	return drawPoisson(rng, drawGamma(rng, r)*math.Exp(f-math.Log(r)))
}

// ExpectedLogDensity is a constant plus y·mean − (y+r) E log(1+e^t), t = f − log r,
// by the logistic mixture up to y+r = 20 and by quadrature beyond.
func (l NegativeBinomial) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	r := l.size()
	n, t := y+r, mean-math.Log(r)
	softplus, p, curvature := softplusTimes(n, t, variance)
	return fromSoftplus(l.LogDensity(y, mean), y, n, t, softplus, p, curvature)
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

// PredictiveCDF is by quadrature.
func (l NegativeBinomial) PredictiveCDF(y, mean, variance float64) float64 {
	switch {
	case y < 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	}
	r, a := l.size(), math.Floor(y)+1
	n, peak := a+r, logitBetaAtMode(a, r)
	return quad.Step(func(f float64) float64 { return l.CDF(y, f) },
		func(d float64) float64 { return math.Exp(peak - n*special.BernoulliDivergence(r/n, a/n, -d)) },
		mean, variance, math.Log(a), math.Min(math.Sqrt(1/a+1/r), 1))
}

// logitBetaAtMode is the log density of the logit of a beta variable with parameters a and b at its mode,
// log(a/b). At distance d from there it is less by (a+b) times a divergence.
func logitBetaAtMode(a, b float64) float64 { return negbinomialAtMode(a, b) + math.Log(a) }

// logitBetaCDF is P(log B/(1−B) ≤ f) of a beta variable B with parameters a and b, the incomplete beta function
// at σ(f). The smaller side of a/(a+b) keeps its relative accuracy, at parameters of any size.
func logitBetaCDF(a, b, f float64) float64 {
	x, y := sigmoids(f)
	if a*y < b*x {
		return 1 - logitBetaCDF(b, a, -f)
	}
	n := a + b
	return math.Exp(logitBetaAtMode(a, b)-n*special.BernoulliDivergence(b/n, a/n, math.Log(a/b)-f)) * special.BetaFraction(a, b, x, y)
}

// Recursion implements [Recursive].
func (l NegativeBinomial) Recursion(zero, ratio, f []float64) (size float64) {
	r := l.size()
	logR := math.Log(r)
	for j := range f {
		ratio[j] = f[j] - logR
	}
	kernel.Log1pExp(zero, ratio)
	kernel.Logistic(ratio, ratio)
	kernel.Scale(-r, zero)
	kernel.Exp(zero, zero)
	kernel.Scale(r, ratio)
	return r
}

// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p.
func (l NegativeBinomial) PredictiveQuantile(p, mean, variance float64) float64 {
	start, scale := logLinkStart(p, mean, variance, math.Exp(-mean)+1/l.size())
	return countQuantile(l, p, mean, variance, start, scale)
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l NegativeBinomial) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	logR := math.Log(l.size())
	l.eachSoftplus(y, mean, variance, func(i int, n, softplus, p, curvature float64) {
		density := l.LogDensity(y[i], mean[i])
		value[i], dMean[i], dVariance[i] = fromSoftplus(density, y[i], n, mean[i]-logR, softplus, p, curvature)
	})
}

// eachSoftplus calls do with E log(1+e^t) and its gradients for every row.
func (l NegativeBinomial) eachSoftplus(y, mean, variance []float64, do func(i int, n, softplus, p, curvature float64)) {
	r := l.size()
	eachSoftplus(mean, variance, math.Log(r), func(i int) float64 { return y[i] + r }, do)
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

// parameterGradient is, for a known f, r times
//
//	[ψ(y+r) − log(y+r)] − [ψ(r) − log r] + log(1+u) − u,   u = (y−μ)/(r+μ),
//
// in which large sizes do not cancel.
func (l NegativeBinomial) parameterGradient(y, f float64) float64 {
	r := l.size()
	t := f - math.Log(r)
	p, q := special.Sigmoid(t), special.Sigmoid(-t)
	u := y/r*q - p
	// log(1+u) is log((y+r)/(μ+r)), which has its digits where u is near −1.
	remainder := special.LogRemainder(u)
	if u < -0.5 {
		remainder = math.Log1p(y/r) - special.Softplus(t) - u
	}
	return r * (special.DigammaMinusLog(y+r) - special.DigammaMinusLog(r) + remainder)
}

// ExpectedParameterGradient stores the gradient at mean, less r times the Jensen
// gaps of log(1+e^t) and of (y+r)/r σ(−t).
func (l NegativeBinomial) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("negbinomial", dst, 1)
	dst[0] = l.parameterGradient(y, mean)
	if variance <= 0 {
		return
	}
	r := l.size()
	softplus, p, _ := softplusTimes(y+r, mean-math.Log(r), variance)
	dst[0] -= l.parameterGap(y, mean, softplus, p)
}

// ExpectedParameterGradients implements [ParametricBatch].
func (l NegativeBinomial) ExpectedParameterGradients(dst, y, mean, variance []float64) {
	checkRows(len(y), dst, mean, variance)
	l.eachSoftplus(y, mean, variance, func(i int, _, softplus, p, _ float64) {
		dst[i] = l.parameterGradient(y[i], mean[i]) - l.parameterGap(y[i], mean[i], softplus, p)
	})
}

// parameterGap is what the gradient at the mean exceeds its expectation by.
func (l NegativeBinomial) parameterGap(y, mean, softplus, p float64) float64 {
	r := l.size()
	t := mean - math.Log(r)
	return r*(softplus-special.Softplus(t)) - (y+r)*(p-special.Sigmoid(t))
}
