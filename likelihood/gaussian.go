package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Gaussian is y ~ N(f, NoiseVariance). Every expectation is in closed form.
type Gaussian struct {
	NoiseVariance param.Parameter `json:"noise_variance,omitzero"` // left out: learned, from 1
	// PredictiveDF is the degrees of freedom, above 2, of the predictive distribution of y: Student-t
	// with the variance of f plus NoiseVariance, as a fit has that is integrated over the noise
	// variance, whose mean NoiseVariance then is. 0 stands for the normal distribution.
	PredictiveDF float64 `json:"predictive_df,omitempty"`
}

func (l Gaussian) noise() float64 { return l.NoiseVariance.Or(1) }

// Name is "gaussian".
func (l Gaussian) Name() string { return "gaussian" }

// Describe implements [Described].
func (l Gaussian) Describe() (Link, TargetKind) { return Identity, Measurements }

func readGaussian(a *spec.Arguments) Named {
	return Gaussian{NoiseVariance: a.Means("of the noise", "").Setting("variance", spec.Positive())}
}

// String returns gaussian or gaussian(variance=…).
func (l Gaussian) String() string { return textOf(l) }

// Validate refuses a variance that is not positive, and degrees of freedom without a variance.
func (l Gaussian) Validate() error {
	if df := l.PredictiveDF; df != 0 && !(df > 2) {
		return fmt.Errorf("likelihood: gaussian: %v predictive degrees of freedom: a variance needs more than 2, and 0 stands for the normal distribution", df)
	}
	return checkPositive("gaussian", "variance", l.NoiseVariance)
}

// LogDensity returns log N(y|f, NoiseVariance).
func (l Gaussian) LogDensity(y, f float64) float64 {
	return logNormal(y-f, l.noise())
}

// logNormal is log N(d|0, variance).
func logNormal(d, variance float64) float64 {
	return -special.LogSqrt2Pi - (math.Log(variance)+d*d/variance)/2
}

// Mean returns f.
func (l Gaussian) Mean(f float64) float64 { return f }

// Variance returns NoiseVariance.
func (l Gaussian) Variance(float64) float64 { return l.noise() }

// Derivatives returns log p(y|f), (y−f)/v and −1/v.
func (l Gaussian) Derivatives(y, f float64) (value, first, second float64) {
	v := l.noise()
	return logNormal(y-f, v), (y - f) / v, -1 / v
}

// Discrete returns false.
func (l Gaussian) Discrete() bool { return false }

// Support is the real line.
func (l Gaussian) Support() (lower, upper float64) { return math.Inf(-1), math.Inf(1) }

// CheckTarget refuses what is not a finite number.
func (l Gaussian) CheckTarget(y float64) error { return checkFinite("gaussian", y) }

// CDF returns Φ((y−f)/√v).
func (l Gaussian) CDF(y, f float64) float64 {
	return special.NormalCDF((y - f) / math.Sqrt(l.noise()))
}

// Sample returns a draw from N(f, v).
func (l Gaussian) Sample(rng *rand.Rand, f float64) float64 {
	return f + math.Sqrt(l.noise())*rng.NormFloat64()
}

// Draw returns the family at a draw of the noise variance: one of that distribution, of mean NoiseVariance, whose
// mixture of normal distributions is Student-t with PredictiveDF; itself without. A variance beyond all numbers is the
// largest number.
func (l Gaussian) Draw(rng *rand.Rand) Gaussian {
	if !l.StudentPredictive() {
		return l
	}
	half := l.PredictiveDF / 2
	return Gaussian{NoiseVariance: l.NoiseVariance.At(min(math.MaxFloat64, l.noise()*((half-1)/drawGamma(rng, half))))}
}

// ExpectedLogDensity returns log N(y|mean, v) − variance/2v and its derivatives.
func (l Gaussian) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	v := l.noise()
	return logNormal(y-mean, v) - variance/(2*v), (y - mean) / v, -1 / (2 * v)
}

// The predictive distribution of y, for which f has a mean and a variance, is normal or, with
// PredictiveDF, Student-t.

// StudentPredictive reports whether the predictive distribution has the tails of a Student-t, so
// that those of f need not be put in.
func (l Gaussian) StudentPredictive() bool {
	return l.PredictiveDF > 0 && !math.IsInf(l.PredictiveDF, 1)
}

// studentScale is the square of the scale of a Student-t with a variance.
func (l Gaussian) studentScale(variance float64) float64 { return variance * (1 - 2/l.PredictiveDF) }

