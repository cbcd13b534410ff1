package exact

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Config says how to fit. It is plain data; the zero value is the default.
type Config struct {
	// Starts is the number of starting points where features have hyper-parameters
	// to learn, each with a fresh draw of random features; 0 means 4. Otherwise one start
	// is made: in the variances alone nothing is gained by more.
	Starts int `json:"starts,omitempty"`
	// Draws is the number of starts kept: the fit is the equal mixture of the best
	// so many; 0 means 1 where features are not random, and else 4 up to 5,000 rows and 2
	// above, but no more than Starts.
	// Every draw ends in a maximum of its own, so that their mixture also stands for
	// what is not known of the lengthscales; it nearly always predicts better than the best of
	// them, at so many times the size and prediction time. Report and evidence are those of the best.
	Draws int `json:"draws,omitempty"`
	// MaxIterations limits the iterations of the final climb; 0 means 200.
	MaxIterations int `json:"max_iterations,omitempty"`
	// Tolerance stops a climb when each of three iterations in a row raised the evidence by less
	// than Tolerance nats per row; 0 means 1e-6 up to 5,000 rows and 1e-5 above, ten times as much
	// while starts are compared, 1e-4 where a climb goes on from a maximum with fewer frequencies,
	// and 1e-12 where the features have nothing to learn and steps are cheap.
	Tolerance float64 `json:"tolerance,omitempty"`
	// ScreenRows is the number of evenly spread rows on which starts are compared;
	// 0 means 2,000.
	ScreenRows int `json:"screen_rows,omitempty"`
	// PolishRows is the largest number of rows on which hyper-parameters of features are
	// learned; 0 means 10,000. Variances are always learned on all rows.
	PolishRows int `json:"polish_rows,omitempty"`
	// Hyper says what is done about noise and prior variances that are not stated; "" means
	// param.Integrate up to problem.FullWeights weights, of which those of the levels of a category of many do not
	// count (problem.Rest), and param.Mode above.
	Hyper param.Treatment `json:"hyper,omitempty"`
	Seed  uint64          `json:"seed,omitempty"`
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads  int                     `json:"-"`
	Progress func(credence.Progress) `json:"-"` // called after every iteration, on the caller's goroutine
}

func (c Config) withDefaults() Config {
	c.Starts, c.MaxIterations = cmp.Or(c.Starts, 4), cmp.Or(c.MaxIterations, 200)
	c.ScreenRows, c.PolishRows = cmp.Or(c.ScreenRows, 2000), cmp.Or(c.PolishRows, 10000)
	return c
}

// Fields are the options as texts name them.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Int("starts", &c.Starts, spec.Between(1, problem.MostRepeats),
			"starting points where lengthscales are to be learned, the best kept", "4, and 1 where there are none"),
		spec.Int("draws", &c.Draws, spec.Between(1, problem.MostRepeats),
			"draws of random features that predictions average over", "4 up to 5,000 rows, 2 above, 1 without random features"),
		spec.Int("iterations", &c.MaxIterations, spec.AtLeast(1), "most iterations of the final climb", "200"),
		spec.Float("tolerance", &c.Tolerance, spec.Positive(),
			"the climb ends where three iterations gain less than so many nats a row", "1e-6 up to 5,000 rows, 1e-5 above"),
		spec.Int("screen", &c.ScreenRows, spec.AtLeast(1), "rows on which starting points are compared", "2,000"),
		spec.Int("polish", &c.PolishRows, spec.AtLeast(1), "rows on which lengthscales are learned", "10,000"),
		spec.Word("hyper", &c.Hyper, []param.Treatment{param.Integrate, param.Mode, param.MaximumLikelihood},
			"what becomes of noise and prior variances that are not stated: averaged over, at their most probable values, or those of type-II maximum likelihood (ml)",
			"integrate up to 2,000 weights beside those of the levels of a large category, mode above"),
	}
}

// Validate refuses options that make no sense, whatever the model.
func (c Config) Validate() error { return spec.Check("exact", c.Fields()) }

