package sep

import (
	"errors"

	"github.com/credence-ml/credence/ability"
)

var _ ability.Continuer = (*Learner)(nil)

// Continues says why a learner with these options cannot take what it knows for the prior of other rows, nil where it
// can: a later pass takes out the average factor of all rows that a feature has had, and puts in that of a new one.
func (l *Learner) Continues() error {
	if l.cfg.Passes > 1 {
		return errors.New("later passes would put the new rows in the place of those learned before: learn both in one run, or start from a model of one pass")
	}
	return nil
}

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

// rescale multiplies all likelihood sums, with those of the present mini-batch, by a share and begins a new scale.
func (l *Learner) rescale(share float64) {
	rescale := func(f *feature, c *factors) {
		if c == nil {
			f.lambda, f.shift, f.count = f.lambda*share, f.shift*share, float32(float64(f.count)*share)
			return
		}
		c.multiply(share)
		f.total(c)
	}
	for slot := range int32(l.slots) {
		rescale(l.at(slot), l.classes(slot))
	}
	rescale(&l.bias, &l.biasSums)
	for i := range l.batch.changes {
		l.batch.changes[i].multiply(share)
	}
	l.batch.bias.multiply(share)
	l.scale = 1
}

// multiply multiplies the sums by a share.
func (f *factors) multiply(share float64) {
	for label := range 2 {
		f.lambda[label] *= share
		f.shift[label] *= share
		f.count[label] *= share
	}
}
