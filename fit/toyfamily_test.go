package fit_test

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/spec"
)

// secant is a family of a program's own: y − f has the hyperbolic secant distribution, of variance 1.
type secant struct {
	likelihood.Quadrature `json:"-"`
}

func (secant) Name() string                       { return "secant" }
func (secant) String() string                     { return "secant" }
func readSecant(*spec.Arguments) likelihood.Named { return newSecant() }
func newSecant() likelihood.Named                 { return secant{likelihood.Quadrature{Likelihood: secantDensity{}}} }
func (secant) Describe() (likelihood.Link, likelihood.TargetKind) {
	return likelihood.Identity, likelihood.Measurements
}

type secantDensity struct{}

func (secantDensity) LogDensity(y, f float64) float64 {
	v, _, _ := secantDensity{}.Derivatives(y, f)
	return v
}
func (secantDensity) Mean(f float64) float64   { return f }
func (secantDensity) Variance(float64) float64 { return 1 }

// the quantile in closed form: by quadrature it takes seconds
func (secantDensity) Sample(rng *rand.Rand, f float64) float64 {
	return f + 2/math.Pi*math.Log(math.Tan(math.Pi/2*rng.Float64()))
}
func (secantDensity) Derivatives(y, f float64) (value, first, second float64) {
	u := math.Abs(math.Pi / 2 * (y - f))
	tanh := math.Tanh(math.Pi / 2 * (y - f))
	return -u - math.Log1p(math.Exp(-2*u)), math.Pi / 2 * tanh, math.Pi * math.Pi / 4 * (tanh*tanh - 1)
}
