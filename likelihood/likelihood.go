package likelihood

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/param"
)

// Family is p(y|f): what every likelihood has. It is the same set of methods as
// credence.Likelihood, spelled out (an alias) because this package imports
// nothing but its own internals.
type Family = interface {
	// LogDensity returns log p(y|f), constants included; −Inf where y is
	// outside the support.
	LogDensity(y, f float64) float64
	// Mean returns E[y|f].
	Mean(f float64) float64
	// Variance returns Var[y|f].
	Variance(f float64) float64
}

// Differentiable is the ability that gradient-based engines need.
type Differentiable interface {
	Family
	// Derivatives returns log p(y|f) and its first two derivatives in f. y must
	// lie in the support. Searches begin with the second, which is to be below 0 near the targets.
	Derivatives(y, f float64) (value, first, second float64)
}

// Supported says where y lives.
type Supported interface {
	// Discrete says whether y takes whole numbers only.
	Discrete() bool
	// Support returns the least and the largest y, ±Inf where there is none.
	Support() (lower, upper float64)
	// CheckTarget returns an error saying what is wrong with y as a target, and
	// what to do about it. The caller adds file and row.
	CheckTarget(y float64) error
}

// Cumulative is the ability to give probabilities of intervals.
type Cumulative interface {
	// CDF returns P(Y ≤ y | f).
	CDF(y, f float64) float64
}

// Sampler is the ability to draw y.
type Sampler interface {
	// Sample returns a draw from p(y|f).
	Sample(rng *rand.Rand, f float64) float64
}

// Expected is what variational engines ask, for f ~ N(mean, variance).
type Expected interface {
	// ExpectedLogDensity returns e = E log p(y|f) with ∂e/∂mean = E ℓ' and
	// ∂e/∂variance = ½ E ℓ''.
	ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64)
}

// Tilted is what expectation propagation asks of p(y|f) N(f|mean, variance).
type Tilted interface {
	// TiltedMoments returns the logarithm of Z = ∫ p(y|f) N(f|mean, variance) df
	// and its derivatives in the mean and the variance. The mean and variance of
	// the tilted distribution are
	//
	//	mean + variance·dMean   and   variance − variance²·(dMean² − 2 dVariance).
	TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64)
}

// Predictive is the distribution of y when f ~ N(mean, variance), whose log density is
// that of [Tilted].
type Predictive interface {
	// PredictiveMean returns E y.
	PredictiveMean(mean, variance float64) float64
	// PredictiveVariance returns Var y = E Var[y|f] + Var E[y|f].
	PredictiveVariance(mean, variance float64) float64
	// PredictiveCDF returns P(Y ≤ y).
	PredictiveCDF(y, mean, variance float64) float64
	// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p, for p in [0, 1].
	PredictiveQuantile(p, mean, variance float64) float64
}

// Located is the ability of a family of location: y is f and a noise added, or log y is, the noise being the same for
// every f.
type Located interface {
	// Location returns the scale at which the distribution function of the noise bends, and whether log y is meant.
	Location() (unit float64, logarithm bool)
}

// Recursive is the ability of a family of counts whose probabilities follow each other as those of Panjer (1981):
//
//	p(y+1|f) = p(y|f) · ratio(f) · (1 + y/size) / (y+1).
type Recursive interface {
	// Recursion stores p(0|f) and the ratio for every f, and returns the size, which may be infinite.
	Recursion(zero, ratio, f []float64) (size float64)
}

// Batch is the form for hot loops over n rows: one interface call for all. All
// slices have length n, except trials, which may be nil: it holds the trials of
// each row for a Binomial, and other families do not read it. dst slices may
// alias inputs element for element.
type Batch interface {
	// ExpectedLogDensities stores the three results of ExpectedLogDensity.
	ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64)
}

// PerRow is the ability of a Binomial to take its trials from each row. It is
// for cold paths: the returned interface value costs an allocation, which Batch
// avoids.
type PerRow interface {
	WithTrials(trials float64) Family
}

// Dispersed is the ability of a family to have its dispersion divided in each row by the precision
// of the row, where a parameter of its own sets the dispersion: the variance of a Gaussian, the
// inverse shape of a Gamma, the square of the scale of a Student t. It is for cold paths, as [PerRow].
type Dispersed interface {
	// WithPrecision returns the distribution of a row of the given precision, above 0. Derivatives
	// in the logarithms of its parameters are those in the logarithms of the family's.
	WithPrecision(precision float64) Family
}

