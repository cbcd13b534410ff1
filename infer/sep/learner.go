package sep

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Events counts what the algorithm could not do as written.
type Events struct {
	// a feature left out of a row: removing the average factor left no proper Gaussian
	SkippedCavities int64 `json:"skipped_cavities"`
	NegativeSites   int64 `json:"negative_sites"` // a prior factor whose new precision would be negative
	LateRows        int64 `json:"late_rows"`      // of a time before that of the row ahead of them
}

// Learner is the state of learning: it scores and learns rows one after another.
// It is for one goroutine at a time.
type Learner struct {
	cfg   Config
	hyper Hyper

	chunks   chunks
	byClass  []*classChunk // the sums of each class beside chunks, while rows may be learned again; nil otherwise
	slots    int           // slots below have memory
	features int           // features seen
	selected int           // of them with α > ½
	bias     feature
	biasSums factors // by class
	prior    spikeSlab
	rows     int64   // rows learned, in all passes
	again    bool    // rows replace average factors: later passes, and known counts
	nextEB   int64   // rows at which ρ0 and τ0 are learned next
	scale    float64 // every likelihood sum is to be multiplied by it: forgetting
	now      float64 // time of the last row, where evidence is forgotten; −∞ before the first
	aged     float64 // share of the evidence left since all prior factors were made anew
	ageRows  int64   // rows learned then
	events   Events

	work     []working
	batch    miniBatch
	early    early
	tilts    tilts
	coverage *float64 // of a finished learner
	// replaying says that each row that is learned has factors of its own.
	replaying bool
}

// working is what the first loop over a row leaves for the second.
type working struct{ lambda, mean, removedLambda, removedShift float64 }

// NewLearner returns a learner that has seen nothing.
func NewLearner(cfg Config, hyper Hyper) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := (prior.SpikeSlab{Inclusion: hyper.Inclusion, Slab: hyper.Slab}).Validate(); err != nil {
		return nil, err
	}
	l := &Learner{cfg: cfg.withDefaults(), hyper: hyper, scale: 1, aged: 1, now: math.Inf(-1), nextEB: firstEB, early: early{mostRows: earlyRows, entries: earlyEntries}}
	inclusion, slab := startInclusion, startSlab
	if hyper.Inclusion.State != param.Learned {
		inclusion = hyper.Inclusion.Value
	}
	if hyper.Slab.State != param.Learned {
		slab = hyper.Slab.Value
	}
	l.setPrior(inclusion, slab)
	if cfg.Forget > 0 {
		l.now = 0
	}
	if cfg.forgets() {
		l.early.stage = sample // the first rows are forgotten
	}
	l.bias.priorLambda = 1.0 / biasVariance
	l.bias.due = 1
	if l.needsClasses() {
		l.byClass = []*classChunk{}
	}
	return l, nil
}

// prefetched is how many rows ahead features are fetched from memory.
const prefetched = 2

// Learn implements [credence.Online].
func (l *Learner) Learn(b *credence.Batch, probability []float64) (refused []int) {
	l.reserve(b.Sparse.Cols)
	for i := range b.Sparse.Rows {
		columns, values := b.Sparse.Row(i)
		if i+prefetched < b.Sparse.Rows {
			later, _ := b.Sparse.Row(i + prefetched)
			kernel.Prefetch(l.chunks, featureShift, later)
		}
		offset := b.OffsetOf(i)
		if l.cfg.HalfLife > 0 {
			l.pass(b.Time[i], l.cfg.HalfLife)
		}
		label, weight := l.classWeight(b, i)
		if math.IsNaN(b.Target[i]) || weight == 0 {
			probability[i] = l.score(columns, values, offset)
			continue
		}
		if !b.Ordinary(i) && !l.bearable(columns, values, label, weight, offset) {
			probability[i] = l.score(columns, values, offset)
			refused = append(refused, i)
			continue
		}
		if l.cfg.Batch > 0 {
			probability[i] = l.batchRow(columns, values, label, weight, offset)
		} else {
			probability[i] = l.learnRow(columns, values, label, weight, offset)
		}
		l.rows++
		if l.rows >= l.nextEB {
			l.learnHyper()
		}
		if l.cfg.Forget > 0 { // rows are the clock
			l.pass(float64(l.rows), l.cfg.Forget)
		}
		l.keep(columns, values, label, weight, offset)
	}
	return refused
}

