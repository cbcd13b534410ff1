package sep

import "github.com/credence-ml/credence"

var (
	_ credence.Continuer = (*Learner)(nil)
	_ credence.Continuer = (*Sharded)(nil)
)

// Continue implements [credence.Continuer]: the likelihood factors so far count share of what they did, and
// those of rows to come are added to them. ρ0 and τ0 are learned on.
func (l *Learner) Continue(share float64) {
	l.endBatch()
	l.again = false
	if share == 1 {
		return
	}
	if l.early.stage == filling {
		l.settle() // its rows would count in full
	}
	l.early = early{stage: sample}
	l.rescale(share * l.scale)
	l.Refresh()
}

// rescale multiplies all likelihood sums by a share and begins a new scale.
func (l *Learner) rescale(share float64) {
	rescale := func(f *feature) {
		for label := range 2 {
			f.lambda[label] *= share
			f.shift[label] *= share
			f.count[label] *= share
		}
	}
	l.each(rescale)
	rescale(&l.bias)
	l.scale = 1
}

// Continue is Learner.Continue.
func (s *Sharded) Continue(share float64) {
	s.merge()
	s.master.Continue(share)
	s.shards = nil
	s.start()
}
