package sep

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/prior"
)

// factors are likelihood factors of one feature, summed by class.
type factors struct {
	lambda [2]float64 // L⁻, L⁺: their precisions
	shift  [2]float64 // their shifts
	count  [2]float64 // n⁻, n⁺: weights of the rows
}

// values are the numbers as a state has them; factorsOf is the inverse.
func (f *factors) values() [6]float64 {
	return [6]float64{f.lambda[0], f.lambda[1], f.shift[0], f.shift[1], f.count[0], f.count[1]}
}

func factorsOf(v []float64) factors {
	return factors{[2]float64(v), [2]float64(v[2:]), [2]float64(v[4:])}
}

// feature is the state of one feature: half a cache line.
type feature struct {
	lambda, shift float64 // sums of the likelihood factors of both classes
	// The prior factor. Single precision is ample: its error is a part in 10⁷ of
	// itself, far below that of the approximation.
	priorLambda, priorShift float32
	count                   float32 // weights of the rows; they say when to refresh, so that it may stand still at 10⁷
	// due is the number of occurrences until the next refresh in the sequential
	// form, bookkeeping of the present batch in the other, with flags above dueBits;
	// 0 for a feature not seen yet.
	due uint32
}

const (
	touchedFlag  = 1 << 31
	selectedFlag = 1 << 30 // at the last refresh
	dueBits      = selectedFlag - 1
)

// gain adds what a row gives to a feature, whose sums by class are in c if they are kept.
func (f *feature) gain(c *factors, label int, lambda, shift, weight float64) {
	if c == nil {
		f.add(lambda, shift, weight)
		return
	}
	c.lambda[label] += lambda
	c.shift[label] += shift
	c.count[label] += weight
	f.total(c)
}

// add is gain where sums by class are not kept.
func (f *feature) add(lambda, shift, weight float64) {
	f.lambda += lambda
	f.shift += shift
	f.count = single(float64(f.count) + weight)
}

// trade is gain where what was taken out is part of it. A sum of precisions is below 0 by rounding alone, beside a huge
// one.
func (f *feature) trade(c *factors, label int, lambda, shift, weight float64) {
	if f.gain(c, label, lambda, shift, weight); c == nil {
		f.lambda = max(0, f.lambda)
	} else if c.lambda[label] < 0 {
		c.lambda[label] = 0
		f.total(c)
	}
}

// total makes the sums those of both classes.
func (f *feature) total(c *factors) {
	f.lambda, f.shift, f.count = c.lambda[0]+c.lambda[1], c.shift[0]+c.shift[1], single(c.count[0]+c.count[1])
}

// single is a count in single precision, which stays finite.
func single(count float64) float32 {
	if count > math.MaxFloat32 {
		return math.MaxFloat32
	}
	return float32(count)
}

const (
	featureShift = 5 // a feature has 1 << featureShift bytes
	chunkSize    = kernel.PrefetchBytes >> featureShift
)

type (
	chunks     []*chunk
	chunk      [chunkSize]feature
	classChunk [chunkSize]factors
)

// at returns the feature of a slot, which must have memory.
func (c chunks) at(slot int32) *feature { return &c[uint32(slot)/chunkSize][uint32(slot)%chunkSize] }

func (l *Learner) at(slot int32) *feature { return l.chunks.at(slot) }

// classes returns the sums by class of a slot, nil where they are not kept.
func (l *Learner) classes(slot int32) *factors {
	if l.byClass == nil {
		return nil
	}
	return &l.byClass[uint32(slot)/chunkSize][uint32(slot)%chunkSize]
}

// reserve makes memory for the slots below n.
func (l *Learner) reserve(n int) {
	for len(l.chunks)*chunkSize < n {
		l.chunks = append(l.chunks, new(chunk))
	}
	for l.byClass != nil && len(l.byClass)*chunkSize < n {
		l.byClass = append(l.byClass, new(classChunk))
	}
	l.slots = max(l.slots, n)
}

// needsClasses says whether sums by class are of use: for rows that are learned again.
func (l *Learner) needsClasses() bool {
	return l.cfg.KnownCounts || l.cfg.Passes > 1 || l.early.stage != sample && l.replays()
}

// dropClasses gives the sums by class up where they are of no more use.
func (l *Learner) dropClasses() {
	if !l.needsClasses() {
		l.byClass = nil
	}
}

// spikeSlab holds what a refresh needs of ρ0 and τ0.
type spikeSlab struct {
	inclusion, slab float64
	logit           float64 // of inclusion
	odds            float64 // against it
	lambda          float32 // 1/(ρ0 τ0): the factor of a feature not seen yet
	selecting       float64 // odds against α below which a feature is selected
}

