package likelihood_test

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestQuadratureConformance: a user's family behind Quadrature passes the suite
// of the built-in ones, as does a built-in one stripped of all it knows.
func TestQuadratureConformance(t *testing.T) {
	signed := []float64{-6, -0.4, 0, 1.1, 25}
	t.Run("logistic noise", func(t *testing.T) {
		checkFamily(t, likelihood.Quadrature{Likelihood: logisticNoise{scale: 0.5}},
			conformance{Targets: signed, Quick: true, Loose: 100})
	})
	t.Run("stripped binomial", func(t *testing.T) {
		checkFamily(t, likelihood.Quadrature{Likelihood: countsOnly{likelihood.Binomial{Trials: 12}}},
			conformance{Targets: []float64{0, 3, 12}, Quick: true, Loose: 100})
	})
	t.Run("poisson", func(t *testing.T) {
		checkFamily(t, likelihood.Quadrature{Likelihood: likelihood.Poisson{}},
			conformance{Targets: []float64{0, 3, 40}, Quick: true, Loose: 100})
	})
}

// countsOnly hides everything of a binomial but its derivatives and support.
type countsOnly struct{ binomial likelihood.Binomial }

func (l countsOnly) LogDensity(y, f float64) float64 { return l.binomial.LogDensity(y, f) }
func (l countsOnly) Mean(f float64) float64          { return l.binomial.Mean(f) }
func (l countsOnly) Variance(f float64) float64      { return l.binomial.Variance(f) }
func (l countsOnly) Discrete() bool                  { return true }
func (l countsOnly) Support() (float64, float64)     { return l.binomial.Support() }
func (l countsOnly) CheckTarget(y float64) error     { return l.binomial.CheckTarget(y) }
func (l countsOnly) Derivatives(y, f float64) (float64, float64, float64) {
	return l.binomial.Derivatives(y, f)
}

// TestLimits: families that contain one another agree there.
func TestLimits(t *testing.T) {
	for f := -4.0; f < 5; f += 0.5 {
		for _, y := range []float64{0, 1} {
			want := likelihood.Bernoulli{}.LogDensity(y, f)
			for _, lik := range []likelihood.Family{likelihood.Binomial{}, likelihood.Ordinal{}} {
				if got := lik.LogDensity(y, f); !(math.Abs(got-want) <= 1e-14*(1+math.Abs(want))) {
					t.Errorf("%v at y=%g f=%g: %g, want the Bernoulli's %g", lik, y, f, got, want)
				}
			}
		}
		for _, y := range []float64{0, 3, 40} {
			// Var y exceeds the Poisson's by μ²/r: a relative difference of (y+μ)²/r.
			got, want := likelihood.NegativeBinomial{Size: param.Hold(1e13)}.LogDensity(y, f), likelihood.Poisson{}.LogDensity(y, f)
			if !(math.Abs(got-want) <= 1e-8) {
				t.Errorf("negative binomial of size 1e13 at y=%g f=%g: %g, Poisson %g", y, f, got, want)
			}
			e0, _, _ := likelihood.NegativeBinomial{Size: param.Hold(1e13)}.ExpectedLogDensity(y, f, 0.5)
			e1, _, _ := likelihood.Poisson{}.ExpectedLogDensity(y, f, 0.5)
			if !(math.Abs(e0-e1) <= 1e-8*(1+math.Abs(e1))) {
				t.Errorf("expected log density at size 1e13, y=%g f=%g: %g, Poisson %g", y, f, e0, e1)
			}
			gradient := make([]float64, 1)
			likelihood.NegativeBinomial{Size: param.Hold(1e13)}.ExpectedParameterGradient(gradient, y, f, 0)
			if mu := math.Exp(f); !(math.Abs(gradient[0]) <= 10*(y+mu*mu+y*y+1)/1e13+1e-12*(y+mu)) {
				t.Errorf("gradient in a size of 1e13 at y=%g f=%g is %g", y, f, gradient[0])
			}
		}
		for _, y := range []float64{-3, 0.2, 7} {
			got, want := likelihood.StudentT{DegreesOfFreedom: param.Hold(1e10), Scale: param.Hold(2)}.LogDensity(y, f), likelihood.Gaussian{NoiseVariance: param.Hold(4)}.LogDensity(y, f)
			if !(math.Abs(got-want) <= 1e-7) {
				t.Errorf("Student-t with 1e10 degrees of freedom at y=%g f=%g: %g, Gaussian %g", y, f, got, want)
			}
			z0, _, _ := likelihood.StudentT{DegreesOfFreedom: param.Hold(1e10), Scale: param.Hold(2)}.TiltedMoments(y, f, 3)
			z1, _, _ := likelihood.Gaussian{NoiseVariance: param.Hold(4)}.TiltedMoments(y, f, 3)
			if !(math.Abs(z0-z1) <= 1e-7) {
				t.Errorf("tilted Student-t with 1e10 degrees of freedom at y=%g f=%g: %g, Gaussian %g", y, f, z0, z1)
			}
		}
	}
}

