package main

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func sviEngine() engineEntry {
	return engineEntry{
		name:   "svi",
		reason: "this family has no closed form, and variational Bayes fits every one",
		refuses: func(_ credence.Likelihood, p credence.Prior) string {
			if _, ok := p.(prior.Normal); !ok {
				return fmt.Sprintf("it needs the prior normal, not %v", p)
			}
			return ""
		},
		automatic: func(model credence.Model) spec.Call {
			call := spec.Call{Name: "svi"}
			if model.Features.Weights() <= svi.FullWeights {
				call.Named = []spec.Argument{{Key: "covariance", Value: spec.Column{Name: string(svi.Full)}}}
			}
			return call
		},
		memory:      sviMemory,
		checkpoints: true,
		configure: func(run engineRun, a *spec.Arguments) engineMaker {
			config := svi.Config{
				Covariance: svi.Covariance(a.Word("covariance", "", string(svi.Diagonal), string(svi.Full))),
				Components: a.Int("components", 0, spec.AtLeast(1)),
				Starts:     a.Int("starts", 0, spec.AtLeast(1)),
				Batch:      a.Int("batch", 0, spec.AtLeast(1)),
				Optimiser: svi.Optimiser(a.Word("optimiser", "",
					string(svi.Adam), string(svi.AdaGrad), string(svi.AdaDelta), string(svi.Momentum), string(svi.SGD))),
				Estimator:     svi.Estimator(a.Word("estimator", "", string(svi.Marginal), string(svi.Sample))),
				Samples:       a.Int("samples", 0, spec.AtLeast(2)),
				Rate:          a.Float("rate", 0, spec.Positive()),
				Epochs:        a.Int("epochs", 0, spec.AtLeast(1)),
				MaxIterations: a.Int("iterations", 0, spec.AtLeast(1)),
				Tolerance:     a.Float("tolerance", 0, spec.Positive()),
				ScreenRows:    a.Int("screen", 0, spec.AtLeast(1)),
				PolishRows:    a.Int("polish", 0, spec.AtLeast(1)),
				Diagnostics:   diagnosticDraws(a.Int("diagnostics", -1, spec.AtLeast(0))),
				Checkpoint:    run.checkpoint,
				Seed:          run.seed,
				Threads:       run.threads,
				Progress:      run.progress,
			}
			return engineMaker{config.Validate, func(model credence.Model) (credence.Engine, error) { return svi.New(model, config) }}
		},
	}
}

// diagnosticDraws turns the option diagnostics, -1 where it is left out, into the engine's, in which 0
// means its default and a negative number none.
func diagnosticDraws(stated int) int {
	switch stated {
	case -1:
		return 0
	case 0:
		return -1
	}
	return stated
}
