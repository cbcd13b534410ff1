package sep

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

const (
	inModel        = 0.9     // inclusion from which on a weight is surely in the model
	coveredLevel   = 0.9     // of the intervals
	coveredEntries = 1 << 14 // of the early rows that are looked at, at most
	warmSweeps     = 50
	coveredSweeps  = 200
	hyperStep      = 0.7 // standard deviation of the random walk in logit ρ0 and log τ0
)

// chain is a Gibbs sampler of the weights of the early rows as they are together. The rows'
// likelihood is Gaussian in f, with the precision of the sites under q, scaled up to all rows that were
// learned, and its means are such that q has the means it has; the prior is the spike and slab.
type chain struct {
	rng     *rand.Rand
	columns linop.CSR // one row for each weight, the bias last, and its entries in the rows of data
	site    []float64 // precision of each row's f
	slots   []int32
	norm    []float64 // Σ of site × x²
	linear  []float64 // of the log likelihood in each weight
	w, f    []float64
	prior   spikeSlab
	bias    float64 // variance of its prior
}

// sampler returns a chain that begins at the means of q.
func (l *Learner) sampler() *chain {
	e := &l.early
	c := &chain{rng: credence.Rand(l.cfg.Seed, credence.SEPCoverage, 0), prior: l.prior, bias: biasVariance}
	if l.bias.priorLambda == pinned {
		c.bias = 1 / pinned
	}
	n := e.rows.Rows
	for n > 1 && e.rows.Start[n] > coveredEntries {
		n--
	}
	place := make(map[int32]int32)
	for _, slot := range e.rows.Index[:e.rows.Start[n]] {
		if _, ok := place[slot]; !ok {
			place[slot] = int32(len(c.slots))
			c.slots = append(c.slots, slot)
		}
	}
	d := len(c.slots) + 1
	seen := 0.0
	for _, w := range e.weight[:n] {
		seen += w
	}
	scale := (l.biasSums.count[0] + l.biasSums.count[1]) / seen // who forgets keeps no rows
	rows := linop.CSR{Cols: d}
	for i := range n {
		slots, values := e.rows.Row(i)
		var columns []int32
		var entries []float64
		mean, variance := e.offset[i], 0.0
		add := func(f *feature, j int32, x float64) {
			w := l.weight(f)
			mean += x * w.Mean
			variance += x * x * w.Variance
			columns, entries = append(columns, j), append(entries, x)
		}
		for k, slot := range slots {
			add(l.at(slot), place[slot], linop.At(values, k))
		}
		add(&l.bias, int32(d-1), 1)
		rows.AppendRow(columns, entries)
		_, _, b := site(mean, 1+variance, int(e.label[i]))
		c.site = append(c.site, scale*e.weight[i]*b/(1-variance*b))
	}
	c.columns = rows.Transpose()
	c.w, c.f, c.norm, c.linear = make([]float64, d), make([]float64, n), make([]float64, d), make([]float64, d)
	for j := range d {
		c.w[j] = l.weight(c.feature(l, j)).Mean
	}
	rows.MulVec(c.f, c.w)
	for j := range d {
		f := c.feature(l, j)
		c.linear[j] = float64(f.priorLambda)*c.w[j] - float64(f.priorShift)
		for i, x := range c.columns.Each(j) {
			c.norm[j] += c.site[i] * x * x
			c.linear[j] += c.site[i] * x * c.f[i]
		}
	}
	return c
}

// feature returns that of weight j.
func (c *chain) feature(l *Learner, j int) *feature {
	if j == len(c.slots) {
		return &l.bias
	}
	return l.at(c.slots[j])
}

// sweep draws every weight given all others.
func (c *chain) sweep() {
	last := len(c.w) - 1
	for j, old := range c.w {
		shift := c.linear[j] + c.norm[j]*old
		for i, x := range c.columns.Each(j) {
			shift -= c.site[i] * x * c.f[i]
		}
		var t tilt
		uniform, in := c.rng.Float64(), j == last
		if in {
			t.variance = c.bias / (1 + c.bias*c.norm[j])
			t.mean = shift * t.variance
		} else {
			var exponent float64
			t, exponent = c.prior.tilt(c.norm[j], shift)
			in = t.includes(uniform, exponent)
		}
		next := 0.0
		if in {
			next = t.mean + math.Sqrt(t.variance)*c.rng.NormFloat64()
		}
		if change := next - old; change != 0 {
			for i, x := range c.columns.Each(j) {
				c.f[i] += x * change
			}
			c.w[j] = next
		}
	}
}

// drawHyper moves ρ0 and τ0 by a step of Metropolis, as far as they are learned.
func (c *chain) drawHyper(h *Hyper) {
	in, squares := 0.0, 0.0
	for _, w := range c.w[:len(c.slots)] {
		if w != 0 {
			in++
			squares += w * w
		}
	}
	out := float64(len(c.slots)) - in
	density := func(p *spikeSlab) float64 {
		a, b := (p.logit-logit(startInclusion))/logitScale, math.Log(p.slab/startSlab)/logSlabScale
		return in*math.Log(p.inclusion) + out*math.Log1p(-p.inclusion) - 0.5*(in*math.Log(p.slab)+squares/p.slab) - 0.5*(a*a+b*b)
	}
	try := func(change float64, slab bool) {
		next := c.prior
		if slab {
			next = newPrior(next.inclusion, next.slab*math.Exp(change))
		} else {
			next = newPrior(special.Sigmoid(min(max(next.logit+change, smallestLogit), -smallestLogit)), next.slab)
		}
		if math.Log(c.rng.Float64()) < density(&next)-density(&c.prior) {
			c.prior = next
		}
	}
	if h.Inclusion.State != param.Held {
		try(hyperStep*c.rng.NormFloat64(), false)
	}
	if h.Slab.State != param.Held {
		try(hyperStep*c.rng.NormFloat64(), true)
	}
}

// cover works out how many of the 90 % intervals of the weights in the model hold them: as many as
// hold draws of the chain. It is nil where no rows are kept, or no weight is surely in the model.
func (l *Learner) cover() *float64 {
	if l.early.rows.Rows == 0 {
		return nil
	}
	c := l.sampler()
	quantile := special.NormalQuantile(0.5 + coveredLevel/2)
	type interval struct {
		weight       int
		lower, upper float64
	}
	var intervals []interval
	for j, slot := range c.slots {
		if q := l.marginal(l.at(slot)); q.Inclusion >= inModel {
			half := quantile * math.Sqrt(q.Variance)
			intervals = append(intervals, interval{j, q.Mean - half, q.Mean + half})
		}
	}
	if len(intervals) == 0 {
		return nil
	}
	held := 0
	for sweep := range warmSweeps + coveredSweeps {
		c.sweep()
		c.drawHyper(&l.hyper)
		if sweep < warmSweeps {
			continue
		}
		for _, v := range intervals {
			if w := c.w[v.weight]; w >= v.lower && w <= v.upper {
				held++
			}
		}
	}
	share := float64(held) / float64(coveredSweeps*len(intervals))
	return &share
}
