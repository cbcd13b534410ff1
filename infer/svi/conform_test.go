package svi

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Weights and offsets of every family, under a prior variance of 10⁶ of weights, which leaves
// about 10⁻⁶ of it in some hundred rows. Climbs stop within 10⁻⁴ standard deviations.
func TestRoles(t *testing.T) {
	const n = 300
	for name, lik := range map[string]credence.Likelihood{
		"bernoulli": likelihood.Bernoulli{},
		"poisson":   likelihood.Poisson{},
		"gamma":     likelihood.Gamma{Shape: param.Hold(2)},
		"studentt":  likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.Hold(0.7)},
	} {
		for _, covariance := range []Covariance{Full, Diagonal} {
			t.Run(name+", "+string(covariance), func(t *testing.T) {
				e, err := New(credence.Model{Features: plain{p: 3}, Likelihood: lik, Prior: held(1e6)}, Config{Covariance: covariance, Diagnostics: -1})
				if err != nil {
					t.Fatal(err)
				}
				conform.Roles(t, e, draw(t, lik, n, 3, 77), 1e-4)
			})
		}
	}
}
