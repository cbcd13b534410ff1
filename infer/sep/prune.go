package sep

import (
	"math"

	"github.com/credence-ml/credence"
)

var _ credence.Pruner = (*Learner)(nil)

// PruneEvery implements [credence.Pruner].
func (l *Learner) PruneEvery() int64 {
	if l.cfg.Prune == 0 {
		return 0
	}
	return PruneEvery
}

// Prune drops the features that have occurred PruneAfter times and whose
// inclusion probability is below Config.Prune, and moves the others down. It
// returns the slots that stay, in order, or nil if all do: the owner of the
// slots' keys has to follow. A feature that comes back begins anew.
func (l *Learner) Prune() []int32 {
	if l.cfg.Prune == 0 {
		return nil
	}
	logit := math.Log(l.cfg.Prune / (1 - l.cfg.Prune))
	kept := make([]int32, 0, l.slots)
	for slot := range int32(l.slots) {
		f := l.at(slot)
		occurred := (f.count[0] + f.count[1]) * l.scale
		if f.due != 0 && occurred >= PruneAfter && float64(f.logit) < logit {
			l.features--
			continue
		}
		if len(kept) < int(slot) {
			*l.at(int32(len(kept))) = *f
		}
		kept = append(kept, slot)
	}
	if len(kept) == l.slots {
		return nil
	}
	for slot := len(kept); slot < l.slots; slot++ {
		*l.at(int32(slot)) = feature{}
	}
	l.slots = len(kept)
	l.early = early{stage: sample} // of other slots
	l.chunks = l.chunks[:(l.slots+chunkSize-1)/chunkSize]
	return kept
}
