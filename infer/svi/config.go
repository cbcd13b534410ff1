package svi

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Covariance is the form of every component's covariance.
type Covariance string

// The covariances. Diagonal is the form of the revrand report, with any number
// of components; Full is one component with all correlations, of which levels of a category of many have those that
// rows ask for (package internal/arrow).
const (
	Diagonal Covariance = "diagonal"
	Full     Covariance = "full"
)

// Approximation is how the posterior of the weights at given hyper-parameters is made normal.
type Approximation string

// The approximations. Laplace has the mode for its mean and the inverse of the curvature there for its
// covariance, which is the expansion of every row to second order about its mean.
const (
	Variational Approximation = "variational" // the normal distribution of the largest bound
	Laplace     Approximation = "laplace"
)

// Estimator is how expectations under a component are taken in minibatches.
type Estimator string

// The estimators. Marginal uses that f = φᵀw is normal under each component and
// integrates over it; Sample draws w (revrand report, eqs. 25–26), in antithetic
// pairs.
const (
	Marginal Estimator = "marginal"
	Sample   Estimator = "sample"
)

// Optimiser names a rule for stochastic steps.
type Optimiser string

// The optimisers.
const (
	Adam     = Optimiser(mixture.Adam)
	AdaGrad  = Optimiser(mixture.AdaGrad)
	AdaDelta = Optimiser(mixture.AdaDelta)
	Momentum = Optimiser(mixture.Momentum)
	SGD      = Optimiser(mixture.SGD)
)

// Config says how to fit. It is plain data; the zero value is the default: one
// component with diagonal covariance, fitted to all rows by deterministic steps.
// Any of Batch, Optimiser, Estimator, Samples, Rate and Epochs asks for minibatches.
type Config struct {
	// Covariance is "diagonal" (the default) or "full".
	Covariance Covariance `json:"covariance,omitempty"`
	// Approximation is Variational (the default) or Laplace, which needs a full covariance and has it
	// where none is stated. Its fits start from the variational one; the evidence that it has at the
	// mode of the weights, as a function of the hyper-parameters, takes the place of the bound.
	Approximation Approximation `json:"approximation,omitempty"`
	// Components is the number K of components, which weigh equally; 0 means 1.
	Components int `json:"components,omitempty"`
	// Starts is the number of random starts, of which the best bound is kept; 0
	// means 1, 2 for several components, where more than one optimum is common, and 4 for
	// hyper-parameters of features on fewer than 400 rows, 2 on more where they are of functions of one or two columns.
	Starts int `json:"starts,omitempty"`

	// MaxIterations limits deterministic iterations; 0 means 100 with full covariance, where one
	// is a variational Newton step, and 2,000 otherwise.
	MaxIterations int `json:"max_iterations,omitempty"`
	// Tolerance is the distance from the optimum, in posterior standard deviations, at which
	// deterministic steps stop; 0 means 1e-4, 1e-2 where a pass over the rows takes more than
	// 1e8 operations with full covariance, and where rows are left out 1e-2, 1e-3 of up to 2,000;
	// and then a fit whose last iteration gained less than 1e-6 nats has converged wherever it stops. Minibatches stop
	// when the smoothed bound gains less than Tolerance nats a weight in two epochs; there 0 means 0.01.
	Tolerance float64 `json:"tolerance,omitempty"`

	// Batch is the number of rows of a minibatch; 0 means 512.
	Batch int `json:"batch,omitempty"`
	// Optimiser is the rule of stochastic steps; empty means Adam.
	Optimiser Optimiser `json:"optimiser,omitempty"`
	// Rate is the first step, in units of a weight's approximate posterior standard deviation; 0 means
	// the optimiser's own (see Optimiser).
	Rate float64 `json:"rate,omitempty"`
	// Estimator is "marginal" (the default) or "sample".
	Estimator Estimator `json:"estimator,omitempty"`
	// Samples is the number of draws a component of the estimator "sample", an even number; 0 means 10.
	Samples int `json:"samples,omitempty"`
	// Epochs limits the passes over the rows in minibatches; 0 means 50.
	Epochs int `json:"epochs,omitempty"`

	// Hyper says what is done about prior variances and parameters of the likelihood that are not
	// stated: they are integrated under their priors, taken at the mode, or at the type-II maximum
	// likelihood; or prior variances are those under which rows that are left out have the least log loss, averaged
	// over those that these do not tell apart, which is for one component of independent weights on all rows. Empty
	// means integrate with a full covariance of up to problem.FullWeights weights, heldout where [HeldOut] says so, and
	// else mode: independent weights, minibatches and draws cannot integrate.
	Hyper param.Treatment `json:"hyper,omitempty"`

	// Start is a fit of a model with the same weights to other rows under Heldout, whose prior variances, shares of the
	// weights' variances and weights of members are kept.
	Start *credence.Fitted `json:"-"`

	// ScreenRows is the largest number of evenly spread rows on which
	// hyper-parameters of features are first learned; 0 means 1,000.
	ScreenRows int `json:"screen_rows,omitempty"`
	// PolishRows is the largest number on which they are then polished; 0 means 4,000, and those of functions of one or
	// two columns as many rows as 1e9 operations take, squares of the number of weights, if that is more.
	PolishRows int `json:"polish_rows,omitempty"`
	// Diagnostics is the number of weights drawn from the posterior for Pareto-k̂;
	// 0 means 200 to 1,000 by the number of rows, below 0 none.
	Diagnostics int `json:"diagnostics,omitempty"`

	// Checkpoint is the path of a file that is replaced every Newton iteration,
	// round of 50 quasi-Newton iterations, or epoch. A fit
	// that finds it goes on from there, to the same bytes. Empty means none.
	Checkpoint string `json:"-"`

	Seed uint64 `json:"seed,omitempty"`
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads  int                     `json:"-"`
	Progress func(credence.Progress) `json:"-"` // called between iterations, on the caller's goroutine
}

