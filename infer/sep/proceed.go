package sep

import (
	"github.com/credence-ml/credence/ability"
)

var _ ability.Continuer = (*Learner)(nil)

// Continue implements [ability.Continuer]: the likelihood factors so far count share of what they did, and
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
	l.dropClasses()
	l.rescale(share * l.scale)
	l.Refresh()
}

// rescale multiplies all likelihood sums by a share and begins a new scale.
func (l *Learner) rescale(share float64) {
	rescale := func(f *feature, c *factors) {
		if c == nil {
			f.lambda, f.shift, f.count = f.lambda*share, f.shift*share, float32(float64(f.count)*share)
			return
		}
		for label := range 2 {
			c.lambda[label] *= share
			c.shift[label] *= share
			c.count[label] *= share
		}
		f.total(c)
	}
	for slot := range int32(l.slots) {
		rescale(l.at(slot), l.classes(slot))
	}
	rescale(&l.bias, &l.biasSums)
	l.scale = 1
}
