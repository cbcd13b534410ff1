package sep

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// EndPass says that the next row begins another pass over the same data, of which [Config.Passes] has the number: rows
// then replace a copy of the average factor of their class instead of adding to it.
func (l *Learner) EndPass() {
	l.endBatch()
	l.again = true
	if l.early.stage == filling {
		l.early.stage = whole
	}
}

// Finish ends the mini-batch under way and brings everything up to date, for
// results.
func (l *Learner) Finish() {
	l.endBatch()
	if l.early.stage != sample && l.replays() {
		l.replay(mostPasses, false, nil)
	}
	l.Refresh()
	l.coverage = l.cover()
}

// Release gives up the memory of the slots below a number, as far as it is that of no other, once all that is asked of
// the learner is what its other features are.
func (l *Learner) Release(slots int) {
	for k := range slots / chunkSize {
		l.chunks[k] = nil
		if l.byClass != nil {
			l.byClass[k] = nil
		}
	}
}

// count counts the appearances of the features of a row, for KnownCounts: call it
// for every row before the first is learned.
func (l *Learner) count(columns []int32, label int, weight float64) {
	for _, slot := range columns {
		f := l.at(slot)
		if f.due == 0 {
			l.begin(f)
		}
		f.gain(l.classes(slot), label, 0, 0, weight)
	}
	l.bias.gain(&l.biasSums, label, 0, 0, weight)
}

// Weight implements [credence.Online].
func (l *Learner) Weight(slot int) credence.Marginal {
	if slot == credence.InterceptSlot {
		return l.weight(&l.bias)
	}
	if slot < l.slots {
		if f := l.at(int32(slot)); f.due != 0 {
			return l.marginal(f)
		}
	}
	return credence.Marginal{Variance: l.prior.inclusion * l.prior.slab, Inclusion: l.prior.inclusion}
}

func (l *Learner) weight(f *feature) credence.Marginal {
	lambda, shift := l.natural(f)
	return credence.Marginal{Mean: shift / lambda, Variance: 1 / lambda, Inclusion: 1}
}

// marginal is the posterior of the weight of a feature that has been seen.
func (l *Learner) marginal(f *feature) credence.Marginal {
	w := l.weight(f)
	w.Inclusion = l.prior.tilted(f.lambda*l.scale, f.shift*l.scale).alpha
	return w
}

// Selected implements [credence.Online]: the features whose inclusion probability, as of the last
// refresh, is above that of [prior.SpikeSlab.SelectedAbove].
func (l *Learner) Selected(int) int { return l.selected }

// learned returns the prior with ρ0 and τ0 as learned or held, and the values of a report.
func (l *Learner) learned(p prior.SpikeSlab) (prior.SpikeSlab, []credence.Value) {
	p.Inclusion.Value, p.Slab.Value = l.prior.inclusion, l.prior.slab
	return p, []credence.Value{
		{Name: "inclusion", Value: l.prior.inclusion}, {Name: "slab", Value: l.prior.slab},
		{Name: "skipped_cavities", Value: float64(l.events.SkippedCavities)},
		{Name: "negative_sites", Value: float64(l.events.NegativeSites)},
	}
}

// warnings says where what was learned has met a bound.
func (l *Learner) warnings() (warnings []string) {
	const near = 1e-9
	p := &l.prior
	if l.hyper.Inclusion.State != param.Held {
		if p.inclusion > largestInclusion-near {
			warnings = append(warnings, fmt.Sprintf("inclusion was learned up to its bound, %v: nearly every weight is in the model; hold it by inclusion=%v, or start above by inclusion=~0.999", largestInclusion, largestInclusion))
		}
		if p.logit < smallestLogit+near {
			warnings = append(warnings, fmt.Sprintf("inclusion was learned down to its bound, %.1g: no weight is in the model; state one, such as inclusion=0.01", p.inclusion))
		}
	}
	if l.hyper.Slab.State != param.Held && math.Abs(math.Log(p.slab)) > largestLogSlab-near {
		warnings = append(warnings, fmt.Sprintf("slab was learned to its bound, %.1g: features may tell the classes apart without error; state one, such as slab=1", p.slab))
	}
	if l.events.LateRows > 0 {
		warnings = append(warnings, fmt.Sprintf("times of rows that lie before the row ahead of them: %d, for which no time has passed: sort the rows by time", l.events.LateRows))
	}
	return warnings
}

// Describe implements [credence.Online].
func (l *Learner) Describe(f *credence.Fitted) {
	model := &f.Members[0].Model
	f.Report.WeightCoverage, f.Report.Warnings = l.coverage, append(f.Report.Warnings, l.warnings()...)
	model.Likelihood = likelihood.Bernoulli{Link: likelihood.Probit}
	model.Prior, f.Report.Hyper = l.learned(prior.SpikeSlab{Inclusion: l.hyper.Inclusion, Slab: l.hyper.Slab})
	if l.events.SkippedCavities == 0 {
		f.Report.Hyper = slices.Delete(f.Report.Hyper, 2, 3)
	}
}