// Depth is the number of earlier steps of which a fit of d weights with full covariance keeps two d×d matrices each.
func Depth(d int) int { return newton.Depth(d) }

// stochastic says whether minibatches were asked for.
func (c *Config) stochastic() bool {
	return c.Batch != 0 || c.Optimiser != "" || c.Estimator != "" || c.Samples != 0 || c.Rate != 0 || c.Epochs != 0
}

// independent says whether the posterior is one component of independent weights, fitted to all rows.
func (c *Config) independent() bool {
	return c.Covariance != Full && c.Components <= 1 && !c.stochastic()
}

// name is that of the engine in reports and errors.
func (c *Config) name() string {
	if c.Approximation == Laplace {
		return "laplace"
	}
	return "svi"
}

func (c Config) withDefaults() Config {
	c.Covariance = cmp.Or(c.Covariance, Diagonal)
	c.Components = cmp.Or(c.Components, 1)
	c.Starts = cmp.Or(c.Starts, min(2, c.Components))
	if c.Covariance == Full {
		c.MaxIterations = cmp.Or(c.MaxIterations, 100)
	}
	c.MaxIterations = cmp.Or(c.MaxIterations, 2000)
	c.ScreenRows, c.PolishRows = cmp.Or(c.ScreenRows, 1000), cmp.Or(c.PolishRows, 4000)
	if c.stochastic() {
		c.Batch, c.Samples, c.Epochs = cmp.Or(c.Batch, 512), cmp.Or(c.Samples, 10), cmp.Or(c.Epochs, 50)
		c.Optimiser, c.Estimator = cmp.Or(c.Optimiser, Adam), cmp.Or(c.Estimator, Marginal)
		c.Rate = cmp.Or(c.Rate, mixture.Rule(c.Optimiser).DefaultRate())
	}
	return c
}

// minibatches are the options of minibatches, nil where none were asked for.
func (c *Config) minibatches() *mixture.Minibatches {
	if !c.stochastic() {
		return nil
	}
	options := &mixture.Minibatches{
		Batch: c.Batch, Rule: mixture.Rule(c.Optimiser), Rate: c.Rate, Epochs: c.Epochs, Tolerance: cmp.Or(c.Tolerance, 0.01),
	}
	if c.Estimator == Sample {
		options.Samples = c.Samples
	}
	return options
}

