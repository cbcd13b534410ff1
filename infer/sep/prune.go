package sep

import (
	"slices"

	"github.com/credence-ml/credence/ability"
)

var _ ability.Pruner = (*Learner)(nil)

// PruneEvery implements [ability.Pruner].
func (l *Learner) PruneEvery() int64 {
	switch {
	case l.cfg.Features > 0:
		return CrowdEvery
	case l.cfg.Prune > 0:
		return PruneEvery
	}
	return 0
}

// crowd returns the number of occurrences below which features are dropped, so that three quarters of
// Config.Features stay, and how many of those with just so many go too; −1 where features are not too many.
func (l *Learner) crowd() (below float64, more int) {
	if l.cfg.Features == 0 || l.slots <= l.cfg.Features {
		return -1, 0
	}
	counts := make([]float64, 0, l.slots)
	for slot := range int32(l.slots) {
		f := l.at(slot)
		counts = append(counts, float64(f.count))
	}
	slices.Sort(counts)
	drop := l.slots - max(1, 3*l.cfg.Features/4)
	below = counts[drop]
	first, _ := slices.BinarySearch(counts, below)
	return below, drop - first
}

// Prune drops the features that have occurred PruneAfter times and whose
// inclusion probability is below Config.Prune, and where there are more than Config.Features
// those that have occurred least, of equals the ones met first, and moves the others down. It
// returns the slots that stay, in order, or nil if all do: the owner of the
// slots' keys has to follow. A feature that comes back begins anew.
func (l *Learner) Prune() []int32 {
	if l.cfg.Prune == 0 && l.cfg.Features == 0 {
		return nil
	}
	crowd, more := l.crowd()
	odds := (1 - l.cfg.Prune) / l.cfg.Prune
	kept := make([]int32, 0, l.slots)
	for slot := range int32(l.slots) {
		f := l.at(slot)
		count := float64(f.count)
		rare := count < crowd
		if count == crowd && more > 0 {
			rare = true
			more--
		}
		if rare || f.due != 0 && count*l.scale >= PruneAfter && l.prior.tilted(f.lambda*l.scale, f.shift*l.scale).odds > odds {
			if f.due != 0 {
				l.features--
				if f.due&selectedFlag != 0 {
					l.selected--
				}
			}
			continue
		}
		if len(kept) < int(slot) {
			to := int32(len(kept))
			*l.at(to) = *f
			if l.byClass != nil {
				*l.classes(to) = *l.classes(slot)
			}
		}
		kept = append(kept, slot)
	}
	if len(kept) == l.slots {
		return nil
	}
	for slot := len(kept); slot < l.slots; slot++ {
		*l.at(int32(slot)) = feature{}
		if l.byClass != nil {
			*l.classes(int32(slot)) = factors{}
		}
	}
	l.slots = len(kept)
	l.early = early{stage: sample} // of other slots
	l.dropClasses()
	l.chunks = l.chunks[:(l.slots+chunkSize-1)/chunkSize]
	return kept
}
