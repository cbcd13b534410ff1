package fit

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func laplaceEngine() Engine {
	return Engine{
		Name:        "laplace",
		About:       "the Laplace approximation: every family with a normal prior; with the prior spikeslab, and under select, features by the million",
		Reason:      "a spike of some width has a mode, and the search for it takes time in proportion to the features",
		Checkpoints: true,
		Groups:      func(spec.Call) bool { return true }, // with the prior normal
		Eliminates:  func(spec.Call) bool { return true },
		Refuses: func(family credence.Likelihood, p credence.Prior) string {
			switch p.(type) {
			case prior.Normal:
				return ""
			case prior.SpikeSlab:
				return refusal("laplace", laplace.Supports(family, p))
			}
			return fmt.Sprintf("it needs the prior normal or spikeslab, not %v", p)
		},
		// Columns may be sparse; a dozen starts and as many vectors of a search are not.
		Memory: func(call spec.Call, p credence.Prior, rows, weights float64) float64 {
			if _, normal := p.(prior.Normal); normal {
				call.Named = append([]spec.Argument{{Key: "covariance", Value: spec.Column{Name: string(svi.Full)}}}, call.Named...)
				return sviMemory(call, p, rows, weights)
			}
			small := min(rows, weights)
			return 8 * (60*weights + 2*small*small)
		},
		Batch: laplaceBatch,
	}
}

// laplaceBatch makes the engine that the prior asks for: of the modes of a spike-and-slab prior, or of the one
// mode of a normal prior, whose options are those of variational Bayes with a full covariance.
func laplaceBatch(run Run, a *spec.Arguments) (Maker, error) {
	treatments := []string{string(param.Integrate), string(param.Mode), string(param.MaximumLikelihood)}
	_, normal := run.Prior.(prior.Normal)
	if _, selects := run.Prior.(prior.SpikeSlab); selects {
		treatments = treatments[1:2]
	}
	both := struct {
		iterations int
		tolerance  float64
	}{a.Means("most iterations of a search", "100; 500 under spikeslab").Int("iterations", 0, spec.AtLeast(1)), a.Means("distance from the mode, in standard deviations of the weights, or fall of the objective under spikeslab, at which a search ends", "1e-4; 1e-6 under spikeslab").Float("tolerance", 0, spec.Positive())}
	ordinary := svi.Config{
		Approximation: svi.Laplace, MaxIterations: both.iterations, Tolerance: both.tolerance,
		Hyper:       param.Treatment(a.Means("what becomes of prior variances and parameters of the family that are not stated: averaged over, at their most probable values, or those of type-II maximum likelihood (ml)", "integrate up to 2,000 weights beside those of the levels of a large category, else mode").Word("hyper", "", treatments...)),
		Diagnostics: diagnosticDraws(a.Means("draws of the weights for the approximation check under a normal prior; 0 leaves it out", "200 to 1,000 by the number of rows").Int("diagnostics", -1, spec.Between(0, mostDraws))),
		Checkpoint:  run.Checkpoint, Seed: run.Seed, Threads: run.Threads, Progress: run.Progress,
	}
	selector := laplace.Config{
		Method:        laplace.Method(a.Means("how the mode is sought under spikeslab: by curvature, or by proximal steps", "lbfgs").Word("method", "", string(laplace.LBFGS), string(laplace.GIST))),
		Variances:     laplace.Variances(a.Means("how variances are found under spikeslab", "exact up to 4,000 rows or columns, random above").Word("variances", "", string(laplace.Exact), string(laplace.Nystrom), string(laplace.Random))),
		Starts:        a.Means("starts under spikeslab along each of two paths, the capped lasso's and the lasso's", "6").Int("starts", 0, spec.Between(1, laplace.MostStarts)),
		Anneal:        a.Means("narrow the spike on the way from each start", "").Bool("anneal", false),
		Sets:          a.Means("disjoint sets of columns of variances=nystrom", "4").Int("sets", 0, spec.Between(1, laplace.MostVectors)),
		Columns:       a.Means("columns in each set of variances=nystrom", "100").Int("columns", 0, spec.Between(1, laplace.MostVectors)),
		Vectors:       a.Means("random vectors of variances=random, two solves each", "32").Int("vectors", 0, spec.Between(2, laplace.MostVectors)),
		MaxIterations: both.iterations, Tolerance: both.tolerance,
		Checkpoint: run.Checkpoint, Seed: run.Seed, Threads: run.Threads, Progress: run.Progress,
	}
	if normal {
		run.misplaced(a, "spikeslab", "method", "variances", "starts", "anneal", "sets", "columns", "vectors")
	} else {
		run.misplaced(a, "normal", "diagnostics")
	}
	err := ordinary.Validate()
	if !normal && err == nil {
		err = selector.Validate()
	}
	return func(model credence.Model) (credence.Engine, error) {
		if _, normal := model.Prior.(prior.Normal); normal {
			return svi.New(model, ordinary)
		}
		return laplace.New(model, selector)
	}, err
}
