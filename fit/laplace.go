package fit

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/spec"
)

func laplaceEngine() Engine {
	return Engine{
		Name:   "laplace",
		Prior:  "spikeslab",
		About:  "spike-and-slab by the Laplace approximation, for features by the million",
		Reason: "a spike of some width has a mode, and the search for it takes time in proportion to the features",
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			return refusal("laplace", laplace.Supports(family, p))
		},
		// Columns may be sparse; a dozen starts and as many vectors of a search are not.
		Memory: func(_ spec.Call, rows, weights float64) float64 {
			small := min(rows, weights)
			return 8 * (60*weights + 2*small*small)
		},
		Batch: func(run Run, a *spec.Arguments) (Maker, error) {
			config := laplace.Config{
				Method:        laplace.Method(a.Word("method", "", string(laplace.LBFGS), string(laplace.GIST))),
				Variances:     laplace.Variances(a.Word("variances", "", string(laplace.Exact), string(laplace.Nystrom), string(laplace.Random))),
				Starts:        a.Int("starts", 0, spec.Between(1, laplace.MostStarts)),
				Anneal:        a.Bool("anneal", false),
				Sets:          a.Int("sets", 0, spec.Between(1, laplace.MostVectors)),
				Columns:       a.Int("columns", 0, spec.Between(1, laplace.MostVectors)),
				Vectors:       a.Int("vectors", 0, spec.Between(2, laplace.MostVectors)),
				MaxIterations: a.Int("iterations", 0, spec.AtLeast(1)),
				Tolerance:     a.Float("tolerance", 0, spec.Positive()),
				Seed:          run.Seed,
				Threads:       run.Threads, Progress: run.Progress,
			}
			return func(model credence.Model) (credence.Engine, error) { return laplace.New(model, config) }, config.Validate()
		},
	}
}
