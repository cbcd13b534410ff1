package sep

import "math"

// EndPass says that the next row begins another pass over the same data: rows
// then replace a copy of the average factor of their class instead of adding to it.
func (l *Learner) EndPass() {
	l.endBatch()
	l.again = true
}

// Finish ends the mini-batch under way and brings everything up to date, for
// results.
func (l *Learner) Finish() {
	l.endBatch()
	l.Refresh()
}

// count counts the appearances of the features of a row, for KnownCounts: call it
// for every row before the first is learned.
func (l *Learner) count(columns []int32, label int, weight float64) {
	for _, slot := range columns {
		f := l.at(slot)
		if f.due == 0 {
			l.begin(f)
		}
		f.count[label] += weight
	}
	l.bias.count[label] += weight
}

// Weight is the posterior of one weight.
type Weight struct {
	Mean, Variance float64 // of w, the chance of 0 included
	Inclusion      float64 // P(w ≠ 0)
}

// Feature returns the posterior of the weight of a slot; that of a slot not met
// yet is the prior.
func (l *Learner) Feature(slot int) Weight {
	if slot < l.slots {
		if f := l.at(int32(slot)); f.due != 0 {
			w := l.weight(f)
			w.Inclusion = 1 / (1 + math.Exp(-float64(f.logit)))
			return w
		}
	}
	return Weight{0, l.prior.inclusion * l.prior.slab, l.prior.inclusion}
}

func (l *Learner) weight(f *feature) Weight {
	lambda := float64(f.priorLambda) + (f.lambda[0]+f.lambda[1])*l.scale
	shift := float64(f.priorShift) + (f.shift[0]+f.shift[1])*l.scale
	return Weight{Mean: shift / lambda, Variance: 1 / lambda, Inclusion: 1}
}

// Bias returns the posterior of the bias.
func (l *Learner) Bias() Weight { return l.weight(&l.bias) }

// Prior returns ρ0 and τ0 as learned or held.
func (l *Learner) Prior() (inclusion, slab float64) { return l.prior.inclusion, l.prior.slab }

// Rows returns the number of rows learned, in all passes.
func (l *Learner) Rows() int64 { return l.rows }

// Features returns the number of features seen, and of those selected: whose
// inclusion probability, as of the last refresh, is above ½.
func (l *Learner) Features() (seen, selected int) { return l.features, l.selected }

// Events returns what has been counted.
func (l *Learner) Events() Events { return l.events }

// Hyper returns what was stated about ρ0 and τ0.
func (l *Learner) Hyper() Hyper { return l.hyper }
