package sep

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// Engine fits a model to data that can be read again, by passes of a Learner.
type Engine struct {
	model credence.Model
	cfg   Config
	all   bool // passes are stated: all are made
}

// New returns an engine for y ~ Bernoulli(Φ(f)) with a spike-and-slab prior, and
// refuses other models.
func New(model credence.Model, cfg Config) (*Engine, error) {
	if err := Supports(model.Likelihood, model.Prior); err != nil {
		return nil, err
	}
	if model.Features == nil {
		return nil, fmt.Errorf("sep: the model has no features")
	}
	for _, b := range model.Features.Blocks() {
		if b.Kept {
			return nil, fmt.Errorf("sep: it selects among all columns, and %s is not to be selected: use engine ep, gibbs or laplace, or name the columns without keep(…)", b.Name)
		}
	}
	stated := cfg.Passes > 0
	cfg.Passes = cmp.Or(cfg.Passes, mostPasses)
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Prune > 0 || cfg.Features > 0 || cfg.forgets() {
		return nil, fmt.Errorf("sep: prune, features, forget and half_life are for streams: leave them out of a fit")
	}
	return &Engine{model, cfg, stated}, nil
}

// Supports says why the engine cannot fit a likelihood with a prior, nil if it can.
func Supports(family credence.Likelihood, p credence.Prior) error {
	if l, ok := family.(likelihood.Bernoulli); !ok || l.Link != likelihood.Probit {
		return fmt.Errorf("sep: it needs the family bernoulli(link=probit), not %v", family)
	}
	s, ok := p.(prior.SpikeSlab)
	if !ok {
		return fmt.Errorf("sep: it needs the prior spikeslab, not %v", p)
	}
	if s.Spike.State != param.Learned && s.Spike.Value != 0 {
		return fmt.Errorf("sep: prior %v has a spike of variance %v, and this engine has it at 0: leave spike out", p, s.Spike.Value)
	}
	if s.InclusionPrior != [2]float64{} {
		return fmt.Errorf("sep: it learns the inclusion as it goes, without a prior of it: leave inclusion_prior out, or start it by inclusion=~0.1")
	}
	if len(s.Odds) > 0 {
		return fmt.Errorf("sep: it has one prior inclusion for all features, and not odds of each: leave the odds out, or use engine ep, gibbs or laplace")
	}
	return s.Validate()
}

// Fit implements credence.Engine. Rows are visited in an order drawn from the
// seed, because data sorted by their target would mislead the first pass
// (Algorithm 1, line 1): blocks of rows are permuted, and the rows of a block.
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	source, err := problem.Open("sep", e.model, data, problem.Offset|problem.Weight)
	if err != nil {
		return nil, err
	}
	p := e.model.Prior.(prior.SpikeSlab)
	learner, err := NewLearner(e.cfg, Hyper{p.Inclusion, p.Slab})
	if err != nil {
		return nil, err
	}
	c := converter{features: e.model.Features, ws: credence.NewWorkspace(1), rows: source}
	c.number()
	if c.intercept < 0 {
		learner.PinIntercept()
	}
	if e.cfg.KnownCounts {
		if err := c.count(ctx, learner); err != nil {
			return nil, err
		}
	}
	passes, converged, err := e.passes(ctx, learner, &c)
	if err != nil {
		return nil, err
	}
	if c.total == 0 {
		return nil, fmt.Errorf("sep: every row has weight 0: leave the weights out, or correct them")
	}
	status := credence.IterationLimit
	if converged {
		status = credence.Converged
	}
	return e.fitted(learner, &c, status, passes), nil
}

// passes learns the rows as often as is stated, or until a pass moves little. Rows that are all kept are learned
// again from there.
func (e *Engine) passes(ctx context.Context, l *Learner, c *converter) (done int, converged bool, err error) {
	l.early.mostRows, l.early.entries = math.MaxInt, wholeEntries
	most := " at most"
	if e.all {
		most = ""
	}
	tell := func(pass, block, blocks int) {
		if e.cfg.Progress != nil {
			e.cfg.Progress(credence.Progress{Stage: fmt.Sprintf("pass %d of %d%s", pass, e.cfg.Passes, most), Done: block, Total: blocks, Sure: true})
		}
	}
	var before, after []credence.Marginal
	for done < e.cfg.Passes && (e.all || !converged) {
		if done == 1 && l.early.stage == filling && l.replays() {
			more, settled, err := l.replay(e.cfg.Passes-1, e.all, func(pass int) error {
				tell(pass+1, 1, 1)
				return ctx.Err()
			})
			l.early.cut()
			return done + more, settled, err
		}
		if done > 0 {
			l.EndPass()
			before = l.marginals(before[:0])
		}
		if err := e.pass(ctx, l, c, done, tell); err != nil {
			return done, false, err
		}
		l.endBatch()
		l.Refresh()
		after = l.marginals(after[:0])
		done++
		converged = done >= fewestPasses && still(before, after, settled)
	}
	return done, converged, nil
}

// pass learns every row once.
func (e *Engine) pass(ctx context.Context, l *Learner, c *converter, pass int, tell func(pass, block, blocks int)) error {
	var probability []float64
	rng := credence.Rand(e.cfg.Seed, credence.SEPOrder, uint64(pass))
	for i, block := range rng.Perm(c.rows.Blocks()) {
		if err := c.read(ctx, block, rng); err != nil {
			return err
		}
		if pass == 0 {
			c.addTargets()
		}
		probability = append(probability[:0], make([]float64, c.batch.Sparse.Rows)...)
		if refused := l.Learn(&c.batch, probability); refused != nil {
			return fmt.Errorf("sep: row %d: its values, weight or offset are too large to learn from: scale the columns, or correct the row", block*credence.BlockRows+c.order[refused[0]]+1)
		}
		tell(pass+1, i+1, c.rows.Blocks())
	}
	return nil
}

// settled is how far the last pass over rows that are not kept may have moved the weights of a fit
// that has converged. The order of rows alone moves those of dense inputs by 0.1 to 0.3 from
// pass to pass, because the average factors weigh late rows more.
const settled = 0.3

// fewestPasses leave less than a hundredth of the first pass's factors.
const fewestPasses = 5

// pinned is the precision of a bias that the model does not have.
const pinned = 1e30

// fitted returns the result.
func (e *Engine) fitted(l *Learner, c *converter, status credence.Status, passes int) *credence.Fitted {
	d := e.model.Features.Weights()
	q := &posterior.SpikeSlab{Mean: make([]float64, d), Variance: make([]float64, d), Probability: make([]float64, d)}
	for j, w := range c.weights(nil, l) {
		q.Mean[j], q.Variance[j], q.Probability[j] = w.Mean, w.Variance, w.Inclusion
	}
	model := e.model
	learned, hyper := l.learned(model.Prior.(prior.SpikeSlab))
	model.Prior = learned
	rate := c.positive / c.total
	out := &credence.Fitted{Members: []credence.Member{{Model: model, Posterior: q}}, TargetMean: rate, TargetVariance: rate * (1 - rate), Report: c.rows.Report()}
	out.Report.Status, out.Report.Iterations, out.Report.Hyper = status, passes, hyper
	out.Report.WeightCoverage, out.Report.Warnings = l.cover(), l.warnings()
	return out
}
