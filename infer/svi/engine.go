package svi

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/checkpoint"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Likelihood is what this engine asks of p(y|f): derivatives for starting values,
// and for f ~ N(mean, variance) the expectations of log p and their gradients,
// row by row. likelihood.Quadrature gives them to any family with derivatives.
type Likelihood interface {
	credence.Likelihood
	Derivatives(y, f float64) (value, first, second float64)
	// ExpectedLogDensities stores by row E log p(y|f) and its derivatives in the mean and the variance of f.
	ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64)
}

// Engine fits one model.
type Engine struct {
	model      credence.Model
	likelihood Likelihood
	prior      prior.Normal
	groups     []base.Group
	together   []base.Together // columns that vary together by level
	odds       []float64       // of their partial correlations, where they begin
	config     Config
	// startsStated says that the number of starts is, hyperStated what is done about hyper-parameters.
	startsStated, hyperStated bool
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
	if e.prior, err = base.NormalPrior(name, model.Prior); err != nil {
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
	e.config, e.startsStated, e.hyperStated = cfg.withDefaults(), cfg.Starts > 0, cfg.Hyper != ""
	if d := model.Features.Weights(); cfg.PolishRows == 0 && curves(model.Features) {
		e.config.PolishRows = max(e.config.PolishRows, int(curveOperations/(float64(d)*float64(d))))
	}
	weights, beside := model.Features.Weights(), ""
	if rest, levels := base.Rest(model.Features, e.prior); levels && cfg.Covariance == Full {
		weights, beside = rest, " beside the levels of the largest category"
	}
	switch {
	case cfg.Hyper == param.Integrate && weights > base.FullWeights:
		return nil, fmt.Errorf("%s: hyper=integrate takes up to %d weights, and the model has %d%s: state hyper=mode, or use fewer columns", name, base.FullWeights, weights, beside)
	case cfg.Hyper == "" && cfg.Covariance == Full && weights <= base.FullWeights:
		e.config.Hyper = param.Integrate
	case cfg.Hyper == "" && e.config.independent() && HeldOut(model):
		e.config.Hyper = param.Heldout
	case cfg.Hyper == param.Heldout:
		if why := holdable(model, e.prior.ARD); why != "" {
			return nil, fmt.Errorf("%s: hyper=heldout %s", name, why)
		}
	case cfg.Hyper == "":
		e.config.Hyper = param.Mode
	}
	groups := base.Groups
	if cfg.Covariance == Full {
		groups = base.GroupsTogether
	}
	if e.groups, err = groups(name, model.Features, e.prior); err != nil {
		return nil, err
	}
	if e.together, e.odds, err = base.TogetherOf(name, model.Features, e.groups); err != nil {
		return nil, err
	}
	if len(e.groups) == 0 {
		return nil, fmt.Errorf("%s: the model has no weights: add a column or an intercept", name)
	}
	return e, nil
}

// checkpointFormat is the version of checkpoints.
const checkpointFormat = 6

// document is what a checkpoint holds: the state of the loop that was interrupted, and what else was
// learned before it.
type document struct {
	Hyper   []float64      `json:"hyper,omitempty"` // of the features
	Redraw  int            `json:"redraw,omitempty"`
	Held    *tries         `json:"held,omitempty"`
	Newton  *newton.State  `json:"newton,omitempty"`
	Mixture *mixture.State `json:"mixture,omitempty"`
}

// vectors are the parts of the states that are not in their JSON.
func (d *document) vectors() checkpoint.Vectors {
	switch {
	case d.Newton != nil:
		return d.Newton.Vectors()
	case d.Mixture != nil:
		v := d.Mixture.Vectors()
		if d.Held != nil {
			v["held.at"] = &d.Held.at
		}
		return v
	}
	return nil
}

// kind tells model, options and data apart, the data by their number of rows and their first block.
func (r *fit) kind() (checkpoint.Kind, error) {
	if r.fingerprint == "" {
		config := r.config
		config.MaxIterations, config.Epochs = 0, 0 // a fit may go on with other limits
		first, err := r.Data.Block(context.Background(), 0)
		if err != nil {
			return checkpoint.Kind{}, err
		}
		parts := []any{
			config, fmt.Sprint(r.Likelihood), fmt.Sprint(r.Prior), r.Data.Total(), r.Features.Blocks(),
			first.Target, first.Offset, first.Weight, first.Precision, first.Trials, first.Sparse.Index, first.Sparse.Value,
		}
		for i := range first.X.Rows {
			if first.X.Cols > 0 {
				parts = append(parts, first.X.Row(i))
			}
		}
		if r.fingerprint, err = checkpoint.Fingerprint(parts...); err != nil {
			return checkpoint.Kind{}, err
		}
	}
	return checkpoint.Kind{Name: r.config.name(), Format: checkpointFormat, Fingerprint: r.fingerprint}, nil
}

func (r *fit) checkpoint() checkpoint.File {
	return checkpoint.File{Path: r.config.Checkpoint, Kind: r.kind}
}

// writeCheckpoint replaces the checkpoint file, if there is to be one.
func (r *fit) writeCheckpoint(d *document) error {
	d.Hyper, d.Redraw = base.HyperValues(r.Features), r.redraw
	return r.checkpoint().Save(d, d.vectors())
}

// readCheckpoint returns what the checkpoint file holds, or nil if there is none.
func (r *fit) readCheckpoint() (*document, error) {
	d := new(document)
	if found, err := r.checkpoint().Resume(d, d.vectors); err != nil || !found {
		return nil, err
	}
	if full := r.config.Covariance == Full; full && d.Newton == nil || !full && d.Mixture == nil {
		return nil, r.otherState()
	}
	return d, nil
}

// otherState refuses a checkpoint.
func (r *fit) otherState() error {
	return fmt.Errorf("%s: checkpoint %s has the state of another fit: name another file, or remove this one to begin anew", r.config.name(), r.config.Checkpoint)
}