// TestTrialsPerRow: a batch with trials is the rows one by one, to the rounding of sums in another order.
func TestTrialsPerRow(t *testing.T) {
	lik := likelihood.Binomial{}
	y, trials := []float64{0, 2, 30, 7}, []float64{1, 3, 100, 7}
	mean, variance := []float64{0.1, -1, -0.8, 2}, []float64{0.5, 3, 0.01, 0}
	n := len(y)
	a, b, c := make([]float64, n), make([]float64, n), make([]float64, n)
	row := func(i int) likelihood.Binomial {
		return likelihood.PerRow(lik).WithTrials(trials[i]).(likelihood.Binomial)
	}
	equal := func(i int, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-13*(1+math.Abs(want))) {
			t.Errorf("row %d: %g, want %g", i, got, want)
		}
	}
	lik.ExpectedLogDensities(a, b, c, y, trials, mean, variance)
	for i := range y {
		v, m, s := row(i).ExpectedLogDensity(y[i], mean[i], variance[i])
		equal(i, a[i], v)
		equal(i, b[i], m)
		equal(i, c[i], s)
	}
}

// TestNoAllocation covers the scalar forms.
func TestNoAllocation(t *testing.T) {
	for _, lik := range []fullLikelihood{
		likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Binomial{Trials: 50},
		likelihood.Poisson{}, likelihood.NegativeBinomial{}, likelihood.Gamma{}, likelihood.StudentT{},
	} {
		if n := testing.AllocsPerRun(5, func() {
			lik.Derivatives(1, 0.3)
			lik.ExpectedLogDensity(1, 0.3, 0.5)
			lik.TiltedMoments(1, 0.3, 0.5)
			lik.PredictiveQuantile(0.9, 0.3, 0.5)
			lik.PredictiveMean(0.3, 0.5)
			lik.PredictiveVariance(0.3, 0.5)
		}); n != 0 {
			t.Errorf("%v allocates %g times", lik, n)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		lik  likelihood.Family
		want string
	}{
		{likelihood.Gaussian{}, "gaussian"},
		{likelihood.Gaussian{NoiseVariance: param.Hold(0.1)}, "gaussian(variance=0.1)"},
		{likelihood.Gaussian{NoiseVariance: param.From(0.1)}, "gaussian(variance=~0.1)"},
		{likelihood.Bernoulli{}, "bernoulli"},
		{likelihood.Bernoulli{Link: likelihood.Probit}, "bernoulli(link=probit)"},
		{likelihood.Binomial{Trials: 12}, "binomial(trials=12)"},
		{likelihood.Poisson{Link: likelihood.Softplus}, "poisson(link=softplus)"},
		{likelihood.NegativeBinomial{Size: param.Hold(1.2)}, "negbinomial(size=1.2)"},
		{likelihood.Gamma{Shape: param.Hold(2)}, "gamma(shape=2)"},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.From(1)}, "studentt(df=4, scale=~1)"},
		{likelihood.StudentT{Scale: param.Hold(1e-7)}, "studentt(scale=1e-07)"},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0, 1.5}, State: param.Held}}, "ordinal(cutpoints=[-1, 0, 1.5])"},
		{likelihood.Quadrature{Likelihood: likelihood.Poisson{}}, "poisson"},
		{likelihood.Quadrature{Likelihood: logisticNoise{}}, "quadrature(likelihood_test.logisticNoise)"},
	} {
		if got := c.lik.(interface{ String() string }).String(); got != c.want {
			t.Errorf("text form %q, want %q", got, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		lik  likelihood.Validator
		want string // "" where it is valid
	}{
		{likelihood.Gaussian{}, ""},
		{likelihood.Gaussian{NoiseVariance: param.Hold(-1)}, "likelihood: gaussian: variance -1 is not a positive number: state a positive one, or leave it out to have it learned"},
		{likelihood.Gamma{Shape: param.Hold(math.NaN())}, "likelihood: gamma: shape NaN is not"},
		{likelihood.NegativeBinomial{Size: param.From(math.Inf(1))}, "likelihood: negbinomial: size +Inf is not"},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(3), Scale: param.Hold(-2)}, "likelihood: studentt: scale -2 is not"},
		{likelihood.Gaussian{NoiseVariance: param.Hold(0)}, "likelihood: gaussian: variance 0 is not a positive number"},
		{likelihood.Gaussian{NoiseVariance: param.Parameter{Value: 1, State: 7}}, "likelihood: gaussian: variance is in the unknown state 7"},
		{likelihood.Bernoulli{Link: "probt"}, `likelihood: bernoulli: there is no link "probt": choose logit or probit or cloglog`},
		{likelihood.Poisson{Link: likelihood.Probit}, `likelihood: poisson: there is no link "probit": choose log or softplus`},
		{likelihood.Binomial{Trials: 2.5}, "likelihood: binomial: trials 2.5 is not a positive whole number"},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{0, 0}, State: param.Held}}, "likelihood: ordinal: cutpoint 2, 0, does not ascend"},
		{likelihood.Quadrature{Likelihood: likelihood.Gamma{Shape: param.Hold(-1)}}, "likelihood: gamma: shape -1 is not"},
		{likelihood.Quadrature{Likelihood: logisticNoise{}}, ""},
	} {
		err := c.lik.Validate()
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.lik, err, c.want)
		}
	}
	for _, c := range []struct {
		lik  likelihood.Supported
		y    float64
		want string
	}{
		{likelihood.Bernoulli{}, -1, "target -1 is neither 0 nor 1, which bernoulli needs: name the positive class with --positive"},
		{likelihood.Binomial{Trials: 3}, 4, "target 4 is more than the 3 trials"},
		{likelihood.Binomial{Trials: 2.5}, 1, "trials 2.5 is not a positive whole number: binomial needs one in every row"},
		{likelihood.Poisson{}, -2, "target -2 is negative: poisson needs counts"},
		{likelihood.NegativeBinomial{}, 0.25, "target 0.25 is not a whole number: negbinomial needs counts"},
		{likelihood.Gamma{}, 0, "target 0 is not positive, which gamma needs"},
		{likelihood.StudentT{}, math.Inf(1), "target +Inf is not a number: studentt needs finite targets"},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 1}, State: param.Held}}, 3, "target 3 is not a grade 0, …, 2"},
	} {
		if err := c.lik.CheckTarget(c.y); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.lik, err, c.want)
		}
	}
}

// TestHeld: what is stated is held, what is left out is learned, and learning
// keeps it so.
func TestHeld(t *testing.T) {
	lik := likelihood.StudentT{DegreesOfFreedom: param.Hold(4)}
	list := lik.Parameters()
	if list[0].Parameter != param.Hold(4) || list[1].Parameter != (param.Parameter{Value: 1}) {
		t.Errorf("%v: %+v", lik, list)
	}
	moved := lik.WithParameters([]float64{4, 2.5}).(likelihood.StudentT)
	if moved.Scale != (param.Parameter{Value: 2.5}) || moved.String() != "studentt(df=4)" {
		t.Errorf("after a step: %v", moved)
	}
	if list := moved.Parameters(); list[0].State != param.Held || list[1].State != param.Learned {
		t.Errorf("after a step: %+v", list)
	}
}
