package fit

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/param"
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
		Groups: func(call spec.Call) bool {
			return spec.NewArguments(call, "").Word("covariance", "") == string(svi.Full)
		},
		Memory: sviMemory,
		Eliminates: func(call spec.Call) bool {
			return spec.NewArguments(call, "").Word("covariance", "") == string(svi.Full)
		},
		Checkpoints: true,
		Batch: func(run Run, a *spec.Arguments) (Maker, error) {
			config := svi.Config{
				Covariance: svi.Covariance(a.Means("of the posterior: between every two weights, or none", "diagonal; auto states full up to 2,000 weights beside those of the levels of a large category").Word("covariance", "", string(svi.Diagonal), string(svi.Full))),
				Components: a.Means("normal distributions that the posterior is a mixture of", "1").Int("components", 0, spec.AtLeast(1)),
				Starts:     a.Means("random starts, of which the best bound is kept", "1; 2 with components, 4 for lengthscales on fewer than 400 rows").Int("starts", 0, spec.Between(1, mostRepeats)),
				Batch:      a.Means("rows of a minibatch; stating it learns from minibatches in place of all rows", "512").Int("batch", 0, spec.AtLeast(1)),
				Optimiser: svi.Optimiser(a.Means("the rule of steps from minibatches", "adam").Word("optimiser", "",
					string(svi.Adam), string(svi.AdaGrad), string(svi.AdaDelta), string(svi.Momentum), string(svi.SGD))),
				Estimator:     svi.Estimator(a.Means("how the bound is estimated from minibatches: by quadrature of f, or by draws of the weights", "marginal").Word("estimator", "", string(svi.Marginal), string(svi.Sample))),
				Samples:       a.Means("draws a component of estimator=sample, an even number", "10").Int("samples", 0, spec.Between(2, mostDraws)),
				Rate:          a.Means("first step from minibatches, in standard deviations of a weight", "the optimiser's own").Float("rate", 0, spec.Positive()),
				Epochs:        a.Means("most passes over the rows in minibatches", "50").Int("epochs", 0, spec.AtLeast(1)),
				MaxIterations: a.Means("most iterations with all rows", "100 with full covariance, 2,000 with diagonal").Int("iterations", 0, spec.AtLeast(1)),
				Tolerance:     a.Means("distance from the optimum, in standard deviations of the weights, at which a fit ends", "1e-4; 1e-3 of large fits, .01 nat a weight in minibatches").Float("tolerance", 0, spec.Positive()),
				ScreenRows:    a.Means("rows on which lengthscales are first learned", "1,000").Int("screen", 0, spec.AtLeast(1)),
				PolishRows:    a.Means("rows on which lengthscales are then polished", "4,000").Int("polish", 0, spec.AtLeast(1)),
				Hyper:         param.Treatment(a.Means("what becomes of prior variances and parameters of the family that are not stated: averaged over, at their most probable values, prior variances by the log loss of rows that are left out (heldout), or those of type-II maximum likelihood (ml)", "integrate with full covariance up to 2,000 weights beside those of the levels of a large category; heldout above, for classes and counts; else mode").Word("hyper", "", string(param.Integrate), string(param.Mode), string(param.Heldout), string(param.MaximumLikelihood))),
				Diagnostics:   diagnosticDraws(a.Means("draws of the weights for the approximation check; 0 leaves it out", "200 to 1,000 by the number of rows").Int("diagnostics", -1, spec.Between(0, mostDraws))),
				Checkpoint:    run.Checkpoint,
				Seed:          run.Seed,
				Threads:       run.Threads,
				Progress:      run.Progress,
			}
			return func(model credence.Model) (credence.Engine, error) { return svi.New(model, config) }, config.Validate()
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
