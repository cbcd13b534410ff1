package svi

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/param"
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
	// deterministic steps stop; 0 means 1e-4, and 1e-3 where a pass over the rows takes more than
	// 1e8 operations with full covariance, and where rows are left out; and then a fit whose last
	// iteration gained less than 1e-6 nats has converged wherever it stops. Minibatches stop when the
	// smoothed bound gains less than Tolerance nats a weight in two epochs; there 0 means 0.01.
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

// Validate refuses options that make no sense, or not together, whatever the model.
func (c Config) Validate() error {
	if err := c.validate(); err != nil {
		return fmt.Errorf("%s: %w", c.name(), err)
	}
	return nil
}

func (c Config) validate() error {
	for _, field := range []struct {
		name  string
		value int
	}{
		{"components", c.Components}, {"starts", c.Starts}, {"max_iterations", c.MaxIterations},
		{"batch", c.Batch}, {"samples", c.Samples}, {"epochs", c.Epochs},
		{"screen_rows", c.ScreenRows}, {"polish_rows", c.PolishRows},
	} {
		if field.value < 0 {
			return fmt.Errorf("%s=%d is negative: state a positive number, or leave it out", field.name, field.value)
		}
	}
	for _, field := range []struct {
		name  string
		value float64
	}{{"tolerance", c.Tolerance}, {"rate", c.Rate}} {
		if !(field.value >= 0) || math.IsInf(field.value, 1) {
			return fmt.Errorf("%s=%v is not a positive number: state one, or leave it out", field.name, field.value)
		}
	}
	if c.Samples%2 != 0 {
		return fmt.Errorf("samples=%d is odd: draws come in pairs ±ε; state an even number", c.Samples)
	}
	for _, choice := range []struct {
		name, value string
		from        []string
	}{
		{"covariance", string(c.Covariance), []string{string(Diagonal), string(Full)}},
		{"approximation", string(c.Approximation), []string{string(Variational), string(Laplace)}},
		{"estimator", string(c.Estimator), []string{string(Marginal), string(Sample)}},
		{"optimiser", string(c.Optimiser), []string{string(Adam), string(AdaGrad), string(AdaDelta), string(Momentum), string(SGD)}},
	} {
		if choice.value != "" && !slices.Contains(choice.from, choice.value) {
			return fmt.Errorf("there is no %s=%s: choose %s", choice.name, choice.value, strings.Join(choice.from, ", "))
		}
	}
	if err := c.Hyper.Validate(param.Heldout); err != nil {
		return err
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
