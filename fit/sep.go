package fit

import (
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/spec"
)

func sepEngine() Engine {
	return Engine{
		Name:   "sep",
		About:  "spike-and-slab by stochastic expectation propagation; the default of stream",
		Family: "bernoulli(link=probit)",
		Prior:  "spikeslab",
		Reason: "passes over the rows in memory that grows with the features alone",
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			if err := sep.Supports(family, p); err != nil {
				return strings.TrimPrefix(err.Error(), "sep: ")
			}
			return ""
		},
		Batch: func(run Run, a *spec.Arguments) (Maker, error) {
			config := sepConfig(a, 0)
			config.KnownCounts = a.Bool("known_counts", false)
			config.Seed, config.Progress = run.Seed, run.Progress
			return func(model credence.Model) (credence.Engine, error) { return sep.New(model, config) }, config.Validate()
		},
		Online: onlineSEP,
	}
}

// sepConfig reads the arguments that sep has for tables and online.
func sepConfig(a *spec.Arguments, passes int) sep.Config {
	return sep.Config{
		Batch:          a.Int("batch", 0, spec.AtLeast(1)),
		PriorEvery:     a.Int("prior_every", 0, spec.AtLeast(1)),
		Passes:         a.Int("passes", passes, spec.Between(1, mostPasses)),
		PositiveWeight: a.Float("positive_weight", 0, spec.Positive()),
		NegativeWeight: a.Float("negative_weight", 0, spec.Positive()),
	}
}
