package learn

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/metric"
)

// From returns a learner of new rows for which the posterior of the checkpoint at path is the prior: its
// evidence counts share of what it did, 0 < share ≤ 1, and what the engine learns of its prior is learned on.
// Options that are left out are those of the checkpoint; others are refused where they differ.
func From(path string, options fit.Options, share float64) (*Learner, error) {
	if !(share > 0 && share <= 1) {
		return nil, &fit.Misuse{Err: fmt.Errorf("a share of %v is not above 0 and at most 1", share)}
	}
	var doc document
	r, err := kind.Read(path, &doc)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a := &doc.Asked
	options.Formula, options.Target = cmp.Or(options.Formula, a.Formula), cmp.Or(options.Target, a.Target)
	options.Positive, options.Missing = cmp.Or(options.Positive, a.Positive), cmp.Or(options.Missing, frame.Policy(a.Missing))
	options.Engine, options.Prior = cmp.Or(options.Engine, a.Engine), cmp.Or(options.Prior, a.Prior)
	options.Time = cmp.Or(options.Time, a.Time)
	options.HoldOut = cmp.Or(options.HoldOut, a.HoldOut)
	options.DropTarget = options.DropTarget || a.DropTarget
	l, err := New(options)
	if err != nil {
		return nil, err
	}
	c := &doc.Counts
	c.Pass, c.PassRows, c.Malformed, c.Dropped, c.Before = 0, 0, 0, 0, c.Rows
	c.Sums = passSums{}
	if err := l.restore(&doc, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	l.measured = &metric.Progressive{}
	online, ok := l.online.(credence.Continuer)
	if !ok {
		return nil, &fit.Misuse{Err: fmt.Errorf("engine %s cannot start from what it knows: learn all rows at once", l.engine.Engine)}
	}
	online.Continue(share)
	return l, nil
}

// Known returns how many rows the run of the checkpoint at path has learned, with those it started from.
func Known(path string) (rows int64, err error) {
	var doc document
	if err := kind.Peek(path, &doc); err != nil {
		return 0, err
	}
	return doc.Counts.Rows, nil
}
