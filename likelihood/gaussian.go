package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
)

// Gaussian is y ~ N(f, NoiseVariance). Every expectation is in closed form.
type Gaussian struct {
	NoiseVariance float64 `json:"noise_variance,omitempty"` // 0 means left out: learned, from 1
	Learn         bool    `json:"learn,omitempty"`          // learn from NoiseVariance instead of holding it
}

func (l Gaussian) noise() float64 {
	if l.NoiseVariance == 0 {
		return 1
	}
	return l.NoiseVariance
}

// String returns gaussian or gaussian(variance=…).
func (l Gaussian) String() string {
	t := text{name: "gaussian"}
	t.parameter("variance", l.NoiseVariance, l.Learn)
	return t.String()
}

// Validate refuses a variance that is not positive.
func (l Gaussian) Validate() error { return checkPositive("gaussian", "variance", l.NoiseVariance) }

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
