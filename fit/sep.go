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
			config.KnownCounts = a.Means("count the appearances of every feature in a pass before learning", "").Bool("known_counts", false)
			config.Seed, config.Progress = run.Seed, run.Progress
			return func(model credence.Model) (credence.Engine, error) { return sep.New(model, config) }, config.Validate()
		},
		Online: onlineSEP,
	}
}

// sepConfig reads the arguments that sep has for tables and online.
func sepConfig(a *spec.Arguments, passes int) sep.Config {
	return sep.Config{
		Batch:          a.Means("rows of a minibatch", "row by row").Int("batch", 0, spec.AtLeast(1)),
		PriorEvery:     a.Means("minibatches between updates of the prior", "15").Int("prior_every", 0, spec.AtLeast(1)),
		Passes:         a.Means("passes over the data; those stated are all made", "1 in stream; in fit until inclusions settle, 200 at most").Int("passes", passes, spec.Between(1, mostPasses)),
		PositiveWeight: a.Means("what a row of the positive class counts", "1").Float("positive_weight", 0, spec.Positive()),
		NegativeWeight: a.Means("what a row of the other class counts", "1").Float("negative_weight", 0, spec.Positive()),
	}
}