// Fields are the options as texts name them: those of the Laplace approximation are few.
func (c *Config) Fields() []spec.Field {
	if c.Approximation == Laplace {
		return []spec.Field{
			spec.Int("iterations", &c.MaxIterations, spec.AtLeast(1), "most iterations of a search", "100; 500 under spikeslab"),
			spec.Float("tolerance", &c.Tolerance, spec.Positive(),
				"distance from the mode, in standard deviations of the weights, or fall of the objective under spikeslab, at which a search ends", "1e-4; 1e-6 under spikeslab"),
			spec.Word("hyper", &c.Hyper, []param.Treatment{param.Integrate, param.Mode, param.MaximumLikelihood},
				"what becomes of prior variances and parameters of the family that are not stated: averaged over, at their most probable values, or those of type-II maximum likelihood (ml)",
				"integrate up to 2,000 weights beside those of the levels of a large category, else mode"),
			spec.IntOrNone("diagnostics", &c.Diagnostics, spec.Between(0, problem.MostDraws),
				"draws of the weights for the approximation check under a normal prior; 0 leaves it out", "200 to 1,000 by the number of rows"),
		}
	}
	return []spec.Field{
		spec.Word("covariance", &c.Covariance, []Covariance{Diagonal, Full},
			"of the posterior: between every two weights, or none", "diagonal; auto states full up to 2,000 weights beside those of the levels of a large category"),
		spec.Int("components", &c.Components, spec.AtLeast(1), "normal distributions that the posterior is a mixture of", "1"),
		spec.Int("starts", &c.Starts, spec.Between(1, problem.MostRepeats),
			"random starts, of which the best bound is kept", "1; 2 with components, 4 for lengthscales on fewer than 400 rows"),
		spec.Int("batch", &c.Batch, spec.AtLeast(1), "rows of a minibatch; stating it learns from minibatches in place of all rows", "512"),
		spec.Word("optimiser", &c.Optimiser, []Optimiser{Adam, AdaGrad, AdaDelta, Momentum, SGD}, "the rule of steps from minibatches", "adam"),
		spec.Word("estimator", &c.Estimator, []Estimator{Marginal, Sample},
			"how the bound is estimated from minibatches: by quadrature of f, or by draws of the weights", "marginal"),
		spec.Int("samples", &c.Samples, spec.Between(2, problem.MostDraws), "draws a component of estimator=sample, an even number", "10"),
		spec.Float("rate", &c.Rate, spec.Positive(), "first step from minibatches, in standard deviations of a weight", "the optimiser's own"),
		spec.Int("epochs", &c.Epochs, spec.AtLeast(1), "most passes over the rows in minibatches", "50"),
		spec.Int("iterations", &c.MaxIterations, spec.AtLeast(1), "most iterations with all rows", "100 with full covariance, 2,000 with diagonal"),
		spec.Float("tolerance", &c.Tolerance, spec.Positive(),
			"distance from the optimum, in standard deviations of the weights, at which a fit ends", "1e-4; .01 of large fits, .01 or 1e-3 where rows are left out, .01 nat a weight in minibatches"),
		spec.Int("screen", &c.ScreenRows, spec.AtLeast(1), "rows on which lengthscales are first learned", "1,000"),
		spec.Int("polish", &c.PolishRows, spec.AtLeast(1), "rows on which lengthscales are then polished", "4,000"),
		spec.Word("hyper", &c.Hyper, []param.Treatment{param.Integrate, param.Mode, param.Heldout, param.MaximumLikelihood},
			"what becomes of prior variances and parameters of the family that are not stated: averaged over, at their most probable values, prior variances by the log loss of rows that are left out (heldout), or those of type-II maximum likelihood (ml)",
			"integrate with full covariance up to 2,000 weights beside those of the levels of a large category; heldout above, for classes and counts; else mode"),
		spec.IntOrNone("diagnostics", &c.Diagnostics, spec.Between(0, problem.MostDraws),
			"draws of the weights for the approximation check; 0 leaves it out", "200 to 1,000 by the number of rows"),
	}
}

// Validate refuses options that make no sense, or not together, whatever the model.
func (c Config) Validate() error {
	approximation, plain := spec.Word("approximation", &c.Approximation, []Approximation{Variational, Laplace}, "", ""), c
	plain.Approximation = ""
	if err := spec.Check(c.name(), append(plain.Fields(), approximation)); err != nil {
		return err
	}
	if err := c.agree(); err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	return nil
}

// agree refuses options that do not go together.
func (c Config) agree() error {
	if c.Samples%2 != 0 {
		return fmt.Errorf("samples=%d is odd: draws come in pairs ±ε; state an even number", c.Samples)
	}
	if c.Start != nil && c.Hyper != param.Heldout {
		return fmt.Errorf("a start has the prior variances of hyper=heldout: state that, or leave it out")
	}
	if c.Hyper == param.Heldout && (!c.independent() || c.Approximation == Laplace) {
		return fmt.Errorf("hyper=heldout is for one component of independent weights on all rows: leave covariance, components and the options of minibatches out, or state hyper=mode")
	}
	if c.Approximation == Laplace {
		if c.Covariance != "" && c.Covariance != Full {
			return fmt.Errorf("approximation=laplace has the curvature at the mode for its precision: leave covariance=%s out", c.Covariance)
		}
		c.Covariance = Full
	}
	if c.Hyper == param.Integrate && c.Covariance != Full {
		return fmt.Errorf("hyper=integrate needs the covariances of weights: state covariance=full, or hyper=mode")
	}
	if c.Covariance == Full {
		if c.Components > 1 {
			return fmt.Errorf("components=%d with covariance=%s: a mixture has diagonal components; leave one of the two out", c.Components, c.Covariance)
		}
		if c.stochastic() {
			return fmt.Errorf("covariance=%s takes deterministic steps over all rows: leave out batch, optimiser, rate, estimator, samples and epochs, or state covariance=diagonal", c.Covariance)
		}
	}
	return nil
}
