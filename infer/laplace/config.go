package laplace

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Method says what mode is sought.
type Method string

// Methods.
const (
	LBFGS Method = "lbfgs" // of the weights, spike or slab summed over: FLAS
	GIST  Method = "gist"  // of weights and of spike or slab together: FLAS*
)

// Variances says how the marginal variances are found.
type Variances string

// Ways to marginal variances.
const (
	Exact   Variances = "exact"
	Nystrom Variances = "nystrom" // from sets of columns; never too small
	Random  Variances = "random"  // from solves with random signs; unbiased
)

// Config holds the options of the engine. The zero value is the default.
type Config struct {
	// Method is how the mode is sought; empty means LBFGS.
	Method Method `json:"method,omitempty"`
	// Variances is how marginal variances are found; empty means Exact while the smaller of rows and
	// columns is at most 4,000, and Random above.
	Variances Variances `json:"variances,omitempty"`
	// Starts is the number of starts along each of two paths, the capped lasso's and the lasso's; 0 means 6.
	Starts int `json:"starts,omitempty"`
	// Anneal narrows the spike on the way from each start. It loses what a good start knows where
	// columns are many more than rows.
	Anneal bool `json:"anneal,omitempty"`
	// Sets and Columns are the number of disjoint sets of columns of Nystrom, and of columns in each;
	// 0 means 4 and 100.
	Sets    int `json:"sets,omitempty"`
	Columns int `json:"columns,omitempty"`
	// Vectors is the number of random vectors of Random, each of which takes two solves; 0 means 32.
	Vectors int `json:"vectors,omitempty"`
	// MaxIterations limits the iterations of one search; 0 means 500.
	MaxIterations int `json:"max_iterations,omitempty"`
	// Tolerance is the fall of the objective below which a search ends; 0 means 1e-6.
	Tolerance float64 `json:"tolerance,omitempty"`
	Seed      uint64  `json:"seed,omitempty"`
	// Checkpoint is the path of a file that is replaced after every start and every finalist. A fit that
	// finds it goes on from there, to the same bytes. Empty means none.
	Checkpoint string `json:"-"`
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads  int                     `json:"-"`
	Progress func(credence.Progress) `json:"-"` // called after every step of what is learned, on the caller's goroutine
}

// Limits of what may be asked for.
const (
	MostStarts  = 1000
	MostVectors = 10_000
	// exactSide is the largest smaller side for which variances are exact by themselves.
	exactSide = 4000
)

// Fields are the options as texts name them.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Word("method", &c.Method, []Method{LBFGS, GIST}, "how the mode is sought under spikeslab: by curvature, or by proximal steps", "lbfgs"),
		spec.Word("variances", &c.Variances, []Variances{Exact, Nystrom, Random},
			"how variances are found under spikeslab", "exact up to 4,000 rows or columns, random above"),
		spec.Int("starts", &c.Starts, spec.Between(1, MostStarts), "starts under spikeslab along each of two paths, the capped lasso's and the lasso's", "6"),
		spec.Bool("anneal", &c.Anneal, "narrow the spike on the way from each start"),
		spec.Int("sets", &c.Sets, spec.Between(1, MostVectors), "disjoint sets of columns of variances=nystrom", "4"),
		spec.Int("columns", &c.Columns, spec.Between(1, MostVectors), "columns in each set of variances=nystrom", "100"),
		spec.Int("vectors", &c.Vectors, spec.Between(2, MostVectors), "random vectors of variances=random, two solves each", "32"),
		spec.Int("iterations", &c.MaxIterations, spec.AtLeast(1), "most iterations of a search", "500"),
		spec.Float("tolerance", &c.Tolerance, spec.Positive(), "fall of the objective at which a search ends", "1e-6"),
	}
}

// Validate refuses options that make no sense.
func (c Config) Validate() error { return spec.Check("laplace", c.Fields()) }

// Engine fits one model.
type Engine struct {
	model  credence.Model
	prior  prior.SpikeSlab
	config Config
}

var _ credence.Engine = (*Engine)(nil)

// Supports says why the pair cannot be fitted, nil if it can.
func Supports(l credence.Likelihood, p credence.Prior) error {
	if err := candidates.Supports("laplace", l, p); err != nil {
		return err
	}
	switch s := p.(prior.SpikeSlab).Spike; {
	case s.State == param.Guess:
		return fmt.Errorf("laplace: its spike is not learned from a guess: state spike=%v, or leave it out: it is then a thousandth of the slab", s.Value)
	case s.State == param.Held && s.Value == 0:
		return fmt.Errorf("laplace: its spike is a normal of some variance, not the point 0: state spike above 0 or leave it out, or use engine ep")
	}
	return nil
}

// New returns the engine for a model, and refuses one that it does not fit; see [Supports].
func New(model credence.Model, cfg Config) (*Engine, error) {
	if err := candidates.Check(model, "laplace", Supports, cfg.Validate()); err != nil {
		return nil, err
	}
	cfg.Method, cfg.Starts = cmp.Or(cfg.Method, LBFGS), cmp.Or(cfg.Starts, 6)
	cfg.Sets, cfg.Columns, cfg.Vectors = cmp.Or(cfg.Sets, 4), cmp.Or(cfg.Columns, 100), cmp.Or(cfg.Vectors, 32)
	cfg.MaxIterations, cfg.Tolerance = cmp.Or(cfg.MaxIterations, 500), cmp.Or(cfg.Tolerance, 1e-6)
	return &Engine{model, model.Prior.(prior.SpikeSlab), cfg}, nil
}
