package sep

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fitPasses is the number of passes of Fit where none is stated: less than a
// hundredth of the first pass's factors is left behind five.
const fitPasses = 5

// Engine fits a model to data that can be read again, by passes of a Learner.
type Engine struct {
	model credence.Model
	cfg   Config
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
	if cfg.Passes == 0 {
		cfg.Passes = fitPasses
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Shards > 1 || cfg.Prune > 0 || cfg.Forget > 0 {
		return nil, fmt.Errorf("sep: shards, prune and forget are for streams: leave them out of a fit")
	}
	return &Engine{model, cfg}, nil
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
	if s.Spike.State != credence.Learned && s.Spike.Value != 0 {
		return fmt.Errorf("sep: prior %v has a spike of variance %v, and this engine has it at 0: leave spike out", p, s.Spike.Value)
	}
	return s.Validate()
}

// Fit implements credence.Engine. Rows are visited in an order drawn from the
// seed, because data sorted by their target would mislead the first pass
// (Algorithm 1, line 1): blocks of rows are permuted, and the rows of a block.
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	p := e.model.Prior.(prior.SpikeSlab)
	learner, err := NewLearner(e.cfg, Hyper{p.Inclusion, p.Slab})
	if err != nil {
		return nil, err
	}
	c := converter{features: e.model.Features, ws: credence.NewWorkspace(1), data: data}
	c.number()
	if c.intercept < 0 {
		learner.bias.priorLambda = pinned
	}
	if e.cfg.KnownCounts {
		if err := c.count(learner); err != nil {
			return nil, err
		}
	}
	var probability []float64
	for pass := range e.cfg.Passes {
		if pass > 0 {
			learner.EndPass()
		}
		rng := credence.Stream(e.cfg.Seed, "sep", uint64(pass))
		for i, block := range rng.Perm(c.blocks()) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := c.read(block, rng); err != nil {
				return nil, err
			}
			probability = append(probability[:0], make([]float64, c.batch.Sparse.Rows)...)
			learner.Learn(&c.batch, probability)
			if e.cfg.Progress != nil {
				e.cfg.Progress(credence.Progress{Stage: fmt.Sprintf("pass %d of %d", pass+1, e.cfg.Passes), Done: i + 1, Total: c.blocks()})
			}
		}
	}
	learner.Finish()
	return e.fitted(learner, &c), nil
}

// pinned is the precision of a bias that the model does not have.
const pinned = 1e30

// fitted returns the result.
func (e *Engine) fitted(l *Learner, c *converter) *credence.Fitted {
	d := e.model.Features.Weights()
	q := &posterior.SpikeSlab{Mean: make([]float64, d), Variance: make([]float64, d), Probability: make([]float64, d)}
	for j := range d {
		var w Weight
		if j == c.intercept {
			w = l.Bias()
		} else {
			w = l.Feature(int(c.slots[j]))
		}
		q.Mean[j], q.Variance[j], q.Probability[j] = w.Mean, w.Variance, w.Inclusion
	}
	inclusion, slab := l.Prior()
	events := l.Events()
	learned := e.model.Prior.(prior.SpikeSlab)
	learned.Inclusion.Value, learned.Slab.Value = inclusion, slab
	model := e.model
	model.Prior = learned
	status := credence.IterationLimit
	if e.cfg.Passes >= fitPasses {
		status = credence.Converged
	}
	return &credence.Fitted{
		Members: []credence.Member{{Model: model, Posterior: q}},
		Report: credence.Report{
			Engine: "sep", Status: status, Rows: c.data.Rows(), Weights: d, Iterations: e.cfg.Passes,
			Hyper: []credence.Value{
				{Name: "inclusion", Value: inclusion}, {Name: "slab", Value: slab},
				{Name: "skipped_cavities", Value: float64(events.SkippedCavities)},
				{Name: "negative_sites", Value: float64(events.NegativeSites)},
			},
		},
	}
}

// converter turns blocks of data into rows over slots: every weight but the
// intercept's is a slot, and zeros are left out.
type converter struct {
	features  credence.Features
	ws        *credence.Workspace
	data      credence.Data
	intercept int // weight of the intercept, or -1
	slots     []int32

	rows  credence.Batch
	phi   credence.Design
	batch credence.Batch
}

func (c *converter) number() {
	d := c.features.Weights()
	c.intercept, c.slots = -1, make([]int32, d)
	for _, block := range c.features.Blocks() {
		if block.Intercept {
			c.intercept = block.First
		}
	}
	next := int32(0)
	for j := range d {
		if j != c.intercept {
			c.slots[j] = next
			next++
		}
	}
}

func (c *converter) blocks() int {
	return (c.data.Rows() + credence.BlockRows - 1) / credence.BlockRows
}

// read makes block the batch, its rows in an order drawn from rng, or as they
// stand without one.
func (c *converter) read(block int, rng *rand.Rand) error {
	first := block * credence.BlockRows
	n := min(credence.BlockRows, c.data.Rows()-first)
	if err := c.data.Read(&c.rows, first, n); err != nil {
		return err
	}
	c.features.Transform(c.ws, &c.phi, &c.rows)
	b := &c.batch
	b.X = linop.Dense{Rows: n}
	b.Sparse.Reset(len(c.slots))
	b.Target, b.Weight, b.Offset = b.Target[:0], b.Weight[:0], b.Offset[:0]
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if rng != nil {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	dense := c.phi.Dense.Cols
	s := &b.Sparse
	for _, i := range order {
		if dense > 0 {
			for j, v := range c.phi.Dense.Row(i) {
				if v != 0 && j != c.intercept {
					s.Index, s.Value = append(s.Index, c.slots[j]), append(s.Value, v)
				}
			}
		}
		if c.phi.Sparse.Cols > 0 {
			columns, values := c.phi.Sparse.Row(i)
			for k, j := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				if v != 0 && dense+int(j) != c.intercept {
					s.Index, s.Value = append(s.Index, c.slots[dense+int(j)]), append(s.Value, v)
				}
			}
		}
		s.Start = append(s.Start, len(s.Index))
		s.Rows++
		b.Target = append(b.Target, c.rows.Target[i])
		if c.rows.Weight != nil {
			b.Weight = append(b.Weight, c.rows.Weight[i])
		}
		if c.rows.Offset != nil {
			b.Offset = append(b.Offset, c.rows.Offset[i])
		}
	}
	if c.rows.Weight == nil {
		b.Weight = nil
	}
	if c.rows.Offset == nil {
		b.Offset = nil
	}
	return nil
}

// count counts the appearances of every feature before the first row is learned.
func (c *converter) count(l *Learner) error {
	for block := range c.blocks() {
		if err := c.read(block, nil); err != nil {
			return err
		}
		l.reserve(c.batch.Sparse.Cols)
		for i := range c.batch.Sparse.Rows {
			columns, _ := c.batch.Sparse.Row(i)
			label, weight := l.classWeight(&c.batch, i)
			l.count(columns, label, weight)
		}
	}
	l.again = true
	return nil
}
