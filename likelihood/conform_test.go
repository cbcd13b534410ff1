package likelihood_test

import (
	"fmt"
	"testing"

	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

func TestConformance(t *testing.T) {
	two := []float64{0, 1}
	counts := []float64{0, 1, 2, 7, 60, 2000}
	signed := []float64{-6, -0.4, 0, 1.1, 25}
	positive := []float64{1e-4, 0.3, 1, 6, 300}
	links := conform.Links(t)
	for _, c := range []struct {
		lik interface {
			fullLikelihood
			fmt.Stringer
		}
		conformance
	}{
		{likelihood.Gaussian{}, conformance{Targets: signed}},
		{likelihood.Gaussian{NoiseVariance: param.From(0.01)}, conformance{Targets: signed}},
		{likelihood.Bernoulli{}, conformance{Targets: two}},
		{likelihood.Bernoulli{Link: likelihood.Probit}, conformance{Targets: two}},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, conformance{Targets: two}},
		{likelihood.Binomial{Trials: 1}, conformance{Targets: two}},
		{likelihood.Binomial{Trials: 12}, conformance{Targets: []float64{0, 1, 5, 11, 12}}},
		{likelihood.Binomial{Trials: 5000}, conformance{Targets: []float64{0, 3, 2400, 5000}}},
		{likelihood.Poisson{}, conformance{Targets: counts}},
		{likelihood.Poisson{Link: likelihood.Softplus}, conformance{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(1.2)}, conformance{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(0.05)}, conformance{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(300)}, conformance{Targets: counts}},
		{likelihood.Gamma{}, conformance{Targets: positive}},
		{likelihood.Gamma{Shape: param.Hold(0.3)}, conformance{Targets: positive}},
		{likelihood.Gamma{Shape: param.From(80)}, conformance{Targets: positive}},
		{likelihood.StudentT{}, conformance{Targets: signed}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(2.5), Scale: param.Hold(0.1)}, conformance{Targets: signed, Resolution: 0.01}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(300), Scale: param.From(3)}, conformance{Targets: signed}},
		{likelihood.Ordinal{}, conformance{Targets: two}},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.02, 0.03, 4}, State: param.Held}}, conformance{Targets: []float64{0, 1, 2, 3, 4}}},
		{likelihood.OrdinalGrades(3), conformance{Targets: []float64{0, 1, 2}}},
	} {
		t.Run(c.lik.String(), func(t *testing.T) { checkFamily(t, c.lik, c.conformance) })
		delete(links, c.lik.String())
	}
	for text := range links {
		t.Errorf("%s stands in no row", text)
	}
}
