package sep

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Config holds the options of the engine. The zero value is the default.
type Config struct {
	// Batch is the number of rows of a mini-batch of Algorithm 1 (the report's M);
	// 0 means the sequential form.
	Batch int `json:"batch,omitempty"`
	// PriorEvery is the number of mini-batches between updates of the prior
	// factors (the report's T); 0 means 15. The sequential form has a schedule of its own.
	PriorEvery int `json:"prior_every,omitempty"`
	// Passes over the data, all of which are made; 0 means 1, and in Fit as many as it takes, 200 at most.
	Passes int `json:"passes,omitempty"`
	// PositiveWeight and NegativeWeight multiply the weights of the rows of a
	// class, as the appearance counts n⁺ and n⁻ do in the report; 0 means 1.
	PositiveWeight float64 `json:"positive_weight,omitempty"`
	NegativeWeight float64 `json:"negative_weight,omitempty"`
	// KnownCounts counts the appearances of every feature in a pass of its own
	// before learning, where data can be read again. A first pass with known
	// counts leaves 1−1/e of the likelihood in q, with running counts all of it.
	KnownCounts bool `json:"known_counts,omitempty"`
	// Forget is the number of rows after which the evidence of a row counts half,
	// for drifting data; 0 means never. The prior is not forgotten.
	Forget float64 `json:"forget,omitempty"`
	// HalfLife is the time after which the evidence of a row counts half, in the unit of [credence.Batch.Time],
	// which rows must then have; 0 means never. A row of a time before that of the row ahead of it is learned
	// as if it had come with that, and counted.
	HalfLife float64 `json:"half_life,omitempty"`
	// Prune is the inclusion probability below which a feature is dropped at the
	// end of every PruneEvery rows, once it has occurred PruneAfter times; 0 means none is.
	Prune float64 `json:"prune,omitempty"`
	// Features is how many features are kept at most, so that memory is bounded where ever new ones come: at
	// the end of every CrowdEvery rows that leave more, those that have occurred least are dropped, down to
	// three quarters; Prune acts then, too. 0 means no limit.
	Features int `json:"features,omitempty"`
	// Seed of the order in which Fit visits rows; a stream has its own.
	Seed uint64 `json:"seed,omitempty"`
	// Progress is called between blocks of rows of Fit, on the caller's goroutine.
	Progress func(credence.Progress) `json:"-"`
}

// Limits and steps that are part of what is learned.
const (
	PruneEvery = 1 << 20 // rows
	PruneAfter = 100     // occurrences
	CrowdEvery = 1 << 16 // rows
)

// biasVariance is that of the prior of the bias: N(0, 10²).
const biasVariance = 100

func (c Config) withDefaults() Config {
	c.PriorEvery, c.Passes = cmp.Or(c.PriorEvery, 15), cmp.Or(c.Passes, 1)
	c.PositiveWeight, c.NegativeWeight = cmp.Or(c.PositiveWeight, 1), cmp.Or(c.NegativeWeight, 1)
	return c
}

// Fields are the options as texts name them, of tables and of streams.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Int("batch", &c.Batch, spec.AtLeast(1), "rows of a minibatch", "row by row"),
		spec.Int("prior_every", &c.PriorEvery, spec.AtLeast(1), "minibatches between updates of the prior", "15"),
		spec.Int("passes", &c.Passes, spec.Between(1, problem.MostPasses),
			"passes over the data; those stated are all made", "1 in stream; in fit until inclusions settle, 200 at most"),
		spec.Float("positive_weight", &c.PositiveWeight, spec.Positive(), "what a row of the positive class counts", "1"),
		spec.Float("negative_weight", &c.NegativeWeight, spec.Positive(), "what a row of the other class counts", "1"),
	}
}

// TableFields are those that a fit of a table has beside [Config.Fields].
func (c *Config) TableFields() []spec.Field {
	return []spec.Field{spec.Bool("known_counts", &c.KnownCounts, "count the appearances of every feature in a pass before learning")}
}

// StreamFields are those that learning online has beside [Config.Fields].
func (c *Config) StreamFields() []spec.Field {
	return []spec.Field{
		spec.Float("forget", &c.Forget, spec.AtLeast(1), "rows after which a row counts half", "never"),
		spec.Float("half_life", &c.HalfLife, spec.Positive(), "time after which a row counts half, in the unit of --time", "never"),
		spec.Float("prune", &c.Prune, spec.Within(0, 0.5),
			"inclusion below which a feature that came 100 times is dropped, every 1,048,576 rows", "none is"),
		spec.Int("features", &c.Features, spec.AtLeast(1), "most features that are kept, those met most often", "no limit"),
	}
}

// Validate refuses options that make no sense.
func (c Config) Validate() error {
	if err := spec.Check("sep", append(c.Fields(), c.StreamFields()...)); err != nil {
		return err
	}
	if c.Batch > 0 && (c.Prune > 0 || c.Features > 0) {
		return fmt.Errorf("sep: prune and features go with the sequential form: leave batch out")
	}
	if c.HalfLife > 0 && (c.Forget > 0 || c.Passes > 1) {
		return fmt.Errorf("sep: half_life goes with neither forget nor passes, for time passes once: leave them out")
	}
	if c.KnownCounts && c.forgets() {
		return fmt.Errorf("sep: known_counts and forgetting exclude each other: leave out one")
	}
	return nil
}

// forgets says whether the evidence of a row counts less as others come.
func (c Config) forgets() bool { return c.Forget > 0 || c.HalfLife > 0 }

// Hyper are the prior's parameters: stated ones are held, others learned.
type Hyper struct {
	Inclusion param.Parameter // ρ0
	Slab      param.Parameter // τ0, a variance
}

// Where learning starts, and the weak normal priors on the unconstrained scale
// that keep it from running away where data say next to nothing. They weigh as
// much as one feature each. What is learned stays within bounds, and a fit that
// ends on one says so.
const (
	startInclusion   = 0.2
	startSlab        = 0.07
	logitScale       = 2 // of logit ρ0
	logSlabScale     = 2 // of log τ0
	largestInclusion = 0.99
	smallestLogit    = -20 // of ρ0
	largestLogSlab   = 25  // of log τ0, either way
)
