package penalised

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Rule says which λ cross-validation chooses.
type Rule string

// Rules.
const (
	Least       Rule = "min"    // the one of least loss
	OneStandard Rule = "one_se" // the largest whose loss is within one standard error of the least
)

// Config holds the options of the engines. The zero value is ridge regression.
type Config struct {
	// Name is that of the engine, for reports and errors; empty means penalised.
	Name string `json:"-"`
	// Alpha is the share of the absolute values in the penalty: 1 is the lasso, 0 ridge regression.
	Alpha float64 `json:"alpha,omitempty"`
	// Cap is where the penalty of a weight ends, in units of its threshold λW/h. 0 means no end. It
	// goes with Alpha 1.
	Cap float64 `json:"cap,omitempty"`
	// Lambda is λ, which has the unit of a normal target; 0 means cross-validated.
	Lambda float64 `json:"lambda,omitempty"`
	// Rule chooses λ; empty means Least.
	Rule Rule `json:"rule,omitempty"`
	// Folds is their number; 0 means 10, and the number of rows where it is less.
	Folds int `json:"folds,omitempty"`
	// Points is the number of λ on the path; 0 means 100.
	Points int    `json:"points,omitempty"`
	Seed   uint64 `json:"seed,omitempty"` // of the folds
	// Threads is the number of threads, below 1 every processor. Results do not depend on it.
	Threads int `json:"-"`
	// called when the path and when the folds are done, on the caller's goroutine
	Progress func(credence.Progress) `json:"-"`
}

// Limits of what may be asked for.
const (
	MostFolds  = 1000
	MostPoints = 10_000
)

// Fields are the options as texts name them: alpha is one of elasticnet, cap one of cappedl1.
func (c *Config) Fields() []spec.Field {
	fields := []spec.Field{
		spec.Float("lambda", &c.Lambda, spec.Positive(), "the penalty", "by cross-validation"),
		spec.Word("rule", &c.Rule, []Rule{Least, OneStandard},
			"the penalty of the least error of rows left out, or the largest within one standard error of it", "min"),
		spec.Int("folds", &c.Folds, spec.Between(2, MostFolds), "folds of the cross-validation", "10, or the rows where they are fewer"),
		spec.Int("points", &c.Points, spec.Between(2, MostPoints), "penalties that are tried", "100"),
	}
	switch c.Name {
	case "elasticnet":
		fields = append(fields, spec.Float("alpha", &c.Alpha, spec.Fraction(), "1 is the lasso, towards 0 ridge regression", ""))
	case "cappedl1":
		fields = append(fields, spec.Float("cap", &c.Cap, spec.Positive(), "where the penalty of a weight ends, in units of its threshold", ""))
	}
	return fields
}

// Validate refuses options that make no sense.
func (c Config) Validate() error {
	name := cmp.Or(c.Name, "penalised")
	switch {
	case !(c.Alpha >= 0 && c.Alpha <= 1):
		return fmt.Errorf("%s: alpha=%v is not between 0 and 1", name, c.Alpha)
	case !(c.Cap >= 0) || c.Cap > 0 && c.Alpha != 1:
		return fmt.Errorf("%s: cap=%v must be positive, and goes with alpha=1", name, c.Cap)
	}
	return spec.Check(name, c.Fields())
}

// Engine fits one model.
type Engine struct {
	model  credence.Model
	config Config
}

var _ credence.Engine = (*Engine)(nil)

// Supports says why the pair cannot be fitted, nil if it can. name stands before errors.
func Supports(name string, l credence.Likelihood, p credence.Prior) error {
	switch l := l.(type) {
	case likelihood.Gaussian:
	case likelihood.Bernoulli:
		if l.Link != "" && l.Link != likelihood.Logit {
			return fmt.Errorf("%s: it needs the link logit, not %v", name, l.Link)
		}
	default:
		return fmt.Errorf("%s: it needs the family gaussian or bernoulli, not %v", name, l)
	}
	if n, ok := p.(prior.Normal); !ok || n.ARD || n.Variance != (prior.Normal{}.Variance) {
		return fmt.Errorf("%s: it has a penalty in place of the prior %v: leave --prior out", name, p)
	}
	return nil
}

// New returns the engine for a model, and refuses one that it does not fit; see [Supports].
func New(model credence.Model, cfg Config) (*Engine, error) {
	cfg.Name = cmp.Or(cfg.Name, "penalised")
	supports := func(l credence.Likelihood, p credence.Prior) error { return Supports(cfg.Name, l, p) }
	if err := candidates.Check(model, cfg.Name, supports, cfg.Validate()); err != nil {
		return nil, err
	}
	cfg.Rule, cfg.Folds, cfg.Points = cmp.Or(cfg.Rule, Least), cmp.Or(cfg.Folds, 10), cmp.Or(cfg.Points, 100)
	return &Engine{model, cfg}, nil
}
