package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
)

// stochasticState is where minibatches stand between epochs.
type stochasticState struct {
	Epoch   int
	Z       []float64 // variables in the units of Scale
	Scale   []float64
	Rule    rule
	Bounds  []float64 // smoothed bound of every epoch
	Largest float64   // largest curvature in the units of Scale
}

// warmIterations is the number of deterministic iterations on some rows from which
// minibatches start.
const warmIterations = 20

// stochasticFit takes stochastic steps on minibatches: report, section 1.1 and eq. 27.
// Departures from the report:
//
//  1. Variables are in units of approximate posterior standard deviations, found from the curvature
//     at a warm start on some rows, so that one rate serves all.
//  2. Expectations are integrals over f unless the estimator is "sample".
//  3. Prior variances are at their maximum given the components, not stepped.
//  4. Rates fall with the square root of the epoch (for sgd and momentum with the epoch). Iterates
//     are not averaged: before the last departure an average has a lower bound than the last
//     iterate on most problems, and after it the same.
//  5. It stops when the bound, averaged over the minibatches of two epochs, rises by
//     less than Tolerance nats a weight over two epochs.
//  6. At most polishIterations deterministic iterations over all rows follow: the last iterate
//     stays a fifth of a posterior standard deviation from the optimum, however many rows there are,
//     and they take most of that away.
func (r *fit) stochasticFit(ctx context.Context, q *mixture, state *mixtureState) error {
	st := &state.Stochastic
	if st.Z == nil {
		if err := r.warm(ctx, q, state); err != nil {
			return err
		}
	}
	feed := newFeed(r)
	gradient, x := make([]float64, q.size()), state.X
	tolerance := r.config.Tolerance
	if tolerance == 0 {
		tolerance = 0.01
	}
	for ; st.Epoch < r.config.Epochs; st.Epoch++ {
		if err := r.save(state); err != nil {
			return err
		}
		total, batches := 0.0, 0
		feed.shuffle(uint64(state.Start)<<32 | uint64(st.Epoch))
		for feed.more() {
			bound, err := r.minibatch(ctx, q, feed, gradient, x, state)
			if err != nil {
				return err
			}
			total += bound
			batches++
		}
		st.Bounds = append(st.Bounds, total/float64(batches))
		n := len(st.Bounds)
		if r.config.Progress != nil {
			r.config.Progress(credence.Progress{
				Stage: fmt.Sprintf("start %d of %d, epochs", state.Start+1, r.config.Starts),
				Done:  st.Epoch + 1, Total: r.config.Epochs, Objective: st.Bounds[n-1],
			})
		}
		if !finite(st.Bounds[n-1]) {
			return fmt.Errorf("svi: the bound became %v in epoch %d: state a smaller rate than %g, or a larger batch", st.Bounds[n-1], st.Epoch+1, r.config.Rate)
		}
		if settled(st.Bounds, tolerance*float64(r.d)) {
			state.Converged = true
			st.Epoch++
			break
		}
	}
	state.Iterations += st.Rule.Steps
	for i, v := range st.Z {
		x[i] = v * st.Scale[i]
	}
	q.clip(x, nil) // but for rounding within its bounds already
	state.Stochastic = stochasticState{}
	_, _, err := r.round(ctx, q, r.open(0), x, 1e-3, state, polishIterations)
	return err
}

// settled says whether the mean bound of the last two epochs is less than worth above that of the
// two before.
func settled(bounds []float64, worth float64) bool {
	n := len(bounds)
	return n >= 4 && (bounds[n-1]+bounds[n-2]-bounds[n-3]-bounds[n-4])/2 < worth
}

// polishIterations is the number of deterministic iterations after minibatches.
const polishIterations = 20

// minibatch takes one step and returns the estimate of the bound before it.
func (r *fit) minibatch(ctx context.Context, q *mixture, feed *feed, gradient, x []float64, state *mixtureState) (float64, error) {
	st := &state.Stochastic
	for i, v := range st.Z {
		x[i] = v * st.Scale[i]
	}
	q.clip(x, nil)
	features := q.featuresAt(r.features, x)
	b, err := feed.next(ctx, features)
	if err != nil {
		return 0, err
	}
	q.begin(x)
	var draw *sampler
	if r.config.Estimator == Sample {
		stream := credence.Rand(r.config.Seed, credence.SVIDraws, uint64(state.Start)<<40|uint64(st.Rule.Steps))
		draw = &sampler{draws: r.config.Samples, rng: stream}
	}
	q.add(b, x, rowScale(feed.rows, b.rows), draw, features)
	bound := q.finish(gradient, x)
	for i := range gradient {
		gradient[i] *= st.Scale[i] * float64(q.k)
	}
	epoch := float64(st.Rule.Steps) * float64(r.config.Batch) / float64(feed.rows)
	rate := r.config.Rate / math.Sqrt(1+epoch)
	if kind := r.config.Optimiser; kind == SGD || kind == Momentum {
		rate = r.config.Rate / (1 + epoch) / st.Largest
	}
	if !finite(gradient...) {
		return math.NaN(), nil
	}
	st.Rule.step(st.Z, gradient, rate)
	q.clip(st.Z, st.Scale)
	return bound, nil
}

