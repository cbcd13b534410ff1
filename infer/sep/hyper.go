package sep

import (
	"math"

	"github.com/credence-ml/credence/param"
)

const (
	// ρ0 and τ0 are first learned early, because factors of the rows before carry for good what is
	// wrong with the start, but not from a handful of rows of one class, which say that every
	// feature in them is decisive (5 % positive clicks: log loss 0.276, where it is 0.170).
	firstEB   = 20      // rows
	rarerEB   = 12      // of them of the rarer class
	surelyEB  = 1000    // rows from which on the classes do not count
	growthEB  = 1.5     // between one time and the next
	sampleEB  = 1 << 15 // features that are looked at, evenly over the slots
	stepsEB   = 6       // scoring steps each time
	largestEB = 1.0     // of a step, in logit ρ0 and log τ0
	mostScore = 1e50    // of a feature, whose squares are summed: a slab mean of 10²⁵ slab deviations
)

// learnHyper learns ρ0 and τ0, and refreshes every feature.
func (l *Learner) learnHyper() {
	l.moveHyper(l.sampled())
	l.endLearningHyper()
}

// endLearningHyper sets the rows at which ρ0 and τ0 are learned next, and refreshes every feature.
func (l *Learner) endLearningHyper() {
	for l.nextEB <= l.rows {
		l.nextEB = int64(float64(l.nextEB) * growthEB)
	}
	l.Refresh()
}

// sampled is such that one feature in so many makes a sample that is large enough.
func (l *Learner) sampled() int { return (l.features + sampleEB - 1) / sampleEB }

// moveHyper moves ρ0 and τ0 towards where the site evidences of one feature in so many are largest, if there are rows
// enough.
func (l *Learner) moveHyper(stride int) {
	if l.rows < surelyEB && min(l.biasSums.count[0], l.biasSums.count[1]) < rarerEB {
		return
	}
	learnInclusion := l.hyper.Inclusion.State != param.Held
	learnSlab := l.hyper.Slab.State != param.Held
	if learnInclusion || learnSlab {
		for range stepsEB {
			if l.scoringStep(max(1, stride), learnInclusion, learnSlab) < 1e-3 {
				break
			}
		}
	}
}

// Refresh brings the prior factors and inclusion probabilities of all features
// up to date, and counts those selected.
func (l *Learner) Refresh() {
	var slots [tiltedMany]int32
	seen := slots[:0]
	for slot := range int32(l.slots) {
		if l.at(slot).due == 0 {
			continue
		}
		if seen = append(seen, slot); len(seen) == tiltedMany {
			l.refresh(seen)
			seen = seen[:0]
		}
	}
	l.refresh(seen)
}

// scoringStep takes one step of scoring on the sum of the log evidences
//
//	log Z_j = log[ρ0 N(m_j|0, c_j+τ0) + (1−ρ0) N(m_j|0, c_j)]
//
// in logit ρ0 and log τ0: the curvature is approximated by the sum of the outer
// products of the features' gradients, which is never indefinite (Berndt, Hall,
// Hall & Hausman 1974). It returns the length of the step.
func (l *Learner) scoringStep(stride int, learnInclusion, learnSlab bool) float64 {
	p := &l.prior
	logSlab := math.Log(p.slab)
	largestLogit := math.Log(largestInclusion / (1 - largestInclusion))
	if p.logit > largestLogit { // a start above the bound lifts it
		largestLogit = p.logit
	}
	// The weak priors.
	startLogit := math.Log(startInclusion / (1 - startInclusion))
	gi, gs := -(p.logit-startLogit)/(logitScale*logitScale), -(logSlab-math.Log(startSlab))/(logSlabScale*logSlabScale)
	ii, is, ss := 1.0/(logitScale*logitScale), 0.0, 1.0/(logSlabScale*logSlabScale)
	l.tilts.slots = l.tilts.slots[:0]
	for slot := 0; slot < l.slots; slot += stride {
		if l.at(int32(slot)).due != 0 {
			l.tilts.slots = append(l.tilts.slots, int32(slot))
		}
	}
	l.eachTilted(l.tilts.slots, func(_ *feature, lambda, shift float64, t *tilt, exp float64) {
		alpha := 1 / (1 + t.odds*exp)
		i := alpha - p.inclusion
		s := alpha * 0.5 * t.variance * (shift*shift*t.variance/p.slab - lambda)
		s = max(-mostScore, min(s, mostScore))
		gi += i
		gs += s
		ii += i * i
		is += i * s
		ss += s * s
	})
	var di, ds float64
	switch {
	case !learnSlab:
		di = gi / ii
	case !learnInclusion || p.logit > largestLogit-1e-9 && gi > 0:
		ds = gs / ss // ρ0 is held, or at its bound and pressed against it
	default:
		det := ii*ss - is*is
		if det > 1e-9*ii*ss {
			di, ds = (ss*gi-is*gs)/det, (ii*gs-is*gi)/det
		} else {
			di, ds = gi/(2*ii), gs/(2*ss)
		}
	}
	length := math.Hypot(di, ds)
	if length > largestEB {
		di, ds = di*largestEB/length, ds*largestEB/length
	}
	inclusion := 1 / (1 + math.Exp(-min(max(p.logit+di, smallestLogit), largestLogit)))
	slab := math.Exp(min(max(logSlab+ds, -largestLogSlab), largestLogSlab))
	if !learnInclusion { // the same bits as before
		inclusion = l.hyper.Inclusion.Value
	}
	if !learnSlab {
		slab = l.hyper.Slab.Value
	}
	l.setPrior(inclusion, slab)
	return length
}
