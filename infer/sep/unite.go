package sep

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

var _ ability.Uniter = (*Learner)(nil)

// Unites implements [ability.Uniter]: what depends on the order of all rows is refused.
func (l *Learner) Unites() error {
	switch {
	case l.cfg.forgets():
		return errors.New("forget and half_life go by which rows came before, and files that are learned apart have no order: leave them out")
	case l.cfg.Prune > 0 || l.cfg.Features > 0:
		return errors.New("prune and features drop what has occurred least, and no file knows what others have: leave them out")
	}
	return nil
}

// Leave implements [ability.Uniter].
func (l *Learner) Leave(rows bool) {
	l.endBatch()
	if l.early.stage != sample {
		if l.replays() {
			l.replay(mostPasses, false, nil)
		}
		l.early.cut()
		l.early.stage = sample
		l.dropClasses()
	}
	if !rows {
		l.early = early{stage: sample}
	}
	l.Refresh()
}

// Unite implements [ability.Uniter]: the sums of the likelihood factors add up.
func (l *Learner) Unite(other credence.Online, slots []int32) error {
	o, ok := other.(*Learner)
	if !ok || o == nil || o.slots > len(slots) {
		return fmt.Errorf("sep: %d features of %T cannot be added", len(slots), other)
	}
	if len(slots) > 0 {
		l.reserve(int(slices.Max(slots)) + 1)
	}
	for i, slot := range slots[:o.slots] {
		from, f := o.at(int32(i)), l.at(slot)
		if from.due == 0 {
			continue
		}
		if f.due == 0 {
			l.begin(f)
		}
		f.lambda, f.shift, f.count = f.lambda+from.lambda, f.shift+from.shift, single(float64(f.count)+float64(from.count))
	}
	for label := range 2 {
		l.biasSums.lambda[label] += o.biasSums.lambda[label]
		l.biasSums.shift[label] += o.biasSums.shift[label]
		l.biasSums.count[label] += o.biasSums.count[label]
	}
	l.bias.total(&l.biasSums)
	l.rows += o.rows
	l.events.SkippedCavities += o.events.SkippedCavities
	l.events.NegativeSites += o.events.NegativeSites
	return nil
}

// United implements [ability.Uniter]: ρ0 and τ0 move until they rest, by all features, which is once.
func (l *Learner) United() {
	for range mostPasses {
		before := l.prior
		l.moveHyper(1)
		if math.Abs(l.prior.logit-before.logit)+math.Abs(math.Log(l.prior.slab/before.slab)) < rested {
			break
		}
	}
	l.replaying = true // prior factors go by the likelihood factors alone, whichever file met a feature first
	l.endLearningHyper()
	l.replaying = false
}

// rested is how far logit ρ0 and log τ0 move, in steps of which each may be as long, where they are at rest.
const rested = 1e-3
