package gibbs

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// plan is how long a chain runs.
type plan struct {
	flips, warm int // all, and those at the start that are forgotten
	every       int // flips between two moves of noise and slab
}

// record is what a chain leaves behind: sums over states, each weighed by the reciprocal of its flips'
// weights, and the states.
type record struct {
	total                   float64
	inclusion, mean, square []float64 // Σ of p_j, E w_j and E w_j²
	states                  []state
	active                  []int32 // columns of all states, one after the other
}

// state is one state of a chain after its warm-up.
type state struct {
	weight            float64
	from, to          int // in record.active
	logNoise, logSlab float64
	logKept           []float64
	logDensity        float64
}

// begin puts columns in and takes the chain's first state.
func (c *chain) begin(columns []int) error {
	for _, j := range columns {
		c.in[j] = true
	}
	c.count()
	if c.Classes {
		if err := c.drawRows(nil); err != nil {
			return err
		}
	} else {
		copy(c.y, c.Setting.Target)
		c.setNoise()
	}
	c.takeTargets()
	return c.refresh()
}

func (c *chain) setNoise() {
	v := math.Exp(2 * c.logNoise)
	for i := range c.noise {
		c.noise[i] = v
	}
}

// run makes the flips of the plan.
func (c *chain) run(ctx context.Context, p plan) (*record, error) {
	d := c.Table.Count()
	r := &record{inclusion: make([]float64, d), mean: make([]float64, d), square: make([]float64, d)}
	c.probabilities()
	spare := newFares(d)
	for flip := range p.flips {
		if flip%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if flip >= p.warm {
			c.keep(r, 1/c.total)
		}
		// A column that is in for certain would come back at the next flip, but noise and slab must not move
		// while it is out: odds beyond what numbers hold are not told from lesser ones there.
		if j := c.choose(); c.flips && (!c.in[j] || c.probability(j) < 1) {
			c.toggle(j)
			c.probabilities()
		}
		if (flip+1)%p.every == 0 {
			var err error
			if c.Classes {
				err = c.renew()
			}
			if err == nil {
				err = c.move(&spare)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// keep adds the state to the record.
func (c *chain) keep(r *record, weight float64) {
	r.total += weight
	s := state{weight: weight, from: len(r.active), logNoise: c.logNoise, logSlab: c.logSlab, logDensity: c.logState()}
	slab := math.Exp(2 * c.logSlab)
	if len(c.logKept) > 0 {
		s.logKept = slices.Clone(c.logKept)
	}
	size := len(c.in) // as in probabilities, whose shares these are
	odds, share, q := c.odds[:size], c.share[:size], c.q[:size]
	inclusion, means, squares := r.inclusion[:size], r.mean[:size], r.square[:size]
	for j, in := range c.in {
		p, mean, variance := odds[j]/(1+odds[j]), slab*q[j], slab
		if in {
			variance *= share[j]
		} else {
			given := 1 / share[j]
			mean, variance = mean*given, slab*given
		}
		if !c.plain {
			p = c.probability(j) // odds may be infinite
			if v := c.Kept[j]; v > 0 {
				mean, variance = c.slab(j, v)
			}
			if g := c.groupOf[j]; g != nil {
				mean, variance = g.mean[j-g.First], g.variance[j-g.First]
			}
			mean += c.KeptMean[j]
		}
		inclusion[j] += weight * p
		means[j] += weight * p * mean
		squares[j] += weight * p * (mean*mean + variance)
		if in && (c.plain || c.Kept[j] == 0) {
			r.active = append(r.active, int32(j))
		}
	}
	s.to = len(r.active)
	r.states = append(r.states, s)
}

// Steps of the random walk in the logarithms of noise, slab and the prior deviations of kept blocks.
const (
	noiseStep = 0.25
	slabStep  = 0.35
	keptStep  = 0.7
)

// walk is a value that moves at random.
type walk struct {
	value *float64
	step  float64
}

// walks are the values that are learned.
func (c *chain) walks() (list []walk) {
	if c.Noise.Learned {
		list = append(list, walk{&c.logNoise, noiseStep})
	}
	if c.Slab.Learned {
		list = append(list, walk{&c.logSlab, slabStep})
	}
	for k := range c.logKept {
		list = append(list, walk{&c.logKept[k], keptStep})
	}
	return list
}

// setValues takes the noise of rows and the variances of kept columns to the learned values.
func (c *chain) setValues() {
	if !c.Classes {
		c.setNoise()
	}
	for k, u := range c.logKept {
		c.SetKept(k, u)
	}
}

// move proposes new values one after the other, and to flip the large groups.
func (c *chain) move(spare *fares) error {
	walks := c.walks()
	for _, m := range walks {
		old := *m.value
		set := func(to float64) {
			*m.value = to
			c.setValues()
		}
		if err := c.propose(spare, func() { set(old + m.step*c.rng.NormFloat64()) }, func() { set(old) }); err != nil {
			return err
		}
	}
	for _, g := range c.groups {
		if reverse := func() { c.reverse(g) }; g.large {
			if err := c.propose(spare, reverse, reverse); err != nil {
				return err
			}
		}
	}
	if len(walks) == 0 { // rounding of the flips does not add up
		if err := c.refresh(); err != nil {
			return err
		}
		c.probabilities()
	}
	return nil
}

// propose changes the state, and takes it back unless the new one is accepted. The law of the chain is the posterior
// times the sum of its flips' weights, so that an acceptance has their ratio too.
func (c *chain) propose(spare *fares, change, back func()) error {
	before, total := c.logState(), c.total
	change()
	c.fares, *spare = *spare, c.fares
	c.products = spare.products
	if err := c.refresh(); err != nil {
		return err
	}
	c.probabilities()
	if math.Log(c.rng.Float64()) < c.logState()-before+math.Log(c.total/total) { // false for NaN
		return nil
	}
	back()
	c.fares, *spare = *spare, c.fares
	c.probabilities()
	return nil
}

// spread returns count states of the record, evenly spread over its weight, in their order.
func (r *record) spread(count int) []state {
	list := make([]state, 0, count)
	sum, next := 0.0, 0.5
	for _, s := range r.states {
		sum += s.weight
		for next < sum/r.total*float64(count) && len(list) < count {
			list = append(list, s)
			next++
		}
	}
	for len(list) < count {
		list = append(list, r.states[len(r.states)-1])
	}
	return list
}

// drawWeights stores a draw of all weights given the active columns, noise and slab, in dst, length d: mean and
// covariance of a regression on those columns alone.
func (c *chain) drawWeights(dst []float64) error {
	clear(dst)
	active := c.included(nil)
	k, n := len(active), c.Rows
	columns := make([]float64, k*n)
	precision, shift := make([]float64, k*k), make([]float64, k)
	for a, j := range active {
		c.Column(columns[a*n:(a+1)*n], j)
	}
	scaled := make([]float64, n)
	for a, j := range active {
		for i, x := range columns[a*n : (a+1)*n] {
			scaled[i] = x / c.noise[i]
		}
		v := c.variance(j)
		shift[a] = kernel.Dot(scaled, c.y) + c.KeptMean[j]/v
		for b := a; b < k; b++ {
			precision[a*k+b] = kernel.Dot(scaled, columns[b*n:(b+1)*n])
		}
		precision[a*k+a] += 1 / v
	}
	pool := c.ws.Pool()
	if _, ok := pool.Cholesky(k, precision, k); !ok {
		return errDegenerate
	}
	pool.TrsmLeft(true, k, 1, precision, k, shift, 1)
	for a := range shift {
		shift[a] += c.rng.NormFloat64()
	}
	pool.TrsmLeft(false, k, 1, precision, k, shift, 1)
	for a, j := range active {
		dst[j] = shift[a]
	}
	return nil
}

// restore takes a state of the record again, without how its columns fare.
func (c *chain) restore(r *record, s state) {
	for j := range c.in {
		c.in[j] = c.Kept[j] > 0
	}
	for _, j := range r.active[s.from:s.to] {
		c.in[j] = true
	}
	c.count()
	c.logNoise, c.logSlab = s.logNoise, s.logSlab
	copy(c.logKept, s.logKept)
	c.setValues()
}

// top returns the columns of the largest values, in their order.
func top(values []float64, count int) []int {
	return order.By(len(values), func(a, b int) int { return cmp.Compare(values[b], values[a]) })[:min(count, len(values))]
}
