package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
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
	for len(c.feed.left) > 0 {
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
	c.add(b, x, problem.Scale(c.Data.Total(), b.Rows()), draws, features)
	bound := c.Finish(gradient, x)
	for i := range gradient {
		gradient[i] *= c.state.scale[i] * float64(c.Components)
	}
	if !problem.Finite(gradient...) {
		return math.NaN(), nil
	}
	epoch := float64(c.state.Steps) * float64(c.Batch) / float64(c.Data.Total())
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
	*problem.Problem
	seed  uint64
	run   int   // rows of a run
	runs  int   // runs of a minibatch
	order []int // first rows of the runs
	left  []int // those of this epoch that are still to come
	batch credence.Batch
	phi   credence.Design
}

// feedRun is the number of consecutive rows of a run; a minibatch has several.
const feedRun = 16

func newFeed(p *problem.Problem, batch int, seed uint64) *feed {
	f := &feed{Problem: p, seed: seed, run: max(1, min(feedRun, batch/32))}
	f.runs = max(1, batch/f.run)
	f.order = make([]int, (p.Data.Total()+f.run-1)/f.run)
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

// next returns the next minibatch, valid until the next call.
func (f *feed) next(ctx context.Context, features credence.Features) (*problem.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	count := min(len(f.left), f.runs)
	if err := f.Data.Gather(&f.batch, f.left[:count], f.run); err != nil {
		return nil, err
	}
	f.left = f.left[count:]
	features.Transform(f.Workspace, &f.phi, &f.batch)
	return &problem.Block{Batch: &f.batch, Phi: &f.phi}, nil
}

// sampler estimates expectations under a component from draws w = m + √Ψ⊙ε (revrand report, eqs.
// 25–26):
//
//	∂/∂m ≈ mean of G      ∂/∂Ψ ≈ mean of G⊙ε/(2√Ψ),   G = Σ_n φ_n ℓ'(φ_nᵀw),
//
// and, for the hyper-parameters of features, ∂/∂Φ ≈ mean of ℓ'(Φw) wᵀ. Draws come in pairs ±ε: in a
// pair the value of G at m, which carries most of the variance of G⊙ε and none of its mean, cancels,
// as does what is linear in ε in G.
type sampler struct {
	draws int
	rng   *rand.Rand
	// of one draw
	weights, epsilon, latent, slopes, product []float64
	parameters                                []float64
}

// add adds the gradients of share·Σ E log p under N(m, diag psi) to dMean, dPsi, q.Slope and, where
// hyper-parameters are variables, q.DPhi, and returns the estimate of Σ E log p.
func (s *sampler) add(q *Bound, b *problem.Block, m, psi []float64, share float64, dMean, dPsi []float64) float64 {
	d, n := q.Dims, b.Rows()
	s.weights, s.epsilon, s.product = order.Resized(s.weights, d), order.Resized(s.epsilon, d), order.Resized(s.product, d)
	s.latent, s.slopes = order.Resized(s.latent, n), order.Resized(s.slopes, n)
	total := 0.0
	each := 1 / float64(s.draws)
	for l := range s.draws {
		for j := range d {
			if l%2 == 0 {
				s.epsilon[j] = s.rng.NormFloat64()
			} else {
				s.epsilon[j] = -s.epsilon[j]
			}
			s.weights[j] = m[j] + math.Sqrt(psi[j])*s.epsilon[j]
		}
		b.Means(q.Workspace, s.latent, s.weights)
		total += each * s.rows(q, b, each*share)
		if q.Tunable != nil {
			s.addDPhi(q, b, each*share)
		}
		clear(s.product)
		b.Phi.AddMulTrans(q.Workspace, s.product, s.slopes)
		for j, g := range s.product {
			dMean[j] += share * each * g
			dPsi[j] += share * each * g * s.epsilon[j] / (2 * math.Sqrt(psi[j]))
		}
	}
	return total
}

// addDPhi adds share·ℓ'(Φw) wᵀ to q.DPhi, for the dense columns.
func (s *sampler) addDPhi(q *Bound, b *problem.Block, share float64) {
	dense := b.Phi.Dense.Cols
	q.Workspace.Each(b.Rows(), func(i int) {
		kernel.Axpy(share*s.slopes[i], s.weights[:dense], q.DPhi[i*dense:(i+1)*dense])
	})
}

// rows stores ℓ' of every row at s.latent, adds its gradients in the likelihood's parameters, and
// returns Σ ℓ.
func (s *sampler) rows(q *Bound, b *problem.Block, share float64) float64 {
	total := 0.0
	for i, latent := range s.latent {
		w := b.WeightOf(i)
		if w == 0 {
			s.slopes[i] = 0
			continue
		}
		l := b.LikelihoodOf(q.Family.Likelihood, i)
		value, first, _ := l.Derivatives(b.Target[i], latent)
		total += w * value
		s.slopes[i] = w * first
		s.parameters = q.Family.AddSlopes(q.Slope, s.parameters, l, b.Target[i], latent, share*w)
	}
	return total
}
