package mixture

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
)

// Minibatches say how to take stochastic steps.
type Minibatches struct {
	Batch     int // rows of a minibatch
	Rule      Rule
	Rate      float64 // the first step
	Samples   int     // draws a component in pairs; 0 integrates over f
	Epochs    int
	Tolerance float64 // gain of the bound in two epochs, in nats a weight, below which it stops
}

// Epochs is where minibatches stand between epochs.
type Epochs struct {
	Epoch   int       `json:"epoch"`
	Steps   int       `json:"steps"`
	Largest float64   `json:"largest"` // largest curvature in the units of scale
	z       []float64 // variables in the units of scale; nil before the warm start
	scale   []float64
	bounds  []float64 // mean bound of every epoch
	memory  memory    // of the rule
}

// stochastic is the climb of one start.
type stochastic struct {
	*Fit
	*Minibatches
	state *Epochs
	start int // number of the start
	feed  *feed
}

// climbMinibatches takes at.X to its end, and then empties at.Minibatches.
func (f *Fit) climbMinibatches(ctx context.Context, at *State) error {
	state := &at.Minibatches
	c := &stochastic{f, f.Minibatches, state, at.Start, newFeed(f.Problem, f.Minibatches.Batch, f.Seed)}
	if state.z == nil {
		if err := c.warm(ctx, at); err != nil {
			return err
		}
	}
	for ; state.Epoch < c.Epochs && !at.Converged; state.Epoch++ {
		if f.Save != nil {
			if err := f.Save(at); err != nil {
				return err
			}
		}
		bound, err := c.epoch(ctx, at.X)
		if err != nil {
			return err
		}
		state.bounds = append(state.bounds, bound)
		if f.Progress != nil {
			f.Progress(credence.Progress{
				Stage: fmt.Sprintf("start %d of %d, epochs", c.start+1, f.Starts),
				Done:  state.Epoch + 1, Total: c.Epochs, Objective: bound,
			})
		}
		if !problem.Finite(bound) {
			return fmt.Errorf("svi: the bound became %v in epoch %d: state a smaller rate than %g, or a larger batch", bound, state.Epoch+1, c.Rate)
		}
		at.Converged = settled(state.bounds, c.Minibatches.Tolerance*float64(f.Dims))
	}
	at.Iterations += state.Steps
	c.iterate(at.X)
	*state = Epochs{}
	_, _, err := f.ascend(ctx, f.All(), at, 1e-3, polishIterations)
	return err
}

// polishIterations is the number of deterministic iterations after minibatches.
const polishIterations = 20

// settled says whether the mean bound of the last two epochs is less than minGain above that of the
// two before.
func settled(bounds []float64, minGain float64) bool {
	n := len(bounds)
	return n >= 4 && (bounds[n-1]+bounds[n-2]-bounds[n-3]-bounds[n-4])/2 < minGain
}

// iterate stores the variables of the present iterate in x, within their bounds.
func (c *stochastic) iterate(x []float64) {
	for i, z := range c.state.z {
		x[i] = z * c.state.scale[i]
	}
	c.Clip(x, nil)
}

// epoch takes a step on every minibatch and returns the mean of the bounds before the steps. It uses
// x as scratch memory.
func (c *stochastic) epoch(ctx context.Context, x []float64) (float64, error) {
	total, batches := 0.0, 0
	gradient := make([]float64, len(x))
	c.feed.shuffle(uint64(c.start)<<32 | uint64(c.state.Epoch))
	for c.feed.more() {
		bound, err := c.step(ctx, gradient, x)
		if err != nil {
			return 0, err
		}
		total += bound
		batches++
	}
	return total / float64(batches), nil
}

// step takes a step on the next minibatch and returns the estimate of the bound before it.
func (c *stochastic) step(ctx context.Context, gradient, x []float64) (float64, error) {
	c.iterate(x)
	features := c.FeaturesAt(x)
	b, err := c.feed.next(ctx, features)
	if err != nil {
		return 0, err
	}
	var draws *sampler
	if c.Samples > 0 {
		rng := credence.Rand(c.Seed, credence.SVIDraws, uint64(c.start)<<40|uint64(c.state.Steps))
		draws = &sampler{draws: c.Samples, rng: rng}
	}
	c.Begin(x)
	c.add(b, x, problem.Scale(c.feed.rows, b.Rows()), draws, features)
	bound := c.Finish(gradient, x)
	for i := range gradient {
		gradient[i] *= c.state.scale[i] * float64(c.Components)
	}
	if !problem.Finite(gradient...) {
		return math.NaN(), nil
	}
	epoch := float64(c.state.Steps) * float64(c.Batch) / float64(c.feed.rows)
	rate := c.Rate / math.Sqrt(1+epoch)
	if c.Rule.byCurvature() {
		rate = c.Rate / (1 + epoch) / c.state.Largest
	}
	c.state.Steps++
	c.Rule.step(&c.state.memory, c.state.Steps, c.state.z, gradient, rate)
	c.Clip(c.state.z, c.state.scale)
	return bound, nil
}

// feed yields minibatches: an epoch goes through runs of rows in random order, short enough to mix
// and long enough to be read at once.
type feed struct {
	problem *problem.Problem
	reader  *problem.Rows
	seed    uint64
	rows    int
	run     int   // rows of a run
	runs    int   // runs of a minibatch
	order   []int // first rows of the runs
	left    []int // those of this epoch that are still to come
	batch   credence.Batch
	phi     credence.Design
}

// feedRun is the number of consecutive rows of a run; a minibatch has several.
const feedRun = 16

func newFeed(p *problem.Problem, batch int, seed uint64) *feed {
	f := &feed{problem: p, reader: p.Rows(0), seed: seed, rows: p.Data.Total(), run: max(1, min(feedRun, batch/32))}
	f.runs = max(1, batch/f.run)
	f.order = make([]int, (f.rows+f.run-1)/f.run)
	return f
}

// shuffle begins an epoch.
func (f *feed) shuffle(epoch uint64) {
	for i := range f.order {
		f.order[i] = i * f.run
	}
	rng := credence.Rand(f.seed, credence.SVIOrder, epoch)
	rng.Shuffle(len(f.order), func(i, j int) { f.order[i], f.order[j] = f.order[j], f.order[i] })
	f.left = f.order
}

func (f *feed) more() bool { return len(f.left) > 0 }

// next returns the next minibatch, valid until the next call.
func (f *feed) next(ctx context.Context, features credence.Features) (*problem.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := min(len(f.left), f.runs)
	if err := f.reader.Gather(&f.batch, f.left[:count], f.run); err != nil {
		return nil, err
	}
	f.left = f.left[count:]
	features.Transform(f.problem.Workspace, &f.phi, &f.batch)
	return &problem.Block{Batch: &f.batch, Phi: &f.phi}, nil
}