// TiltedMoments returns the log density of y and its derivatives: log N(y|mean, variance+v).
func (l Gaussian) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	s, d := variance+l.noise(), y-mean
	if !l.StudentPredictive() {
		return logNormal(d, s), d / s, (d*d/s - 1) / (2 * s)
	}
	df := l.PredictiveDF
	width := math.Sqrt(df * l.studentScale(s))
	u := d / width
	shrink := (df + 1) / (1 + u*u)
	return special.LogStudentPeak(df, width) - (df+1)/2*math.Log1p(u*u), shrink * u / width, (shrink*u*u - 1) / (2 * s)
}

// PredictiveMean returns mean.
func (l Gaussian) PredictiveMean(mean, _ float64) float64 { return mean }

// PredictiveVariance returns variance + v.
func (l Gaussian) PredictiveVariance(_, variance float64) float64 { return variance + l.noise() }

// PredictiveCDF returns Φ((y−mean)/√(variance+v)).
func (l Gaussian) PredictiveCDF(y, mean, variance float64) float64 {
	if s := variance + l.noise(); l.StudentPredictive() {
		return special.StudentCDF((y-mean)/math.Sqrt(l.studentScale(s)), l.PredictiveDF)
	} else {
		return special.NormalCDF((y - mean) / math.Sqrt(s))
	}
}

// PredictiveQuantile returns mean + √(variance+v) Φ⁻¹(p).
func (l Gaussian) PredictiveQuantile(p, mean, variance float64) float64 {
	return mean + l.PredictiveScale(variance)*l.StandardQuantile(p)
}

// PredictiveScale is what [Gaussian.StandardQuantile] is multiplied by in a predictive quantile.
func (l Gaussian) PredictiveScale(variance float64) float64 {
	s := variance + l.noise()
	if l.StudentPredictive() {
		s = l.studentScale(s)
	}
	return math.Sqrt(s)
}

// StandardQuantile returns the quantile of the predictive distribution of mean 0 and scale 1, which all rows share.
func (l Gaussian) StandardQuantile(p float64) float64 {
	if l.StudentPredictive() {
		return special.StudentQuantile(p, l.PredictiveDF)
	}
	return special.NormalQuantile(p)
}

// StandardCRPS returns the continuous ranked probability score of the predictive distribution of mean 0 and scale 1 at
// z (Gneiting & Raftery 2007; Jordan, Krüger & Lerch 2019, both in their appendices).
func (l Gaussian) StandardCRPS(z float64) float64 {
	if !l.StudentPredictive() {
		return z*(1-2*special.NormalCDF(-z)) + 2*special.NormalDensity(z) - 1/math.Sqrt(math.Pi)
	}
	df := l.PredictiveDF
	density := math.Exp(special.LogStudentPeak(df, math.Sqrt(df)) - (df+1)/2*math.Log1p(z*z/df))
	// B(½, df − ½)/B(½, df/2)²
	betas := math.Exp(2*special.LogGammaHalfStep(df/2)-special.LogGammaHalfStep(df-0.5)) / math.Sqrt(math.Pi)
	return z*(1-2*special.StudentCDF(-z, df)) + 2/(df-1)*(density*(df+z*z)-math.Sqrt(df)*betas)
}

// PredictiveSample returns a draw of y.
func (l Gaussian) PredictiveSample(rng *rand.Rand, mean, variance float64) float64 {
	if l.StudentPredictive() {
		return mean + math.Sqrt(l.studentScale(variance+l.noise()))*drawStudent(rng, l.PredictiveDF)
	}
	return l.Sample(rng, mean+math.Sqrt(variance)*rng.NormFloat64())
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Gaussian) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	precision := 1 / l.noise()
	constant := -special.LogSqrt2Pi - math.Log(l.noise())/2
	for i := range y {
		d := y[i] - mean[i]
		value[i], dMean[i], dVariance[i] = constant-(d*d+variance[i])*precision/2, d*precision, -precision/2
	}
}

// Parameters returns the noise variance, "variance".
func (l Gaussian) Parameters() []Parameter {
	return []Parameter{parameter("variance", l.NoiseVariance, 1)}
}

// WithParameters returns the Gaussian at another noise variance, known, so without PredictiveDF.
func (l Gaussian) WithParameters(values []float64) Family {
	checkValues("gaussian", values, 1)
	return Gaussian{NoiseVariance: l.NoiseVariance.At(values[0])}
}

// WithPrecision implements [Dispersed]: it divides the noise variance.
func (l Gaussian) WithPrecision(precision float64) Family {
	l.NoiseVariance = l.NoiseVariance.At(l.noise() / precision)
	return l
}

// ExpectedParameterGradient stores −½ + ((y−mean)² + variance)/2v.
func (l Gaussian) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("gaussian", dst, 1)
	d := y - mean
	dst[0] = ((d*d+variance)/l.noise() - 1) / 2
}
