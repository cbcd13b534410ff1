package ep

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Covariance says which covariances of weights are kept.
type Covariance string

// Covariances.
const (
	Full     Covariance = "full"
	Diagonal Covariance = "diagonal" // none: weights are taken to be independent given the rows' sites
)

// Config holds the options of the engine. The zero value is the default.
type Config struct {
	// Hyper says what is done about noise, slab and inclusion where they are learned; empty means
	// integrate up to problem.FullWeights weights and mode above.
	Hyper param.Treatment `json:"hyper,omitempty"`
	// Covariance is Full or Diagonal; empty means Full while the smaller of rows and columns is at most
	// 3,000, of classes of sparse columns 1,600, and Diagonal above.
	Covariance Covariance `json:"covariance,omitempty"`
	// MaxIterations limits the sweeps over all sites; 0 means 500.
	MaxIterations int `json:"max_iterations,omitempty"`
	// Tolerance is the change of an inclusion probability below which sites have settled; 0 means 1e-5.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Seed is that of the draws of which features are in.
	Seed uint64 `json:"seed,omitempty"`
	// Checkpoint is the path of a file that is replaced after every ten sweeps, at an interruption, and once sites
	// have settled. A fit that finds it goes on from there, to the same bytes. Empty means none.
	Checkpoint string `json:"-"`
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads  int                     `json:"-"`
	Progress func(credence.Progress) `json:"-"` // called after every sweep, on the caller's goroutine
}

// Fields are the options as texts name them.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Word("hyper", &c.Hyper, []param.Treatment{param.Integrate, param.Mode},
			"what becomes of noise, slab and inclusion that are not stated: averaged over, or at their most probable values", "integrate up to 2,000 weights, mode above"),
		spec.Word("covariance", &c.Covariance, []Covariance{Full, Diagonal},
			"of the normal part of the posterior", "full up to 3,000 rows or columns, of classes of sparse columns 1,600, else diagonal"),
		spec.Int("iterations", &c.MaxIterations, spec.AtLeast(1), "most sweeps over all sites", "500"),
		spec.Float("tolerance", &c.Tolerance, spec.Positive(), "change of an inclusion probability at which sites have settled", "1e-5"),
	}
}

// Validate refuses options that make no sense.
func (c Config) Validate() error { return spec.Check("ep", c.Fields()) }

func (c Config) withDefaults() Config {
	c.MaxIterations, c.Tolerance = cmp.Or(c.MaxIterations, 500), cmp.Or(c.Tolerance, 1e-5)
	return c
}

// Engine fits one model.
type Engine struct {
	model  credence.Model
	prior  prior.SpikeSlab
	config Config
}

var _ credence.Engine = (*Engine)(nil)

// Supports says why the pair cannot be fitted, nil if it can.
func Supports(l credence.Likelihood, p credence.Prior) error {
	return candidates.PointSpike("ep", l, p)
}

// New returns the engine for a model, and refuses one that it does not fit; see [Supports].
func New(model credence.Model, cfg Config) (*Engine, error) {
	if err := candidates.Check(model, "ep", Supports, cfg.Validate()); err != nil {
		return nil, err
	}
	if d := model.Features.Weights(); cfg.Hyper == param.Integrate && d > problem.FullWeights {
		return nil, fmt.Errorf("ep: hyper=integrate is for up to %d weights, and the model has %d: use hyper=mode", problem.FullWeights, d)
	}
	return &Engine{model: model, prior: model.Prior.(prior.SpikeSlab), config: cfg.withDefaults()}, nil
}
