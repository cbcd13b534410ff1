package likelihood

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// StudentT is y = f + Scale·t with t Student-t distributed: regression that
// outliers cannot pull far. It is not log-concave in f.
type StudentT struct {
	DegreesOfFreedom param.Parameter `json:"df,omitzero"`    // left out: learned, from 4
	Scale            param.Parameter `json:"scale,omitzero"` // left out: learned, from 1
}

func (l StudentT) df() float64 { return l.DegreesOfFreedom.Or(4) }

func (l StudentT) scale() float64 { return l.Scale.Or(1) }

// Name is "studentt".
func (l StudentT) Name() string { return "studentt" }

// Describe implements [Described].
func (l StudentT) Describe() (Link, TargetKind) { return Identity, Measurements }

func readStudentT(a *spec.Arguments) Named {
	return StudentT{DegreesOfFreedom: a.Means("degrees of freedom: few have heavy tails, many are gaussian", "").Setting("df", spec.Positive()), Scale: a.Means("of the noise", "").Setting("scale", spec.Positive())}
}

// String returns studentt or studentt(df=…, scale=…).
func (l StudentT) String() string { return textOf(l) }

// Validate refuses degrees of freedom and scales that are not positive.
func (l StudentT) Validate() error {
	if err := checkPositive("studentt", "df", l.DegreesOfFreedom); err != nil {
		return err
	}
	return checkPositive("studentt", "scale", l.Scale)
}

// LogDensity returns the log density of y.
func (l StudentT) LogDensity(y, f float64) float64 {
	nu, width := l.df(), l.width()
	u := (y - f) / width
	return special.LogStudentPeak(nu, width) - (nu+1)/2*math.Log1p(u*u)
}

// width is √ν·Scale, in which the density is a power of 1 + u².
func (l StudentT) width() float64 { return math.Sqrt(l.df()) * l.scale() }

// Mean returns f; NaN without a mean, that is for at most one degree of freedom.
func (l StudentT) Mean(f float64) float64 {
	if l.df() <= 1 {
		return math.NaN()
	}
	return f
}

// Variance returns Scale²·ν/(ν−2), +Inf for 1 < ν ≤ 2 and NaN below.
func (l StudentT) Variance(float64) float64 {
	nu, s := l.df(), l.scale()
	switch {
	case nu > 2:
		return s * s * nu / (nu - 2)
	case nu > 1:
		return math.Inf(1)
	}
	return math.NaN()
}

// Derivatives returns log p(y|f) and its derivatives in f. The second is positive
// beyond √ν scales.
func (l StudentT) Derivatives(y, f float64) (value, first, second float64) {
	nu, width := l.df(), l.width()
	u := (y - f) / width
	k := 1 / (1 + u*u)
	value = special.LogStudentPeak(nu, width) - (nu+1)/2*math.Log1p(u*u)
	return value, (nu + 1) / width * u * k, -(nu + 1) / (width * width) * (1 - u*u) * k * k
}

// Discrete returns false.
func (l StudentT) Discrete() bool { return false }

// Support is the real line.
func (l StudentT) Support() (lower, upper float64) { return math.Inf(-1), math.Inf(1) }

// CheckTarget refuses what is not a finite number.
func (l StudentT) CheckTarget(y float64) error { return checkFinite("studentt", y) }

// WithPrecision implements [Dispersed]: it divides the scale by the root.
func (l StudentT) WithPrecision(precision float64) Family {
	l.Scale = l.Scale.At(l.scale() / math.Sqrt(precision))
	return l
}

// CDF returns P(Y ≤ y|f).
func (l StudentT) CDF(y, f float64) float64 { return special.StudentCDF((y-f)/l.scale(), l.df()) }

// Sample returns a draw of y.
func (l StudentT) Sample(rng *rand.Rand, f float64) float64 {
	return f + l.scale()*drawStudent(rng, l.df())
}
