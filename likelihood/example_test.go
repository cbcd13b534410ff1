package likelihood_test

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

func ExampleBernoulli() {
	lik := likelihood.Bernoulli{Link: likelihood.Probit}
	fmt.Println(lik)
	fmt.Printf("P(y=1 | f=1) = %.4f\n", lik.Mean(1))
	// An uncertain f draws the probability towards one half.
	fmt.Printf("P(y=1) for f ~ N(1, 4) = %.4f\n", lik.PredictiveMean(1, 4))
	// Output:
	// bernoulli(link=probit)
	// P(y=1 | f=1) = 0.8413
	// P(y=1) for f ~ N(1, 4) = 0.6726
}

func ExamplePoisson() {
	lik := likelihood.Poisson{}
	mean, variance := math.Log(20), 0.1 // of f
	fmt.Printf("mean %.2f, variance %.2f\n", lik.PredictiveMean(mean, variance), lik.PredictiveVariance(mean, variance))
	fmt.Printf("90%% interval %g to %g\n", lik.PredictiveQuantile(0.05, mean, variance), lik.PredictiveQuantile(0.95, mean, variance))
	fmt.Println(lik.CheckTarget(2.5))
	// Output:
	// mean 21.03, variance 67.52
	// 90% interval 10 to 36
	// target 2.5 is not a whole number: poisson needs counts 0, 1, 2, …; choose gamma or gaussian for measured quantities, or give the exposure as offset(log(exposure))
}

func ExampleNegativeBinomial_parameters() {
	lik := likelihood.NegativeBinomial{Size: param.From(1.2)}
	parameter := lik.Parameters()[0]
	fmt.Println(lik, parameter.Name, parameter.Value, parameter.State)
	gradient := make([]float64, 1)
	lik.ExpectedParameterGradient(gradient, 3, 0.5, 0)
	fmt.Printf("d log p / d log size = %.4f\n", gradient[0])
	fmt.Println(lik.WithParameters([]float64{2}))
	// Output:
	// negbinomial(size=~1.2) size 1.2 guess
	// d log p / d log size = 0.3138
	// negbinomial(size=~2)
}

// A batch of binomial rows, each with its own number of trials.
func ExampleBatch() {
	var lik likelihood.Batch = likelihood.Binomial{}
	y, trials := []float64{2, 30}, []float64{3, 100}
	mean, variance := []float64{0.1, -0.8}, []float64{0.5, 0.01}
	value, dMean, dVariance := make([]float64, 2), make([]float64, 2), make([]float64, 2)
	lik.ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance)
	for i := range y {
		fmt.Printf("%.4f %.4f %.4f\n", value[i], dMean[i], dVariance[i])
	}
	// Output:
	// -1.1115 0.4327 -0.3363
	// -2.5749 -1.0430 -10.6803
}

// logisticNoise is a family written by a user: y = f + noise with a logistic
// density of the given scale. Three methods and the derivatives are enough.
type logisticNoise struct{ scale float64 }

func (l logisticNoise) LogDensity(y, f float64) float64 {
	z := math.Abs(y-f) / l.scale
	return -z - 2*math.Log1p(math.Exp(-z)) - math.Log(l.scale)
}

func (l logisticNoise) Mean(f float64) float64 { return f }

func (l logisticNoise) Variance(float64) float64 { return l.scale * l.scale * math.Pi * math.Pi / 3 }

func (l logisticNoise) Derivatives(y, f float64) (value, first, second float64) {
	tanh := math.Tanh((y - f) / (2 * l.scale))
	return l.LogDensity(y, f), tanh / l.scale, (tanh*tanh - 1) / (2 * l.scale * l.scale)
}

func ExampleQuadrature() {
	lik := likelihood.Quadrature{Likelihood: logisticNoise{scale: 0.5}}
	value, dMean, _ := lik.ExpectedLogDensity(1, 0.2, 0.3)
	fmt.Printf("E log p = %.4f, slope %.4f\n", value, dMean)
	logZ, _, _ := lik.TiltedMoments(1, 0.2, 0.3)
	fmt.Printf("log E p = %.4f\n", logZ)
	fmt.Printf("median %.4f, 95%% %.4f\n", lik.PredictiveQuantile(0.5, 0.2, 0.3), lik.PredictiveQuantile(0.95, 0.2, 0.3))
	// Output:
	// E log p = -1.4449, slope 1.1470
	// log E p = -1.2654
	// median 0.2000, 95% 1.9257
}
