package sep

import (
	"math"

	"github.com/credence-ml/credence/prior"
)

// factors are likelihood factors of one feature, summed by class.
type factors struct {
	lambda [2]float64 // L⁻, L⁺: their precisions
	shift  [2]float64 // their shifts
	count  [2]float64 // n⁻, n⁺: weights of the rows
}

// add adds others, each times scale.
func (f *factors) add(scale float64, others *factors) {
	for label := range 2 {
		f.lambda[label] += scale * others.lambda[label]
		f.shift[label] += scale * others.shift[label]
		f.count[label] += scale * others.count[label]
	}
}

// values are the numbers as a state has them; factorsOf is the inverse.
func (f *factors) values() [6]float64 {
	return [6]float64{f.lambda[0], f.lambda[1], f.shift[0], f.shift[1], f.count[0], f.count[1]}
}

func factorsOf(v []float64) factors {
	return factors{[2]float64(v), [2]float64(v[2:]), [2]float64(v[4:])}
}

// feature is the state of one feature: one cache line.
type feature struct {
	factors
	// The prior factor. Single precision is ample: its error is a part in 10⁷ of
	// itself, far below that of the approximation.
	priorLambda, priorShift float32
	logit                   float32 // of α, at the last refresh
	// due is the number of occurrences until the next refresh in the sequential
	// form, bookkeeping of the present batch in the other; 0 for a feature not seen yet.
	due uint32
}

// chunkSize features are allocated together: 2 MB.
const chunkSize = 1 << 15

type chunk [chunkSize]feature

// at returns the feature of a slot, which must have memory.
func (l *Learner) at(slot int32) *feature {
	return &l.chunks[uint32(slot)/chunkSize][uint32(slot)%chunkSize]
}

// reserve makes memory for the slots below n.
func (l *Learner) reserve(n int) {
	for len(l.chunks)*chunkSize < n {
		l.chunks = append(l.chunks, new(chunk))
	}
	l.slots = max(l.slots, n)
}

// spikeSlab holds what a refresh needs of ρ0 and τ0.
type spikeSlab struct {
	inclusion, slab float64
	logit           float64 // of inclusion
	lambda          float32 // 1/(ρ0 τ0): the factor of a feature not seen yet
	unseenLogit     float32
	selecting       float64 // logit of α above which a feature is selected
}

func newPrior(inclusion, slab float64) spikeSlab {
	return spikeSlab{inclusion, slab, logit(inclusion), float32(1 / (inclusion * slab)), float32(logit(inclusion)), 0}
}

func logit(p float64) float64 { return math.Log(p) - math.Log1p(-p) }

// setPrior makes ρ0 and τ0 what they are said to be.
func (l *Learner) setPrior(inclusion, slab float64) {
	l.prior = newPrior(inclusion, slab)
	l.prior.selecting = logit(prior.SpikeSlab{Inclusion: l.hyper.Inclusion.At(inclusion)}.SelectedAbove())
}

// selects says whether a feature is selected, by its α at the last refresh.
func (p *spikeSlab) selects(f *feature) bool { return float64(f.logit) > p.selecting }

// begin makes a feature that is seen for the first time: its prior factor has
// the moments of the prior, so that a mini-batch or row before the first refresh
// does not meet a flat q.
func (l *Learner) begin(f *feature) {
	f.priorLambda = l.prior.lambda
	f.logit = l.prior.unseenLogit
	f.due = 1
	l.features++
	if l.prior.selects(f) {
		l.selected++
	}
}

// moments of the tilted distribution prior × likelihood factors of one feature.
type moments struct {
	logit          float64 // of α
	alpha          float64
	mean, variance float64
}

// tilted returns the moments of [ρ0 N(w|0,τ0) + (1−ρ0) δ0] exp(hw − ½Λw²),
// written without 1/Λ so that a feature with little or no evidence needs no
// case of its own:
//
//	D = 1 + τ0 Λ,   logit α = logit ρ0 − ½ log D + ½ h² τ0/D,
//	slab mean h τ0/D,   slab variance τ0/D.
func (p *spikeSlab) tilted(lambda, shift float64) moments {
	d := 1 + p.slab*lambda
	slabVariance := p.slab / d
	slabMean := shift * slabVariance
	logit := p.logit - 0.5*math.Log(d) + 0.5*shift*slabMean
	odds := math.Exp(min(-logit, 700)) // against
	alpha := 1 / (1 + odds)
	return moments{
		logit: logit, alpha: alpha, mean: alpha * slabMean,
		variance: alpha * (slabVariance + slabMean*slabMean*(odds*alpha)),
	}
}

// smallestVariance bounds 1/variance of a feature that is as good as excluded:
// beyond it nothing changes in sums with other numbers, and float32 still holds it.
const smallestVariance = 1e-30

// refresh replaces the prior factor by the one that gives q(w_j) the moments of
// the tilted distribution. Where that would need a negative precision the old
// factor stays (the α of such a feature is near ½ and its slab mean large); the
// case is counted.
func (l *Learner) refresh(f *feature) {
	lambda := f.lambda[0] + f.lambda[1]
	shift := f.shift[0] + f.shift[1]
	if l.scale != 1 {
		lambda *= l.scale
		shift *= l.scale
	}
	t := l.prior.tilted(lambda, shift)
	before := l.prior.selects(f)
	f.logit = float32(max(-3e38, t.logit))
	if after := l.prior.selects(f); after && !before {
		l.selected++
	} else if before && !after {
		l.selected--
	}
	precision := 1 / max(t.variance, smallestVariance)
	priorLambda := precision - lambda
	if priorLambda <= 0 {
		l.events.NegativeSites++
		return
	}
	f.priorLambda = float32(priorLambda)
	f.priorShift = float32(t.mean*precision - shift)
}
