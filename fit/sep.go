package fit

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/spec"
)

func sepEngine() Engine {
	return Engine{
		Name:    "sep",
		About:   "spike-and-slab by stochastic expectation propagation; the default of stream",
		Family:  "bernoulli(link=probit)",
		Prior:   "spikeslab",
		Reason:  "passes over the rows in memory that grows with the features alone",
		Refuses: refusing("sep", sep.Supports),
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := sep.Config{Seed: with.Seed, Progress: with.Progress}
			a.Fields(append(config.Fields(), config.TableFields()...))
			return func(model credence.Model) (credence.Engine, error) { return sep.New(model, config) }, config.Validate()
		},
		Online: onlineSEP,
	}
}
