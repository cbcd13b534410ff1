package fit

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

func convexEngine() Engine {
	return Engine{
		Name:    "convex",
		About:   "convex variational Bayes, with normal, Laplace and Student-t priors",
		Reason:  "its bound has one optimum, whatever the prior's tails, and it needs products with the columns alone",
		Refuses: refusing("convex", convex.Supports),
		Memory: func(_ spec.Call, _ credence.Prior, rows, weights float64) float64 {
			if weights > 4000 {
				return 8 * weights * 200
			}
			return 8 * 3 * weights * weights
		},
		Batch: func(with Settings, a *spec.Arguments) (Maker, error) {
			config := convex.Config{Seed: with.Seed, Threads: with.Threads, Progress: with.Progress}
			a.Fields(config.Fields())
			return func(model credence.Model) (credence.Engine, error) {
				if config.Hyper != param.Heldout && (config.Hyper != "" || !svi.HeldOut(model)) {
					return convex.New(model, config)
				}
				if err := convex.Supports(model.Likelihood, model.Prior); err != nil {
					return nil, err
				}
				first, err := svi.New(model, svi.Config{Hyper: param.Heldout, Seed: with.Seed, Threads: with.Threads, Progress: with.Progress})
				return &afterChoice{model, config, first}, err
			}, config.Validate()
		},
	}
}

// afterChoice is engine convex with the prior variances that svi chooses by rows that are left out.
type afterChoice struct {
	model  credence.Model
	config convex.Config
	first  credence.Engine
}

// Fit implements [credence.Engine].
func (e *afterChoice) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	config := e.config
	var err error
	if config.Start, err = e.first.Fit(ctx, data); err != nil {
		return nil, err
	}
	config.Hyper = param.Heldout
	engine, err := convex.New(e.model, config)
	if err != nil {
		return nil, err
	}
	fitted, err := engine.Fit(ctx, data)
	if err == nil {
		fitted.Report.HyperEvaluations = config.Start.Report.HyperEvaluations
	}
	return fitted, err
}
