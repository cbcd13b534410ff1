package gibbs

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// errDegenerate is that of a state in which two columns are the same and nothing tells them apart.
var errDegenerate = errors.New("gibbs: the precision of the weights is not positive definite: two columns may be equal; drop one, or state a smaller slab")

// errNoDensity is that of chains none of which has a state with a finite density.
var errNoDensity = errors.New("gibbs: the density of every chain is no number: scale the columns and the target, look for weights of very different sizes, and leave out the variances that family and prior state")

// errNoNumbers is that of weights or rows that overflow.
var errNoNumbers = errors.New("gibbs: f is no finite number in some row: scale the columns and the offset")

// Config holds the options of the engine. The zero value is the default.
type Config struct {
	// Chains is the number of chains; 0 means 4. The first begins with the empty model, the second
	// with Start, further ones with the columns most like the target, and so on.
	Chains int `json:"chains,omitempty"`
	// Flips is the number of flips of a chain; 0 means 16,000.
	Flips int `json:"flips,omitempty"`
	// Sweeps is the number of sweeps of a chain under a horseshoe, a quarter of which are forgotten; 0
	// means 1,000.
	Sweeps int `json:"sweeps,omitempty"`
	// Draws is the number of draws of the weights that are kept; 0 means 1,000, and fewer where they
	// would take more than 4 million numbers, but at least 64.
	Draws int    `json:"draws,omitempty"`
	Seed  uint64 `json:"seed,omitempty"`
	// Start are inclusion probabilities, one for each weight of the model, above half of which columns
	// are in the second chain's first state; nil means none are known.
	Start []float64 `json:"-"`
	// Checkpoint is the path of a file to which every chain that ends is added; under a horseshoe there is none.
	// A fit that finds it runs the other chains alone, to the same bytes. Empty means none.
	Checkpoint string `json:"-"`
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads  int                     `json:"-"`
	Progress func(credence.Progress) `json:"-"` // called when a chain has ended, on the caller's goroutine
}

// Limits of what may be asked for.
const (
	MostChains = 64
	MostFlips  = 100_000_000
	MostDraws  = 100_000
)

// Fields are the options as texts name them.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Int("chains", &c.Chains, spec.Between(1, MostChains), "Markov chains, from different starts", "4"),
		spec.Int("flips", &c.Flips, spec.Between(100, MostFlips), "columns that each chain tries to put in or take out", "16,000"),
		spec.Int("sweeps", &c.Sweeps, spec.Between(20, MostFlips), "sweeps of each chain under a horseshoe, a quarter of them forgotten", "1,000"),
		spec.Int("draws", &c.Draws, spec.Between(2, MostDraws), "draws of the weights that are kept", "1,000; at least 64 where there are many weights"),
	}
}

// Validate refuses options that make no sense.
func (c Config) Validate() error { return spec.Check("gibbs", c.Fields()) }

func (c Config) withDefaults(weights int) Config {
	c.Chains = cmp.Or(c.Chains, 4)
	c.Flips = cmp.Or(c.Flips, 16_000)
	c.Sweeps = cmp.Or(c.Sweeps, 1000)
	c.Draws = cmp.Or(c.Draws, max(64, min(1000, 4_000_000/max(1, weights))))
	return c
}

// Engine fits one model.
type Engine struct {
	model     credence.Model
	prior     prior.SpikeSlab
	horseshoe *prior.Horseshoe // in place of the other, or nil
	config    Config
}

var _ credence.Engine = (*Engine)(nil)

// Checkpoints says that fits of the model write them.
func (e *Engine) Checkpoints() bool { return e.horseshoe == nil }

// Supports says why the pair cannot be fitted, nil if it can.
func Supports(l credence.Likelihood, p credence.Prior) error {
	if h, ok := p.(prior.Horseshoe); ok {
		if err := candidates.Family("gibbs", l); err != nil {
			return err
		}
		return h.Validate()
	}
	if _, ok := p.(prior.SpikeSlab); !ok {
		return fmt.Errorf("gibbs: it needs the prior spikeslab or horseshoe, not %v", p)
	}
	return candidates.PointSpike("gibbs", l, p)
}

// New returns the engine for a model, and refuses one that it does not fit; see [Supports].
func New(model credence.Model, cfg Config) (*Engine, error) {
	if err := candidates.Check(model, "gibbs", Supports, cfg.Validate()); err != nil {
		return nil, err
	}
	d := model.Features.Weights()
	if cfg.Start != nil && len(cfg.Start) != d {
		return nil, fmt.Errorf("gibbs: there are %d inclusion probabilities to start from and %d weights", len(cfg.Start), d)
	}
	e := &Engine{model: model, config: cfg.withDefaults(d)}
	switch p := model.Prior.(type) {
	case prior.SpikeSlab:
		e.prior = p
	case prior.Horseshoe:
		e.horseshoe = &p
	}
	return e, nil
}