// bearable says whether learning a row would leave a state that stays finite. It works out the
// row's factors, as batchRow does, and keeps nothing.
func (l *Learner) bearable(columns []int32, values []float64, label int, weight, offset float64) bool {
	work := l.working(len(columns))
	bias, s, mean := l.cavities(work, columns, values, label, weight, offset)
	if !ability.Bounded(s, mean, weight) {
		return false
	}
	_, a, b := site(mean, s, label)
	bounded := func(f *feature, w *working, a, b float64) bool {
		var c factors
		c.addRow(w, label, weight, a, b, 1)
		return ability.Bounded(f.lambda+c.lambda[label], f.shift+c.shift[label], float64(f.count)+weight)
	}
	if !bounded(&l.bias, &bias, a, b) {
		return false
	}
	for k, slot := range columns {
		x := linop.At(values, k)
		if work[k].lambda > 0 && !bounded(l.at(slot), &work[k], a*x, b*x*x) {
			return false
		}
	}
	return true
}

// working returns scratch memory for the columns of a row.
func (l *Learner) working(columns int) []working {
	if cap(l.work) < columns {
		l.work = make([]working, 2*columns)
	}
	return l.work[:columns]
}

// classWeight returns the label of row i and the weight that it has with that of
// its class.
func (l *Learner) classWeight(b *credence.Batch, i int) (label int, weight float64) {
	if b.Target[i] > 0.5 {
		return 1, b.WeightOf(i) * l.cfg.PositiveWeight
	}
	return 0, b.WeightOf(i) * l.cfg.NegativeWeight
}

// learnRow is one step of the sequential form.
func (l *Learner) learnRow(columns []int32, values []float64, label int, weight, offset float64) float64 {
	if l.again || l.scale != 1 {
		return l.learnAgain(columns, values, label, weight, offset)
	}
	work := l.working(len(columns))
	bias := &l.bias
	biasLambda := float64(bias.priorLambda) + bias.lambda
	biasMean := (float64(bias.priorShift) + bias.shift) / biasLambda
	s, mean := 1+1/biasLambda, biasMean+offset
	chunks := l.chunks
	for k, slot := range columns {
		f := chunks.at(slot)
		if f.due == 0 {
			l.begin(f)
		}
		lambda := float64(f.priorLambda) + f.lambda
		c := 1 / lambda
		m := (float64(f.priorShift) + f.shift) * c
		work[k].lambda, work[k].mean = lambda, m
		x := linop.At(values, k)
		s += x * x * c
		mean += x * m
	}
	probability, a, b := site(mean, s, label)

	// The row's factor of a feature with value x: slope ax and curvature bx² of
	// the log of the tilted normaliser give Λ = b/(1−cb), h = (a+mb)/(1−cb).
	factor := weight * biasLambda / (biasLambda - b)
	bias.gain(&l.biasSums, label, b*factor, (a+biasMean*b)*factor, weight)
	due := l.tilts.slots[:0]
	for k, slot := range columns {
		f := chunks.at(slot)
		w := &work[k]
		x := linop.At(values, k)
		aj, bj := a*x, b*x*x
		factor := weight * w.lambda / (w.lambda - bj)
		if lambda, shift := bj*factor, (aj+w.mean*bj)*factor; l.byClass == nil {
			f.add(lambda, shift, weight)
		} else {
			f.gain(l.classes(slot), label, lambda, shift, weight)
		}
		if f.due--; f.due&dueBits == 0 {
			due = append(due, slot)
		}
	}
	l.settleDue(due)
	return probability
}

// settleDue refreshes features that are due, and says when they are again.
func (l *Learner) settleDue(due []int32) {
	for _, slot := range due {
		f := l.at(slot)
		f.due |= dueAfter(float64(f.count) * l.scale)
	}
	l.tilts.slots = due
	l.refresh(due)
}

// dueAfter returns the number of occurrences until the next refresh of a feature
// with the given count: as evidence grows like the count, a tenth more of it
// moves the prior factor little.
func dueAfter(count float64) uint32 {
	return uint32(min(count*refreshGrowth, maxDue)) + 1
}

const (
	refreshGrowth = 0.1
	maxDue        = 1 << 12
)

// site returns the probability of class 1 under f ~ N(mean, s−1), and the
// derivatives of log Φ(±f) averaged over it: a = ∂/∂mean, b = −∂²/∂mean².
func site(mean, s float64, label int) (probability, a, b float64) {
	scale := 1 / math.Sqrt(s)
	u := mean * scale
	probability = special.NormalCDF(u)
	z, own := u, probability
	if label == 0 {
		z, own = -u, 1-probability
	}
	var r, slope float64
	if z > -4 {
		// 1−probability is at least 3·10⁻⁵ here, so that it keeps 11 digits.
		r = special.NormalDensity(z) / own
		slope = r * (z + r)
	} else {
		_, r, slope = special.LogNormalCDFDerivatives(z)
	}
	a = r * scale
	if label == 0 {
		a = -a
	}
	return probability, a, min(slope, mostSlope) * scale * scale
}

// mostSlope keeps 1 − cb above 0 in rounded numbers, where cb ≤ slope × c/s < 1 is nearly 1: of a row that is
// 10⁵ standard deviations on the wrong side and is explained by one feature.
const mostSlope = 1 - 1e-10

