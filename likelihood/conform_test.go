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
			conform.FullLikelihood
			fmt.Stringer
		}
		conform.LikelihoodCase
	}{
		{likelihood.Gaussian{}, conform.LikelihoodCase{Targets: signed}},
		{likelihood.Gaussian{NoiseVariance: param.From(0.01)}, conform.LikelihoodCase{Targets: signed}},
		{likelihood.Bernoulli{}, conform.LikelihoodCase{Targets: two}},
		{likelihood.Bernoulli{Link: likelihood.Probit}, conform.LikelihoodCase{Targets: two}},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, conform.LikelihoodCase{Targets: two}},
		{likelihood.Binomial{Trials: 1}, conform.LikelihoodCase{Targets: two}},
		{likelihood.Binomial{Trials: 12}, conform.LikelihoodCase{Targets: []float64{0, 1, 5, 11, 12}}},
		{likelihood.Binomial{Trials: 5000}, conform.LikelihoodCase{Targets: []float64{0, 3, 2400, 5000}}},
		{likelihood.Poisson{}, conform.LikelihoodCase{Targets: counts}},
		{likelihood.Poisson{Link: likelihood.Softplus}, conform.LikelihoodCase{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(1.2)}, conform.LikelihoodCase{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(0.05)}, conform.LikelihoodCase{Targets: counts}},
		{likelihood.NegativeBinomial{Size: param.Hold(300)}, conform.LikelihoodCase{Targets: counts}},
		{likelihood.Gamma{}, conform.LikelihoodCase{Targets: positive}},
		{likelihood.Gamma{Shape: param.Hold(0.3)}, conform.LikelihoodCase{Targets: positive}},
		{likelihood.Gamma{Shape: param.From(80)}, conform.LikelihoodCase{Targets: positive}},
		{likelihood.StudentT{}, conform.LikelihoodCase{Targets: signed}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(2.5), Scale: param.Hold(0.1)}, conform.LikelihoodCase{Targets: signed, Resolution: 0.01}},
		{likelihood.StudentT{DegreesOfFreedom: param.Hold(300), Scale: param.From(3)}, conform.LikelihoodCase{Targets: signed}},
		{likelihood.Ordinal{}, conform.LikelihoodCase{Targets: two}},
		{likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.02, 0.03, 4}, State: param.Held}}, conform.LikelihoodCase{Targets: []float64{0, 1, 2, 3, 4}}},
		{likelihood.OrdinalGrades(3), conform.LikelihoodCase{Targets: []float64{0, 1, 2}}},
	} {
		t.Run(c.lik.String(), func(t *testing.T) { conform.Likelihood(t, c.lik, c.LikelihoodCase) })
		delete(links, c.lik.String())
	}
	for text := range links {
		t.Errorf("%s stands in no row", text)
	}
}