// warm brings state.X near the optimum on some rows, from which it takes the units of
// the variables, and prepares the rule.
func (r *fit) warm(ctx context.Context, q *mixture, state *mixtureState) error {
	st := &state.Stochastic
	x := state.X
	t := r.open(startRows)
	if q.tunable == nil {
		if _, _, err := r.round(ctx, q, t, x, 0.1, state, warmIterations); err != nil {
			return err
		}
	}
	q.begin(x)
	q.setPrior(x)
	st.Scale = make([]float64, len(x))
	gain := math.Log(t.scale()) // the rows left out narrow Ψ
	for k := range q.k {
		_, logs := q.component(x, k)
		sm, sl := q.component(st.Scale, k)
		for j := range logs {
			shrunk := -math.Log(math.Exp(-logs[j]+gain) + (1-math.Exp(gain))/q.weightPrior[j])
			if finite(shrunk) {
				logs[j] = shrunk
			}
			sm[j], sl[j] = math.Exp(logs[j]/2), 1
		}
	}
	free, hyper := q.parameters(st.Scale)
	for _, s := range [][]float64{free, hyper} {
		for i := range s {
			s[i] = 1 / math.Sqrt(float64(t.total))
		}
	}
	var err error
	if st.Largest, err = r.largestCurvature(ctx, q, t, x); err != nil {
		return err
	}
	st.Z = make([]float64, len(x))
	for i, s := range st.Scale {
		st.Z[i] = x[i] / s
	}
	st.Rule = *newRule(r.config.Optimiser, len(x))
	return nil
}

// largestCurvature estimates by power iteration the largest eigenvalue of the curvature in
// the mean of the first component, in units of its standard deviations: 1 for
// uncorrelated features, up to d for equal ones.
func (r *fit) largestCurvature(ctx context.Context, q *mixture, t *table, x []float64) (float64, error) {
	q.begin(x)
	q.setPrior(x)
	m, _ := q.component(x, 0)
	psi := q.psi[:r.d]
	rng := credence.Rand(r.config.Seed, credence.SVICurvature, 0)
	v, scaled, product := make([]float64, r.d), make([]float64, r.d), make([]float64, r.d)
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	largest := 1.0
	pool := r.ws.Pool()
	for range 10 {
		length := 0.0
		for _, e := range v {
			length += e * e
		}
		for j := range v {
			v[j] /= math.Sqrt(length)
			scaled[j] = v[j] * math.Sqrt(psi[j])
		}
		clear(product)
		for k := range t.blocks() {
			b, err := t.at(ctx, k)
			if err != nil {
				return 0, err
			}
			q.terms.resize(b.rows, q.base.count())
			latentMeans(pool, q.terms.mean, b, m)
			latentVariances(pool, q.terms.variance, b.phi, psi)
			q.terms.expect(pool, b, q.family, false)
			along := grow(q.terms.spare, b.rows)
			for i := range along {
				along[i] = math.Max(0, -2*q.terms.dVariance[i]) * rowDot(b.phi, i, scaled) * t.scale()
			}
			addTrans(pool, product, b.phi, along)
		}
		along := 0.0
		for j := range v {
			e := math.Sqrt(psi[j])*product[j] + psi[j]/q.weightPrior[j]*v[j]
			along += e * v[j]
			v[j] = e
		}
		largest = math.Max(1, along)
	}
	return 1.2 * largest, nil // power iteration comes from below
}

// feed yields minibatches: an epoch goes through runs of rows in random order, short enough to mix
// and long enough to be read at once.
type feed struct {
	fit         *fit
	rows, run   int
	order       []int
	at          int
	table       *table
	batch, part credence.Batch
	phi         credence.Design
	current     block
}

// feedRun is the number of consecutive rows of a run; a minibatch has several.
const feedRun = 16

func newFeed(r *fit) *feed {
	f := &feed{fit: r, rows: r.data.Rows(), run: max(1, min(feedRun, r.config.Batch/32))}
	f.table = r.open(0)
	f.order = make([]int, (f.rows+f.run-1)/f.run)
	return f
}

// shuffle starts an epoch.
func (f *feed) shuffle(epoch uint64) {
	rng := credence.Rand(f.fit.config.Seed, credence.SVIOrder, epoch)
	for i := range f.order {
		f.order[i] = i * f.run
	}
	shuffle(f.order, rng)
	f.at = 0
}

func shuffle(x []int, rng *rand.Rand) {
	rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
}

func (f *feed) more() bool { return f.at < len(f.order) }

// next returns the next minibatch.
func (f *feed) next(ctx context.Context, features credence.Features) (*block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	runs := f.order[f.at:min(len(f.order), f.at+max(1, f.fit.config.Batch/f.run))]
	f.at += len(runs)
	for i, first := range runs {
		if err := f.fit.data.Read(&f.part, first, min(f.run, f.rows-first)); err != nil {
			return nil, err
		}
		appendRows(&f.batch, &f.part, i == 0)
	}
	row := func(i int) int {
		for _, first := range runs {
			count := min(f.run, f.rows-first)
			if i < count {
				return first + i
			}
			i -= count
		}
		return i
	}
	if err := f.table.verify(&f.batch, row); err != nil {
		return nil, err
	}
	features.Transform(f.fit.ws, &f.phi, &f.batch)
	f.current = view(&f.batch, &f.phi)
	return &f.current, nil
}
