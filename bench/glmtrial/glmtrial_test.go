package glmtrial

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/bench/glmdata"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/svi"
)

// Both engines maximise the evidence of a linear Gaussian model, so that they agree to
// their tolerances; three weights of 600 rows explain what six lengthscales leave.
func TestEnginesAgree(t *testing.T) {
	train, test, err := glmdata.Smooth(glmdata.Real, 600, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Formula: ".", Target: "y", SVI: svi.Config{Covariance: svi.Full}}
	one, err := Run(t.Context(), train, options)
	if err != nil {
		t.Fatal(err)
	}
	options.Exact = &exact.Config{}
	two, err := Run(t.Context(), train, options)
	if err != nil {
		t.Fatal(err)
	}
	a, coverA, err := one.Regression(test, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	b, coverB, err := two.Regression(test, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	// The prior variance of the intercept is learned by one of them and held by the other.
	if math.Abs(float64(a.SMSE-b.SMSE)) > 1e-3 || math.Abs(float64(a.NLPD-b.NLPD)) > 1e-3 || math.Abs(coverA-coverB) > 0.01 {
		t.Errorf("svi %+v %v, exact %+v %v", a, coverA, b, coverB)
	}
	if !(one.CPUSeconds >= 0) || a.Rows != 10000 {
		t.Errorf("%v CPU seconds, %d rows", one.CPUSeconds, a.Rows)
	}
}

func TestClassification(t *testing.T) {
	train, test, err := glmdata.Smooth(glmdata.Class, 1000, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := Run(t.Context(), train, Options{Formula: "rbf(., n=20)", Target: "y", Family: "bernoulli", SVI: svi.Config{Covariance: svi.Full}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := fit.Classification(test)
	if err != nil {
		t.Fatal(err)
	}
	if !(c.LogLoss > 0.05 && c.LogLoss < 0.7) || c.Rows != 10000 {
		t.Errorf("%+v", c)
	}
}