// learnAgain is learnRow for later passes, where the row is part of q already
// and one copy of the average factor of its class stands for it, and for
// forgetting, where all sums carry a scale.
func (l *Learner) learnAgain(columns []int32, values []float64, label int, weight, offset float64) float64 {
	work := l.working(len(columns))
	biasWork, s, mean := l.cavities(work, columns, values, label, weight, offset)
	probability, a, b := site(mean, s, label)
	l.replace(&l.bias, &l.biasSums, &biasWork, label, weight, a, b)
	due := l.tilts.slots[:0]
	for k, slot := range columns {
		w := &work[k]
		if w.lambda <= 0 {
			l.events.SkippedCavities++
			continue
		}
		f := l.at(slot)
		x := linop.At(values, k)
		l.replace(f, l.classes(slot), w, label, weight, a*x, b*x*x)
		if f.due--; f.due&dueBits == 0 {
			due = append(due, slot)
		}
	}
	l.settleDue(due)
	return probability
}

// natural returns the precision and the shift of q(w_j).
func (l *Learner) natural(f *feature) (lambda, shift float64) {
	return float64(f.priorLambda) + f.lambda*l.scale, float64(f.priorShift) + f.shift*l.scale
}

// cavity stores in w the precision and the mean of q(w_j) without the row, and
// what was removed for it; the precision is not positive if nothing proper is left.
func (l *Learner) cavity(f *feature, c *factors, w *working, label int, weight float64) {
	lambda, shift := l.natural(f)
	w.removedLambda, w.removedShift = 0, 0
	switch {
	case !l.again:
	case c == nil && f.count > 0: // the average of both classes
		share := min(1, weight/float64(f.count))
		w.removedLambda, w.removedShift = f.lambda*share, f.shift*share
	case c != nil && c.count[label] > 0:
		share := min(1, weight/c.count[label])
		w.removedLambda, w.removedShift = c.lambda[label]*share, c.shift[label]*share
	}
	w.lambda = lambda - w.removedLambda
	// which no row goes without: less than that of the prior it has by rounding alone, beside a huge sum
	if f == &l.bias {
		w.lambda = max(w.lambda, float64(f.priorLambda))
	}
	w.mean = (shift - w.removedShift) / w.lambda
}

// replace puts the factor of the row in the place of what was removed.
func (l *Learner) replace(f *feature, c *factors, w *working, label int, weight, a, b float64) {
	factor := weight * w.lambda / (w.lambda - b) / l.scale
	count := 0.0
	if !l.again {
		count = weight / l.scale
	}
	f.trade(c, label, b*factor-w.removedLambda, (a+w.mean*b)*factor-w.removedShift, count)
}

// agedFeatures is how many prior factors forgetting makes anew for each row, at most.
const agedFeatures = 1000

// pass lets time pass until a row comes.
func (l *Learner) pass(until, halfLife float64) {
	switch {
	case until < l.now:
		l.events.LateRows++
	case until > l.now:
		if !math.IsInf(l.now, -1) { // before the first row there is nothing to forget
			l.forget(math.Exp2((l.now - until) / halfLife))
		}
		l.now = until
	}
}

// forget lets the evidence so far count a little less: the scale shrinks, and is
// moved into the sums before it underflows.
func (l *Learner) forget(left float64) {
	// A prior factor answers to the evidence that there was when it was made. Each is made anew as its feature
	// occurs; where much is forgotten they all are, for a share of the time that rows take.
	if l.aged *= left; l.aged < 0.5 && (l.rows-l.ageRows)*agedFeatures >= int64(l.slots) {
		defer l.Refresh()
		l.aged, l.ageRows = 1, l.rows
	}
	l.scale *= left
	if l.scale > smallestScale {
		return
	}
	l.rescale(l.scale)
}

// smallestScale leaves counts over it in the range of single precision.
const smallestScale = 1e-25

// each visits the features that have been seen, in the order of their slots.
func (l *Learner) each(visit func(f *feature)) {
	for slot := range l.slots {
		if f := l.at(int32(slot)); f.due != 0 {
			visit(f)
		}
	}
}

// score returns the probability of class 1.
func (l *Learner) score(columns []int32, values []float64, offset float64) float64 {
	moments := func(f *feature) (mean, variance float64) {
		if f.due == 0 {
			return 0, l.prior.inclusion * l.prior.slab
		}
		lambda, shift := l.natural(f)
		return shift / lambda, 1 / lambda
	}
	mean, variance := moments(&l.bias)
	mean += offset
	for k, slot := range columns {
		m, v := moments(l.at(slot))
		x := linop.At(values, k)
		mean += x * m
		variance += x * x * v
	}
	return special.NormalCDF(mean / math.Sqrt(1+variance))
}
