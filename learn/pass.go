package learn

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/metric"
)

// Pass tells how a pass over the rows went.
type Pass struct {
	Pass int `json:"pass"` // from 1
	// LogLoss is that of each row before it was learned in this pass; from the second pass on the passes before
	// have seen it.
	LogLoss metric.Score `json:"log_loss"`
	// HeldOut is the log loss of the rows that no pass learns, not a number where none is held out.
	HeldOut metric.Score `json:"held_out,omitzero"`
}

// passSums are the log losses of a pass, times the weights of the rows.
type passSums struct {
	Seen       int64   `json:"seen,omitempty"` // rows, those held out too
	Loss       float64 `json:"loss,omitempty"`
	Weight     float64 `json:"weight,omitempty"`
	HeldLoss   float64 `json:"held_loss,omitempty"`
	HeldWeight float64 `json:"held_weight,omitempty"`
}

// holdOut takes the targets of the rows that are held out away, so that they are scored alone, and returns
// the targets of all rows.
func (l *Learner) holdOut(b *credence.Batch) (targets []float64) {
	every := l.options.HoldOut
	if every == 0 {
		return b.Target
	}
	l.targets = append(l.targets[:0], b.Target...)
	for i := range b.Target {
		if (l.counts.Sums.Seen+int64(i)+1)%every == 0 {
			b.Target[i] = math.NaN()
		}
	}
	return l.targets
}

// addLoss adds the loss of a row, which may be held out.
func (s *passSums) addLoss(loss, weight float64, held bool) {
	loss *= weight
	if held {
		s.HeldLoss, s.HeldWeight = s.HeldLoss+loss, s.HeldWeight+weight
	} else {
		s.Loss, s.Weight = s.Loss+loss, s.Weight+weight
	}
}

// endPass tells how the pass went, and begins the sums of the next.
func (l *Learner) endPass() {
	s := &l.counts.Sums
	if l.OnPass != nil {
		// not a number without rows
		mean := func(loss, weight float64) metric.Score { return metric.Score(loss / weight) }
		l.OnPass(Pass{l.counts.Pass, mean(s.Loss, s.Weight), mean(s.HeldLoss, s.HeldWeight)})
	}
	if l.counts.Pass < l.engine.Passes {
		s.Seen = 0
	}
	*s = passSums{Seen: s.Seen} // where no pass follows, rows to come are held out by it
}
