package main

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

func exactEngine() engineEntry {
	return engineEntry{
		name:   "exact",
		reason: "a Gaussian family with a normal prior has a closed form",
		refuses: func(family credence.Likelihood, p credence.Prior) string {
			if _, ok := family.(likelihood.Gaussian); !ok {
				return fmt.Sprintf("it needs the family gaussian, not %v", family)
			}
			if _, ok := p.(prior.Normal); !ok {
				return fmt.Sprintf("it needs the prior normal, not %v", p)
			}
			return ""
		},
		memory: exactMemory,
		configure: func(run engineRun, a *spec.Arguments) engineMaker {
			config := exact.Config{
				Starts:        a.Int("starts", 0, spec.AtLeast(1)),
				Draws:         a.Int("draws", 0, spec.AtLeast(1)),
				MaxIterations: a.Int("iterations", 0, spec.AtLeast(1)),
				Tolerance:     a.Float("tolerance", 0, spec.Positive()),
				ScreenRows:    a.Int("screen", 0, spec.AtLeast(1)),
				PolishRows:    a.Int("polish", 0, spec.AtLeast(1)),
				Seed:          run.seed,
				Threads:       run.threads,
				Progress:      run.progress,
			}
			return engineMaker{config.Validate, func(model credence.Model) (credence.Engine, error) { return exact.New(model, config) }}
		},
	}
}
