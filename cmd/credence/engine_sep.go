package main

import (
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/spec"
)

func sepEngine() engineEntry {
	return engineEntry{
		name:   "sep",
		reason: "passes over the rows in memory that grows with the features alone",
		refuses: func(family credence.Likelihood, p credence.Prior) string {
			if err := sep.Supports(family, p); err != nil {
				return strings.TrimPrefix(err.Error(), "sep: ")
			}
			return ""
		},
		configure: func(run engineRun, a *spec.Arguments) engineMaker {
			config := sep.Config{
				Batch:          a.Int("batch", 0, spec.AtLeast(1)),
				PriorEvery:     a.Int("prior_every", 0, spec.AtLeast(1)),
				Passes:         a.Int("passes", 0, spec.AtLeast(1)),
				PositiveWeight: a.Float("positive_weight", 0, spec.Positive()),
				NegativeWeight: a.Float("negative_weight", 0, spec.Positive()),
				KnownCounts:    a.Bool("known_counts", false),
				Seed:           run.seed,
				Progress:       run.progress,
			}
			return engineMaker{config.Validate, func(model credence.Model) (credence.Engine, error) { return sep.New(model, config) }}
		},
	}
}
