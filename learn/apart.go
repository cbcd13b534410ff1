package learn

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/safetensors"
)

// Rows without which a file tells too little of its own: fewer are of the rarer class, or in all. Factors are made at
// the means of their time, and those of the first rows of a file at means that know nothing of other files.
const (
	leastApart      = 30_000
	leastRarerApart = 50
)

// CheckApart refuses, as [fit.ErrMisuse], options whose learners of files apart cannot be brought together.
func (l *Learner) CheckApart() error {
	misuse := func(option string, err error) error { return &fit.Misuse{Option: option, Err: err} }
	if able, ok := l.online.(interface{ Unites() error }); !ok {
		return misuse("engine", fmt.Errorf("%s cannot learn files apart: use sep, or learn on one machine", l.engine.Engine))
	} else if err := able.Unites(); err != nil {
		return misuse("engine", fmt.Errorf("%s: %w", l.engine.Engine, err))
	}
	plan := keyed.Plan{Roles: frame.Roles{Missing: l.options.Missing}}
	switch {
	case l.engine.Passes > 1:
		return misuse("engine", errors.New("files apart are learned in one pass: leave passes out"))
	case l.options.HoldOut > 0:
		return misuse("hold_out", errors.New("files apart have no pass in common that could be measured: keep some rows in a file of their own, and evaluate the model by it"))
	case plan.Fills():
		return misuse("missing", errors.New("missing values are filled by the means of the rows before, which each file would have of its own: leave such rows out by drop, or learn on one machine"))
	}
	return nil
}

// Enough refuses rows that are too few to be learned apart from others.
func (l *Learner) Enough() error {
	if err := l.wait(); err != nil {
		return err
	}
	if c := &l.counts; c.Rows < leastApart && min(c.Positives, c.Weight-c.Positives) < leastRarerApart {
		return fmt.Errorf("its %d rows, of which those of the rarer class weigh %.6g, tell too little by themselves: join files until each has %d rows, or %d of the rarer class",
			c.Rows, min(c.Positives, c.Weight-c.Positives), leastApart, leastRarerApart)
	}
	return nil
}

// Leave ends the learning of a file that is one of several, for [Learner.Unite]. rows says whether the first rows
// stay, by which the spread of the weights is judged.
func (l *Learner) Leave(rows bool) error {
	online, err := l.uniter()
	if err != nil {
		return err
	}
	online.Leave(rows)
	l.measured = &metric.Progressive{}
	return nil
}

// uniter is the engine of a learner that is whole, as one that can be brought together with others.
func (l *Learner) uniter() (ability.Uniter, error) {
	online, ok := l.online.(ability.Uniter)
	if err := l.whole(); err != nil || ok {
		return online, err
	}
	return nil, cmp.Or(l.CheckApart(), fmt.Errorf("learn: %T cannot be brought together with others", l.online))
}

// Encode returns the state of the learner, of which Decode makes the same.
func (l *Learner) Encode() ([]byte, error) {
	document, tensors, err := l.state(credence.Position{})
	if err != nil {
		return nil, err
	}
	var state bytes.Buffer
	err = kind.Encode(&state, document, tensors)
	return state.Bytes(), err
}

// Decode returns the learner that Encode wrote. Options must be those that it was made with.
func Decode(state []byte, options fit.Options) (*Learner, error) {
	r, err := safetensors.NewReader(bytes.NewReader(state), int64(len(state)))
	var doc document
	if err == nil {
		err = kind.Decode(r, &doc)
	}
	if err != nil {
		return nil, err
	}
	l, err := New(options)
	if err != nil {
		return nil, err
	}
	return l, l.restore(&doc, r)
}

// Unite adds what another learner, which was left too, knows of other rows under the same options: the evidence adds
// up, and the prior counts once. [Learner.United] ends it.
func (l *Learner) Unite(other *Learner) error {
	if other == nil {
		return errors.New("learn: there is no other learner to unite with")
	}
	online, err := l.uniter()
	if err = cmp.Or(err, other.whole()); err != nil {
		return err
	}
	theirs := other.asked()
	if err := l.asked().same(&theirs); err != nil {
		return err
	}
	c, o := &l.counts, &other.counts
	if err := online.Unite(other.online, l.index.Unite(l.names, other.index, other.names, o.Slots)); err != nil {
		return err
	}
	c.Slots, c.Rows, c.PassRows = l.index.Len(), c.Rows+o.Rows, c.PassRows+o.PassRows
	c.Malformed, c.Dropped = c.Malformed+o.Malformed, c.Dropped+o.Dropped
	c.Positives, c.Weight = c.Positives+o.Positives, c.Weight+o.Weight
	c.Files = max(1, c.Files) + 1
	return nil
}

// United ends learning files apart: what is learned of the prior is learned from all of them. [From] goes on from the
// checkpoint.
func (l *Learner) United() error {
	online, err := l.uniter()
	if err != nil {
		return err
	}
	online.United()
	l.counts.Files = max(1, l.counts.Files)
	l.finished = true
	return nil
}
