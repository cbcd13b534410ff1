package fit

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/spec"
)

// penalisedEngine is one of the penalties; alpha is its default, stated or not.
func penalisedEngine(name string, alpha, limit float64) Engine {
	return Engine{
		Name:     name,
		About:    "a penalised regression, λ by cross-validation",
		AskedFor: true, Priorless: true,
		Refuses: refusing(name, func(family credence.Likelihood, p credence.Prior) error { return penalised.Supports(name, family, p) }),
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := penalised.Config{Name: name, Alpha: alpha, Cap: limit, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			return func(model credence.Model) (credence.Engine, error) { return penalised.New(model, config) }, config.Validate()
		},
	}
}
