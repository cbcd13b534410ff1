package convex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Config holds the options of the engine. The zero value is the default.
type Config struct {
	// Variances is "exact", "lanczos", "sample", "xdiag" or "combined"; "" and "auto" are exact up to 4,000 weights or
	// rows, whichever are fewer, and sampled above.
	Variances Variances `json:"variances,omitempty"`
	// Hyper says what is done about variances, scales and noise where they are learned: "integrate",
	// over their priors, "mode", at the mode under these, or "ml", without priors. "" is integrate where variances are
	// exact and weights at most [problem.FullWeights], and else mode. Under "heldout" the prior variances are those of
	// Start.
	Hyper param.Treatment `json:"hyper,omitempty"`
	// Steps limits the outer loops; 0 means 100 where variances are exact, and else 5.
	Steps int `json:"steps,omitempty"`
	// Tolerance is the relative change of φ at which they end; 0 means 1e-9.
	Tolerance float64 `json:"tolerance,omitempty"`
	// K is the number of Lanczos steps, of draws, or of vectors of xdiag; 0 means 80, 100 or 50.
	K        int                     `json:"k,omitempty"`
	Seed     uint64                  `json:"seed,omitempty"`
	Threads  int                     `json:"-"` // below 1 every processor; results do not depend on it
	Progress func(credence.Progress) `json:"-"` // called after every outer loop, on the caller's goroutine
	// Start is a fit of a model of the same features, to other rows, whose means and variances the
	// loops go on from: one step is then often enough. What is learned beside weights starts afresh, and how much too
	// narrow standard deviations are is not worked out again.
	Start *credence.Fitted `json:"-"`
}

// mostVectors is the largest number of Lanczos steps, draws or vectors that may be asked for.
const mostVectors = 10_000

// Fields are the options as texts name them.
func (c *Config) Fields() []spec.Field {
	return []spec.Field{
		spec.Word("variances", &c.Variances, []Variances{Auto, Exact, LanczosMethod, Sampled, XDiag, Combined},
			"how the variances of the bound are found; all but exact need products with the columns alone", "exact up to 4,000 rows or weights, sample above"),
		spec.Word("hyper", &c.Hyper, []param.Treatment{param.Integrate, param.Mode, param.Heldout, param.MaximumLikelihood},
			"what becomes of noise and prior variances that are not stated: averaged over, at their most probable values, prior variances by the log loss of rows that are left out by engine svi (heldout), or those of type-II maximum likelihood (ml)",
			"integrate where variances are exact up to 2,000 weights; heldout above, for classes under a normal prior; else mode"),
		spec.Int("steps", &c.Steps, spec.Between(1, problem.MostRepeats), "most outer loops", "100 with exact variances, else 5"),
		spec.Float("tolerance", &c.Tolerance, spec.Positive(), "relative change of the variances at which the loops end", "1e-9"),
		spec.Int("k", &c.K, spec.Between(1, mostVectors), "Lanczos steps, draws of sample, or vectors of xdiag", "80, 100 or 50"),
	}
}

// Validate refuses options that make no sense.
func (c Config) Validate() error {
	if err := spec.Check("convex", c.Fields()); err != nil {
		return err
	}
	if c.Hyper == param.Integrate && !c.mayBeExact() {
		return fmt.Errorf("convex: hyper=integrate needs exact variances: leave variances=%s out, or use hyper=mode", c.Variances)
	}
	return nil
}

// mayBeExact says whether variances are exact where weights are few.
func (c Config) mayBeExact() bool {
	return c.Variances == "" || c.Variances == Auto || c.Variances == Exact
}

// treatment of what is learned.
func (e *Engine) treatment() param.Treatment {
	switch {
	case e.config.Hyper != "":
		return e.config.Hyper
	case e.config.mayBeExact() && e.model.Features.Weights() <= problem.FullWeights:
		return param.Integrate
	}
	return param.Mode
}

// Engine fits one model.
type Engine struct {
	model  credence.Model
	config Config
	groups []problem.Group
}

var _ credence.Engine = (*Engine)(nil)

// Supports says why the pair cannot be fitted, nil if it can.
func Supports(l credence.Likelihood, p credence.Prior) error {
	switch l := l.(type) {
	case likelihood.Gaussian:
	case likelihood.Bernoulli:
		if cmp.Or(l.Link, likelihood.Logit) != likelihood.Logit {
			return fmt.Errorf("convex: of bernoulli it needs the link logit, not %v", l.Link)
		}
	default:
		return fmt.Errorf("convex: it needs the family gaussian or bernoulli, not %v", l)
	}
	if heavy, ok := tailsOf(p); ok {
		return heavy.Validate()
	}
	if p, ok := p.(prior.Normal); ok {
		if p.ARD {
			return fmt.Errorf("convex: it has no variance for each weight: leave ard=true out")
		}
		return p.Validate()
	}
	var able []string
	for _, e := range prior.All() {
		_, normal := e.Zero.(prior.Normal)
		if _, heavy := tailsOf(e.Zero); normal || heavy {
			able = append(able, e.Zero.Name())
		}
	}
	return fmt.Errorf("convex: it needs the prior %s, not %v", strings.Join(able, " or "), p)
}

// New returns the engine for a model, and refuses one that it does not fit; see [Supports].
func New(model credence.Model, cfg Config) (*Engine, error) {
	if model.Features == nil {
		return nil, fmt.Errorf("convex: the model has no features")
	}
	if err := Supports(model.Likelihood, model.Prior); err != nil {
		return nil, err
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if d := model.Features.Weights(); cfg.Hyper == param.Integrate && d > problem.FullWeights {
		return nil, fmt.Errorf("convex: hyper=integrate is for up to %d weights, and the model has %d: use hyper=mode", problem.FullWeights, d)
	}
	normal, _ := model.Prior.(prior.Normal)
	groups, err := problem.Groups("convex", model.Features, normal)
	if err != nil {
		return nil, err
	}
	if tunable, learned := problem.LearnedHypers(model.Features); len(learned) > 0 {
		return nil, fmt.Errorf("convex: %s is a hyper-parameter to learn, and this engine learns none: state it, as in rbf(x, lengthscale=1), or use engine exact or svi", tunable.Hyper()[learned[0]].Name)
	}
	if _, ok := model.Prior.(prior.Normal); cfg.Hyper == param.Heldout && (cfg.Start == nil || !ok) {
		return nil, fmt.Errorf("convex: hyper=heldout takes the variances of a normal prior from a fit of engine svi: give it as the start")
	}
	if start := cfg.Start; start != nil && (len(start.Members) == 0 || start.Members[0].Posterior.Weights() != model.Features.Weights()) {
		return nil, fmt.Errorf("convex: a start is a fit with the %d weights of the model", model.Features.Weights())
	}
	return &Engine{model, cfg, groups}, nil
}
