package likelihood_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// bare is a family that tells its density, moments and support alone.
type bare struct {
	likelihood.Differentiable
	support likelihood.Supported
	asked   *int
}

func (b bare) LogDensity(y, f float64) float64 {
	*b.asked++
	return b.Differentiable.LogDensity(y, f)
}
func (b bare) Discrete() bool                    { return b.support.Discrete() }
func (b bare) Support() (lower, upper float64)   { return b.support.Support() }
func (b bare) CheckTarget(y float64) (err error) { return b.support.CheckTarget(y) }

// Draws of such a family are its quantiles: those that the family itself has, and in no more densities than a few
// integrals take.
func TestDrawsByInversion(t *testing.T) {
	type known interface {
		likelihood.Differentiable
		likelihood.Supported
		likelihood.Predictive
	}
	for _, c := range []struct {
		lik  known
		off  float64 // allowed
		most int     // densities a draw
	}{
		{likelihood.Gaussian{NoiseVariance: param.Hold(0.3)}, 1e-6, 300},
		{likelihood.Gamma{Shape: param.Hold(3)}, 1e-6, 200},
		{likelihood.Gamma{Shape: param.Hold(0.7)}, 1e-6, 2000},
		// 1e-7 is beyond 40 standard deviations
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(4.5), Scale: param.Hold(0.5)}, 4e-6, 300},
		{likelihood.Poisson{}, 0, 4},
		{likelihood.NegativeBinomial{Size: param.Hold(2)}, 0, 6},
		{likelihood.Binomial{Trials: 9}, 0, 8},
	} {
		const draws = 60
		asked := 0
		l := likelihood.Quadrature{Likelihood: bare{c.lik, c.lik, &asked}}
		rng, again := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
		for i := range draws {
			f := math.Sin(float64(i))
			got, want := l.Sample(rng, f), c.lik.PredictiveQuantile(again.Float64(), f, 0)
			if !(math.Abs(got-want) <= c.off*math.Max(math.Abs(want), 0.2)) {
				t.Errorf("%v: draw %d given %v is %v, want %v", c.lik, i, f, got, want)
			}
		}
		if asked > draws*c.most {
			t.Errorf("%v: %d densities a draw, want at most %d", c.lik, asked/draws, c.most)
		}
	}
}

// A variance of the noise that is as large as a number can be is drawn as one, and not as infinite.
func TestDrawsOfNoiseAreNumbers(t *testing.T) {
	l := likelihood.Gaussian{NoiseVariance: param.Hold(math.MaxFloat64), PredictiveDF: 10}
	rng, below := rand.New(rand.NewPCG(1, 1)), 0
	for range 200 {
		v := l.Draw(rng).NoiseVariance.Value
		if !(v > 0) || math.IsInf(v, 0) {
			t.Fatalf("a noise variance of %v was drawn", v)
		}
		if v < math.MaxFloat64 {
			below++
		}
	}
	if below < 50 { // of an inverse gamma of that mean, above the median
		t.Errorf("%d of 200 variances are below the mean", below)
	}
}
