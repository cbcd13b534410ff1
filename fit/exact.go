package fit

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// largestExact is the largest min(rows, weights) that auto gives to exact, whose
// cost is cubic in it. Beyond, products with the columns have to do.
const largestExact = 10_000

func exactEngine() Engine {
	return Engine{
		Name:   "exact",
		About:  "the closed form of a Gaussian family with a normal prior",
		Reason: "a Gaussian family with a normal prior has a closed form",
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			if _, ok := family.(likelihood.Gaussian); !ok {
				return fmt.Sprintf("it needs the family gaussian, not %v", family)
			}
			if _, ok := p.(prior.Normal); !ok {
				return fmt.Sprintf("it needs the prior normal, not %v", p)
			}
			return ""
		},
		Automatic: func(model credence.Model, rows int) (spec.Call, string, error) {
			weights := model.Features.Weights()
			rest, levels := problem.Rest(model.Features, model.Prior)
			if min(rows, rest) <= largestExact || problem.Crossed(model.Features, model.Prior) {
				return spec.Call{Name: "exact"}, "", nil
			}
			many := fmt.Sprintf("%d rows and %d weights are too many for the closed form", rows, weights)
			if levels {
				many = fmt.Sprintf("%d rows and %d weights, %d of them beside the levels of the largest category, are too many for the closed form", rows, weights, rest)
			}
			if _, err := convex.New(model, convex.Config{}); err != nil { // lengthscales are to be learned
				return spec.Call{Name: "svi"}, many + ", and lengthscales are to be learned: variational Bayes", nil
			}
			return spec.Call{Name: "convex"}, many + "; products with the columns do", nil
		},
		Groups:     func(spec.Call) bool { return true },
		Memory:     exactMemory,
		Eliminates: func(spec.Call) bool { return true },
		Crosses:    true,
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := exact.Config{Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			return func(model credence.Model) (credence.Engine, error) { return exact.New(model, config) }, config.Validate()
		},
	}
}

// exactMemory is that of the smaller of the two forms, with the factor of the
// posterior: four D×D matrices, or three N×N and a dozen vectors. What integration adds is
// for few weights.
func exactMemory(_ spec.Call, _ credence.Prior, rows, weights float64) float64 {
	if rows < weights {
		return 8 * (3*rows*rows + 12*weights)
	}
	return 8 * 4 * weights * weights
}