// Parameter is one parameter of a likelihood.
type Parameter struct {
	Name string // as in the text form: "variance", "size", "shape", "df", "scale"
	// Parameter has the stated value or, where it is left out, the default start, for which an
	// engine may choose a better one.
	param.Parameter
	Positive bool // derivatives are in log Value, otherwise in Value
}

// Parametric is the ability of a family to have its parameters learned.
type Parametric interface {
	Family
	// Parameters lists the parameters, held ones included.
	Parameters() []Parameter
	// WithParameters returns the family at other values, one for each of
	// Parameters, of the same concrete type and with the same ones held.
	WithParameters(values []float64) Family
	// ExpectedParameterGradient stores in dst the derivatives of ExpectedLogDensity, one for
	// each of Parameters: in log Value for a positive parameter, else in Value. A variance of 0
	// stands for a known f.
	ExpectedParameterGradient(dst []float64, y, mean, variance float64)
}

// ParametricBatch is [Parametric] for hot loops, of families whose expectations by row would cost more alone.
type ParametricBatch interface {
	Parametric
	// ExpectedParameterGradients stores ExpectedParameterGradient of one row behind the other in dst.
	ExpectedParameterGradients(dst, y, mean, variance []float64)
}

// ParametricCurvature is [Parametric] of a family whose second derivatives have closed forms, which differences of
// gradients, one for each parameter, would cost the square of their number a row.
type ParametricCurvature interface {
	Parametric
	// ExpectedParameterCurvatures stores the second derivatives of ExpectedLogDensity in the mean and each of the P
	// Parameters, as ExpectedParameterGradient takes them, in cross, P×rows, and adds those in pairs of parameters,
	// times weight and over the rows, to bend, P×P. A nil weight stands for 1s; bend may be nil.
	ExpectedParameterCurvatures(cross, bend, y, mean, variance, weight []float64)
}

// Validator is implemented by every family whose fields can be wrong.
type Validator interface {
	// Validate says which field is wrong and what it may be.
	Validate() error
}

// Link names the function that takes f to the mean. The empty Link is the
// family's default.
type Link string

// The links.
const (
	Identity Link = "identity" // the mean is f
	Logit    Link = "logit"    // Bernoulli: σ(f); the default
	Probit   Link = "probit"   // Bernoulli: Φ(f)
	Cloglog  Link = "cloglog"  // Bernoulli: 1 − exp(−eᶠ)
	Log      Link = "log"      // Poisson: eᶠ; the default
	Softplus Link = "softplus" // Poisson: log(1+eᶠ)
)

// What priors of weights know of f before there are data: its unit, and how far it may go.

// LatentScale returns the size s of f that priors of weights are in units of: 1 for a log link, by
// which e is much; 2.5 for the logit and 1.5 for the probit and the complementary log-log, beyond
// which a class is all but certain. It returns 0 where f has the unit of y, and s is the data's.
func LatentScale(l Family) float64 {
	if _, ok := l.(Additive); ok {
		return 0
	}
	switch link, _ := Describe(l); link {
	case Identity, Softplus:
		return 0
	case Logit:
		return 2.5
	case Probit, Cloglog:
		return 1.5
	}
	return 1
}

// LatentNoise returns the variance that a target has at a known f, on the scale of f: that of the noise where f has the
// unit of y; π²/3, 1 and π²/6 for logit, probit and complementary log-log; under a log link trigamma(μ²/Var y) at the
// mean μ of the targets (Nakagawa, Johnson & Schielzeth 2017). NaN is none.
func LatentNoise(l Family, mean float64) float64 {
	if _, ok := l.(Additive); ok {
		return l.Variance(0)
	}
	switch link, _ := Describe(l); link {
	case Logit:
		return math.Pi * math.Pi / 3
	case Probit:
		return 1
	case Cloglog:
		return math.Pi * math.Pi / 6
	case Log:
		return mathext.Zeta(2, mean*mean/l.Variance(math.Log(mean))) // trigamma
	}
	return math.NaN()
}

// PriorTail returns the b of the prior τ² ~ s²·BetaPrime(1, b) of the standard deviation τ of a block
// of weights. With b = ½ one weight has Cauchy tails. Where classes may be separable, the likelihood
// bounds a weight on one side only and the prior needs a variance: b = 3/2.
func PriorTail(l Family) float64 {
	switch link, _ := Describe(l); link {
	case Logit, Probit, Cloglog:
		return 1.5
	}
	return 0.5
}
