package svi

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Likelihood is what this engine asks of p(y|f): derivatives for starting values,
// and for f ~ N(mean, variance) the expectations of log p and their gradients,
// row by row. likelihood.Quadrature gives them to any family with derivatives.
type Likelihood = problem.Likelihood

// Engine fits one model.
type Engine struct {
	model      credence.Model
	likelihood Likelihood
	prior      prior.Normal
	groups     []blocks.Group
	config     Config
	// startsStated says that the number of starts is.
	startsStated bool
}

var _ credence.Engine = (*Engine)(nil)

// New returns the engine for a model whose likelihood has the expectations of
// Likelihood and whose prior is normal, and refuses any other.
func New(model credence.Model, cfg Config) (*Engine, error) {
	name := cfg.name()
	if model.Features == nil {
		return nil, fmt.Errorf("%s: the model has no features", name)
	}
	e := &Engine{model: model}
	var err error
	if e.likelihood, err = credence.Require[Likelihood](name, "likelihood", model.Likelihood); err != nil {
		return nil, fmt.Errorf("%w, or wrap it in likelihood.Quadrature", err)
	}
	if e.prior, err = blocks.NormalPrior(name, model.Prior); err != nil {
		return nil, err
	}
	if v, ok := model.Likelihood.(likelihood.Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Approximation == Laplace {
		cfg.Covariance = Full
	}
	e.config, e.startsStated = cfg.withDefaults(), cfg.Starts > 0
	switch weights := model.Features.Weights(); {
	case cfg.Hyper == hyper.Integrate && weights > FullWeights:
		return nil, fmt.Errorf("%s: hyper=integrate takes up to %d weights, and the model has %d: state hyper=mode, or use fewer columns", name, FullWeights, weights)
	case cfg.Hyper == "" && cfg.Covariance == Full && weights <= FullWeights:
		e.config.Hyper = hyper.Integrate
	case cfg.Hyper == "":
		e.config.Hyper = hyper.Mode
	}
	if e.groups, err = blocks.Groups(name, model.Features, e.prior); err != nil {
		return nil, err
	}
	for k, g := range e.groups {
		if g.Intercept && k > 0 {
			return nil, fmt.Errorf("%s: the intercept %q is weight %d: make it the first block", name, g.Name, g.First+1)
		}
	}
	if len(e.groups) == 0 {
		return nil, fmt.Errorf("%s: the model has no weights: add a column or an intercept", name)
	}
	return e, nil
}
