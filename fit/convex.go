package fit

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/spec"
)

func convexEngine() Engine {
	return Engine{
		Name:   "convex",
		About:  "convex variational Bayes, with normal, Laplace and Student-t priors",
		Reason: "its bound has one optimum, whatever the prior's tails, and it needs products with the columns alone",
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			return refusal("convex", convex.Supports(family, p))
		},
		Memory: func(_ spec.Call, _ credence.Prior, rows, weights float64) float64 {
			if weights > 4000 {
				return 8 * weights * 200
			}
			return 8 * 3 * weights * weights
		},
		Batch: func(run Run, a *spec.Arguments) (Maker, error) {
			config := convex.Config{
				Variances: convex.Variances(a.Word("variances", "", string(convex.Auto), string(convex.Exact), string(convex.LanczosMethod), string(convex.Sampled), string(convex.XDiag), string(convex.Combined))),
				Hyper:     hyper.Treatment(a.Word("hyper", "", string(hyper.Integrate), string(hyper.Mode), string(hyper.MaximumLikelihood))),
				Steps:     a.Int("steps", 0, spec.Between(1, mostRepeats)),
				Tolerance: a.Float("tolerance", 0, spec.Positive()),
				K:         a.Int("k", 0, spec.Between(1, mostRepeats)),
				Seed:      run.Seed, Threads: run.Threads, Progress: run.Progress,
			}
			return func(model credence.Model) (credence.Engine, error) { return convex.New(model, config) }, config.Validate()
		},
	}
}
