package fit

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func sviEngine() Engine {
	return Engine{
		Name:   "svi",
		About:  "variational Bayes, for every family; batches or all rows",
		Reason: "variational Bayes, since this family has no closed form",
		Refuses: func(_ credence.Likelihood, p credence.Prior) string {
			if _, ok := p.(prior.Normal); !ok {
				return fmt.Sprintf("it needs the prior normal, not %v", p)
			}
			return ""
		},
		Automatic: func(model credence.Model, _ int) (spec.Call, string, error) {
			call := spec.Call{Name: "svi"}
			if rest, _ := problem.Rest(model.Features, model.Prior); rest <= problem.FullWeights {
				call.Named = []spec.Argument{{Key: "covariance", Value: spec.Column{Name: string(svi.Full)}}}
			}
			return call, "", nil
		},
		Groups:      isFull,
		Memory:      sviMemory,
		Eliminates:  isFull,
		Checkpoints: true,
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := svi.Config{Checkpoint: with.Checkpoint, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			return func(model credence.Model) (credence.Engine, error) { return svi.New(model, config) }, config.Validate()
		},
	}
}

// isFull says whether a call states a full covariance.
func isFull(call spec.Call) bool {
	return spec.NewArguments(call, "").Word("covariance", "") == string(svi.Full)
}

// sviMemory is that of a covariance and its curvature, and where hyper-parameters are integrated of
// the posterior at the mode, the one at a node and three sums, and what steps draw on; or of the means, variances and
// steps of every component and of what every two of them have in common, and of the
// draws that diagnose the fit.
func sviMemory(call spec.Call, _ credence.Prior, rows, weights float64) float64 {
	const draws = 200 // at the least
	a := spec.NewArguments(call, "")
	if a.Word("covariance", "") == "full" {
		if fewer := rows + 2; weights > 2*fewer { // weights of a row each stand for them: see svi
			return 8*2*rows*weights + sviMemory(call, nil, rows, fewer)
		}
		matrices := 4 + 2*float64(svi.Depth(int(weights)))
		if a.Word("hyper", "") == "" && weights <= problem.FullWeights {
			matrices += 7
		}
		return 8 * weights * (matrices*weights + draws)
	}
	components := float64(a.Int("components", 1))
	pairs := 0.0
	if components > 1 {
		pairs = components * components
	}
	return 8*weights*(draws+8*components) + 8*2*pairs
}
