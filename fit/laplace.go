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
				return refusing("laplace", laplace.Supports)(family, p)
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
func laplaceBatch(with Settings, a *spec.Arguments) (Maker, error) {
	ordinary := svi.Config{Approximation: svi.Laplace, Checkpoint: with.Checkpoint, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
	selector := laplace.Config{Checkpoint: with.Checkpoint, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
	a.Fields(ordinary.Fields())
	a.Fields(selector.Fields())
	_, normal := with.Prior.(prior.Normal)
	if normal {
		with.misplaced(a, "spikeslab", "method", "variances", "starts", "anneal", "sets", "columns", "vectors")
	} else {
		with.misplaced(a, "normal", "diagnostics")
	}
	if _, selects := with.Prior.(prior.SpikeSlab); selects {
		a.Word("hyper", "", string(param.Mode))
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