func newPrior(inclusion, slab float64) spikeSlab {
	return spikeSlab{inclusion, slab, logit(inclusion), (1 - inclusion) / inclusion, float32(1 / (inclusion * slab)), 1}
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// setPrior makes ρ0 and τ0 what they are said to be.
func (l *Learner) setPrior(inclusion, slab float64) {
	l.prior = newPrior(inclusion, slab)
	above := prior.SpikeSlab{Inclusion: l.hyper.Inclusion.At(inclusion)}.SelectedAbove()
	l.prior.selecting = (1 - above) / above
}

// begin makes a feature that is seen for the first time: its prior factor has
// the moments of the prior, so that a mini-batch or row before the first refresh
// does not meet a flat q.
func (l *Learner) begin(f *feature) {
	f.priorLambda = l.prior.lambda
	f.due = 1
	l.features++
	if l.prior.odds < l.prior.selecting {
		f.due |= selectedFlag
		l.selected++
	}
}

// moments of the tilted distribution prior × likelihood factors of one feature.
type moments struct {
	odds           float64 // against α
	alpha          float64
	mean, variance float64
}

// tilt is [ρ0 N(w|0,τ0) + (1−ρ0) δ0] exp(hw − ½Λw²) less the exponential that its moments need,
// written without 1/Λ so that a feature with little or no evidence needs no
// case of its own:
//
//	D = 1 + τ0 Λ,   odds against α = (1−ρ0)/ρ0 √D exp(−½ h² τ0/D),
//	slab mean h τ0/D,   slab variance τ0/D.
type tilt struct{ odds, mean, variance float64 }

// tilt returns the tilted distribution and the exponent.
func (p *spikeSlab) tilt(lambda, shift float64) (t tilt, exponent float64) {
	d := 1 + p.slab*lambda
	t.variance = p.slab / d
	t.mean = shift * t.variance
	t.odds = p.odds * math.Sqrt(d)
	return t, -0.5 * shift * t.mean
}

// moments returns those of the tilted distribution with the exponential.
func (t *tilt) moments(exp float64) moments {
	odds := t.odds * exp
	alpha := 1 / (1 + odds)
	return moments{
		odds: odds, alpha: alpha, mean: alpha * t.mean,
		variance: alpha * (t.variance + t.mean*t.mean*(odds*alpha)),
	}
}

// includes says whether a uniform number is below α, that is, whether the odds against α are below its own. The
// exponential lies between 1 + exponent and 1, which decides nearly always.
func (t *tilt) includes(uniform, exponent float64) bool {
	against := (1 - uniform) / uniform
	switch {
	case t.odds < against:
		return true
	case t.odds*(1+exponent) >= against:
		return false
	}
	return t.odds*math.Exp(exponent) < against
}

// tilted returns the moments of the tilted distribution.
func (p *spikeSlab) tilted(lambda, shift float64) moments {
	t, exponent := p.tilt(lambda, shift)
	return t.moments(math.Exp(exponent))
}

// tiltedMany is how many tilted distributions are worked out together.
const tiltedMany = 64

// tilts is the memory for that.
type tilts struct {
	slots    []int32
	all      [tiltedMany]tilt
	exponent [tiltedMany]float64
}

// eachTilted visits the features of slots with their sums, scaled, and the moments of their tilted distributions.
func (l *Learner) eachTilted(slots []int32, visit func(f *feature, lambda, shift float64, t *tilt, exp float64)) {
	b := &l.tilts
	for len(slots) > 0 {
		part := slots[:min(len(slots), tiltedMany)]
		slots = slots[len(part):]
		for k, slot := range part {
			f := l.at(slot)
			b.all[k], b.exponent[k] = l.prior.tilt(f.lambda*l.scale, f.shift*l.scale)
		}
		kernel.Exp(b.exponent[:len(part)], b.exponent[:len(part)])
		for k, slot := range part {
			f := l.at(slot)
			visit(f, f.lambda*l.scale, f.shift*l.scale, &b.all[k], b.exponent[k])
		}
	}
}

// smallestVariance bounds 1/variance of a feature that is as good as excluded:
// beyond it nothing changes in sums with other numbers, and float32 still holds it.
const smallestVariance = 1e-30

// leastPrior is the least precision of a prior factor, in units of the slab's: what holds a feature once its evidence
// is forgotten.
const leastPrior = 0.01

// refresh replaces the prior factors of features by those that give q(w_j) the moments of
// the tilted distribution. Where that would need a negative precision (the α of such a feature is
// near ½ and its slab mean large) the old factor stays, as in the report. Where rows are learned again it has next
// to none instead, and gives q the mean alone: so it depends on the likelihood factors and not on their order. A
// stream predicts worse so, for its rows come once (click logs: log loss 2 % above). The case is counted.
func (l *Learner) refresh(slots []int32) {
	l.eachTilted(slots, func(f *feature, lambda, shift float64, tilted *tilt, exp float64) {
		t := tilted.moments(exp)
		if after := t.odds < l.prior.selecting; after != (f.due&selectedFlag != 0) {
			if f.due ^= selectedFlag; after {
				l.selected++
			} else {
				l.selected--
			}
		}
		precision := 1 / max(t.variance, smallestVariance)
		priorLambda := precision - lambda
		if priorLambda <= 0 {
			if l.events.NegativeSites++; !l.replaying {
				return
			}
		}
		if least := leastPrior / l.prior.slab; priorLambda < least {
			priorLambda, precision = least, lambda+least
		}
		f.priorLambda = float32(priorLambda)
		f.priorShift = float32(max(-math.MaxFloat32, min(t.mean*precision-shift, math.MaxFloat32)))
	})
}
