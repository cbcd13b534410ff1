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
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			return refusal(name, penalised.Supports(name, family, p))
		},
		Batch: func(run Run, a *spec.Arguments) (Maker, error) {
			config := penalised.Config{
				Name: name, Alpha: alpha, Cap: limit,
				Lambda:  a.Means("the penalty", "by cross-validation").Float("lambda", 0, spec.Positive()),
				Rule:    penalised.Rule(a.Means("the penalty of the least error of rows left out, or the largest within one standard error of it", "min").Word("rule", "", string(penalised.Least), string(penalised.OneStandard))),
				Folds:   a.Means("folds of the cross-validation", "10, or the rows where they are fewer").Int("folds", 0, spec.Between(2, penalised.MostFolds)),
				Points:  a.Means("penalties that are tried", "100").Int("points", 0, spec.Between(2, penalised.MostPoints)),
				Seed:    run.Seed,
				Threads: run.Threads, Progress: run.Progress,
			}
			if name == "elasticnet" {
				config.Alpha = a.Means("1 is the lasso, towards 0 ridge regression", "").Float("alpha", alpha, spec.Fraction())
			}
			if limit > 0 {
				config.Cap = a.Means("where the penalty of a weight ends, in units of its threshold", "").Float("cap", limit, spec.Positive())
			}
			return func(model credence.Model) (credence.Engine, error) { return penalised.New(model, config) }, config.Validate()
		},
	}
}