// Engine fits one model.
type Engine struct {
	model      credence.Model
	likelihood likelihood.Gaussian
	prior      prior.Normal
	config     Config

	groups    []problem.Group    // runs of weights with a prior variance of their own
	intercept bool               // weight 0 is the intercept
	tuned     bool               // the features have hyper-parameters to learn, on which columns depend
	apart     bool               // they have some, on which prior deviations of weights depend, and no columns
	levels    bool               // weights of levels are eliminated where there are as many rows as
	rest      int                // other weights; without levels all weights
	crossed   bool               // there are two large keys, and few weights beside
	most      int                // the largest rest that is factored then: beyond there are conjugate gradients
	together  []problem.Together // columns that vary together by level
	odds      []float64          // of their partial correlations, behind the prior variances of groups among the values
	// segment is credence.SegmentRows, but in tests of tables with several segments.
	segment int
}

var _ credence.Engine = (*Engine)(nil)

// New returns the engine for a model with a Gaussian likelihood and a normal
// prior, and refuses any other.
func New(model credence.Model, cfg Config) (*Engine, error) {
	if model.Features == nil {
		return nil, fmt.Errorf("exact: the model has no features")
	}
	e := &Engine{model: model, config: cfg.withDefaults(), segment: credence.SegmentRows, most: problem.FullWeights}
	switch l := model.Likelihood.(type) {
	case likelihood.Gaussian:
		e.likelihood = l
	case nil:
		return nil, fmt.Errorf("exact: the model has no likelihood")
	default:
		return nil, fmt.Errorf("exact: likelihood %T is not Gaussian: choose family gaussian, or engine svi for other families", l)
	}
	var err error
	if e.prior, err = problem.NormalPrior("exact", model.Prior); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := e.likelihood.Validate(); err != nil {
		return nil, err
	}
	if e.groups, err = problem.GroupsTogether("exact", model.Features, e.prior); err != nil {
		return nil, err
	}
	if e.together, e.odds, err = problem.TogetherOf("exact", model.Features, e.groups); err != nil {
		return nil, err
	}
	if p, ok := model.Features.(credence.Proportioned); ok {
		var apart credence.Features
		if apart, e.apart = p.Apart(); e.apart {
			model.Features, e.model.Features = apart, apart
		}
	}
	_, learned := problem.LearnedHypers(model.Features)
	e.tuned = len(learned) > 0 && !e.apart
	if e.rest, e.levels = problem.Rest(model.Features, e.prior); e.config.Hyper == "" {
		e.config.Hyper = param.Integrate
		if e.rest > problem.FullWeights {
			e.config.Hyper = param.Mode
		}
	} else if e.config.Hyper == param.Integrate && e.rest > problem.FullWeights {
		return nil, fmt.Errorf("exact: hyper=integrate is for up to %d weights beside the levels of the largest category, and the model has %d: use hyper=mode, which has the same priors", problem.FullWeights, e.rest)
	}
	e.crossed = problem.Crossed(model.Features, e.prior) && !e.tuned
	e.intercept = len(e.groups) > 0 && e.groups[0].Intercept
	if e.config.Draws > 1 && !e.random() {
		return nil, fmt.Errorf("exact: draws=%d averages over draws of random features with lengthscales to learn, and the model has none: leave draws out", e.config.Draws)
	}
	return e, nil
}

// priors says whether noise and prior variances have priors.
func (e *Engine) priors() bool { return e.config.Hyper != param.MaximumLikelihood }

// random says whether starts differ by their draw, so that an average over several means something.
func (e *Engine) random() bool {
	features, ok := e.model.Features.(ability.Redrawable)
	return ok && features.Random() && e.tuned
}

// Two draws in place of four above manyRows: there random features are more
// by default, their draws more alike, and a climb dear.
const manyRows = 5000

// draws is the number of draws to average over.
func (e *Engine) draws(rows int) int {
	switch {
	case e.config.Draws > 0:
		return e.config.Draws
	case !e.random():
		return 1
	case rows > manyRows:
		return min(2, e.config.Starts)
	}
	return min(4, e.config.Starts)
}
