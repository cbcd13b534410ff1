package fit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// gibbsSize is about the largest number of rows times columns that four chains go through within a minute.
const gibbsSize = 1e6

// laplaceSize is the number of weights above which a mode takes the place of expectation propagation.
const laplaceSize = 500_000

func epEngine() Engine {
	return Engine{
		Name: "ep", Checkpoints: true,
		Prior:   "spikeslab",
		About:   "spike-and-slab by expectation propagation",
		Reason:  "expectation propagation is close to the posterior of a spike-and-slab prior, and fast",
		Refuses: refusing("ep", ep.Supports),
		Automatic: func(model credence.Model, rows int) (spec.Call, string, error) {
			call := spec.Call{Name: "ep"}
			if model.Features.Weights() > laplaceSize && laplace.Supports(model.Likelihood, model.Prior) == nil {
				call.Name = "laplace"
				return call, "", nil
			}
			if _, normal := model.Likelihood.(likelihood.Gaussian); normal && float64(rows)*float64(model.Features.Weights()) <= gibbsSize {
				call.Name = "gibbs"
			}
			return call, "", nil
		},
		Memory: epMemory,
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := ep.Config{Checkpoint: with.Checkpoint, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			return func(model credence.Model) (credence.Engine, error) { return ep.New(model, config) }, config.Validate()
		},
	}
}

// refusing is Refuses of an engine that says what it supports in errors of its own.
func refusing(engine string, supports func(credence.Likelihood, credence.Prior) error) func(credence.Likelihood, credence.Prior) string {
	return func(family credence.Likelihood, p credence.Prior) string {
		if err := supports(family, p); err != nil {
			return strings.TrimPrefix(err.Error(), engine+": ")
		}
		return ""
	}
}

// epMemory is that of the square matrices of the smaller side, where the covariance is full. Columns may be sparse.
func epMemory(call spec.Call, _ credence.Prior, rows, weights float64) float64 {
	small := min(rows, weights)
	if !ep.IsFull(ep.Covariance(spec.NewArguments(call, "").Word("covariance", "")), small) {
		return 0
	}
	return 8 * 3 * small * small
}

func gibbsEngine() Engine {
	return Engine{
		Name: "gibbs", Checkpoints: true,
		Prior:  "spikeslab",
		About:  "spike-and-slab by collapsed Gibbs sampling, several chains; the horseshoe",
		Reason: "chains of flips go from one set of features to the other, and rows times columns are few",
		Automatic: func(model credence.Model, _ int) (spec.Call, string, error) {
			reason := ""
			if _, shrinks := model.Prior.(prior.Horseshoe); shrinks {
				reason = "draws follow the long tails of a horseshoe prior"
			}
			return spec.Call{Name: "gibbs"}, reason, nil
		},
		Refuses: refusing("gibbs", gibbs.Supports),
		Memory: func(call spec.Call, _ credence.Prior, rows, weights float64) float64 {
			chains := float64(spec.NewArguments(call, "").Int("chains", 4))
			return 8 * chains * (6*rows + 10*weights) // a chain holds as many products as it has room for
		},
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := gibbs.Config{Checkpoint: with.Checkpoint, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			start := a.Means("where the second chain starts: with what expectation propagation calls, or with no column", "").Word("start", "ep", "ep", "empty")
			if _, shrinks := with.Prior.(prior.Horseshoe); shrinks {
				with.misplaced(a, "spikeslab", "flips", "start")
			} else {
				with.misplaced(a, "horseshoe", "sweeps")
			}
			return func(model credence.Model) (credence.Engine, error) {
				if _, shrinks := model.Prior.(prior.Horseshoe); shrinks || start == "empty" {
					return gibbs.New(model, config)
				}
				first, err := ep.New(model, ep.Config{Hyper: param.Mode, Threads: with.Threads, Progress: with.Progress})
				if err != nil {
					return nil, fmt.Errorf("gibbs: %w", err)
				}
				return &sampler{model, first, config}, nil
			}, config.Validate()
		},
	}
}

// lost says that the sites of expectation propagation went beyond all numbers, as those of groups of levels may do
// under a stated inclusion: what looks at it beside another engine's answer does without.
func lost(err error) bool {
	var repeated *gauss.Repeated
	return errors.As(err, &repeated)
}

// sampler is the Gibbs sampler with a chain that starts where expectation propagation ended.
type sampler struct {
	model  credence.Model
	first  *ep.Engine
	config gibbs.Config
}

// Fit implements [credence.Engine].
func (s *sampler) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	start, err := s.first.Fit(ctx, data)
	if err != nil && !lost(err) {
		return nil, err
	}
	config := s.config
	if err == nil {
		q := start.Members[0].Posterior.(credence.Selector)
		config.Start = make([]float64, q.Weights())
		for j := range config.Start {
			config.Start[j] = q.InclusionProbability(j)
		}
	}
	engine, err := gibbs.New(s.model, config)
	if err != nil {
		return nil, err
	}
	fitted, err := engine.Fit(ctx, data)
	if err == nil && start != nil && !start.Report.Stuck {
		fitted.Members[0].Posterior.(*posterior.Draws).EPInclusion = config.Start
	}
	return fitted, err
}
