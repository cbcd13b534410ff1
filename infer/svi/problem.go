package svi

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
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
	ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64)
}

// Engine fits one model.
type Engine struct {
	model      credence.Model
	likelihood Likelihood
	prior      prior.Normal
	blocks     []blocks.Group
	config     Config
}

var _ credence.Engine = (*Engine)(nil)

// New returns the engine for a model whose likelihood has the expectations of
// Likelihood and whose prior is normal, and refuses any other.
func New(model credence.Model, cfg Config) (*Engine, error) {
	if model.Features == nil {
		return nil, fmt.Errorf("svi: the model has no features")
	}
	e := &Engine{model: model}
	var err error
	if e.likelihood, err = credence.Require[Likelihood]("svi", "likelihood", model.Likelihood); err != nil {
		return nil, fmt.Errorf("%w, or wrap it in likelihood.Quadrature", err)
	}
	switch p := model.Prior.(type) {
	case prior.Normal:
		e.prior = p
	case nil:
		return nil, fmt.Errorf("svi: the model has no prior")
	default:
		return nil, fmt.Errorf("svi: prior %v is not normal: choose prior normal, or engine convex for laplace and studentt and ep for spikeslab", p)
	}
	if v, ok := model.Likelihood.(likelihood.Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	if err := e.prior.Validate(); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	e.config = cfg.withDefaults()
	if e.blocks, err = blocks.Groups("svi", model.Features, e.prior); err != nil {
		return nil, err
	}
	if len(e.blocks) == 0 {
		return nil, fmt.Errorf("svi: the model has no weights: add a column or an intercept")
	}
	return e, nil
}

// group is a run of weights that share a prior variance.
type group struct {
	name         string
	first, count int
	learned      bool
	intercept    bool
	oneSize      bool // its features are of one size by construction
}

// groups returns the groups of the model: blocks, or single weights with ARD.
func (e *Engine) groups() []group {
	var list []group
	for _, g := range e.blocks {
		list = append(list, group{g.Name, g.First, g.Count, g.Learned, g.Intercept, g.Tuned && !e.prior.ARD})
	}
	return list
}

// identityLink says whether f has the units of y.
func identityLink(l credence.Likelihood) bool {
	d, ok := l.(likelihood.Described)
	return ok && d.LinkFunction() == likelihood.Identity
}

// family is a likelihood whose parameters move: the learned ones as unconstrained
// numbers, logarithms of positive parameters.
type family struct {
	Likelihood
	parametric likelihood.Parametric // nil without parameters to learn
	learned    []int                 // places of the learned ones among Parameters
	values     []float64             // of all Parameters, constrained
	positive   []bool
	// floor and ceiling bound the learned ones, unconstrained.
	floor, ceiling []float64
}

func newFamily(l Likelihood) *family {
	f := &family{Likelihood: l}
	parametric, ok := l.(likelihood.Parametric)
	if !ok {
		return f
	}
	for i, p := range parametric.Parameters() {
		f.values = append(f.values, p.Value)
		f.positive = append(f.positive, p.Positive)
		if p.State != param.Held {
			f.learned = append(f.learned, i)
			low, high := math.Inf(-1), math.Inf(1)
			if p.Positive {
				low, high = -parameterLimit, parameterLimit
				if p.Name != "variance" && p.Name != "scale" {
					high = shapeLimit
				}
			}
			f.floor, f.ceiling = append(f.floor, low), append(f.ceiling, high)
		}
	}
	if len(f.learned) > 0 {
		f.parametric = parametric
	}
	return f
}

// count returns the number of learned parameters.
func (f *family) count() int { return len(f.learned) }

// free returns the learned parameters as unconstrained numbers.
func (f *family) free() []float64 {
	x := make([]float64, len(f.learned))
	for k, i := range f.learned {
		x[k] = f.values[i]
		if f.positive[i] {
			x[k] = math.Log(x[k])
		}
	}
	return x
}

// parameterLimit bounds logarithms of positive parameters: e^±46 is 1e±20.
const parameterLimit = 46

// shapeLimit bounds the logarithms of those without units (sizes, shapes, degrees of freedom): beyond
// a million a family is its limit, Poisson or Gaussian, and the data cannot tell; but for the size
// of large counts, see sizeMargin.
const shapeLimit = 14

// at returns the family at other values of the learned parameters.
func (f *family) at(x []float64) *family {
	if len(f.learned) == 0 {
		return f
	}
	moved := *f
	moved.values = append([]float64(nil), f.values...)
	for k, i := range f.learned {
		v := math.Max(f.floor[k], math.Min(x[k], f.ceiling[k]))
		if f.positive[i] {
			v = math.Exp(v)
		}
		moved.values[i] = v
	}
	narrowed := f.parametric.WithParameters(moved.values)
	moved.parametric = narrowed.(likelihood.Parametric)
	moved.Likelihood = narrowed.(Likelihood)
	return &moved
}
