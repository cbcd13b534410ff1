package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/score"
)

// bindKeys finds the columns of a model that was learned online, whose rows are scored as they are read.
func (f *File) bindKeys(keys *score.Keys) (err error) {
	schema := f.table.Schema()
	if schema.Label != keys.Sparse() {
		return f.named(errors.New("this and the data that the model was learned from are of different formats, one with named columns and one with numbered features: give data of the same format"))
	}
	if len(f.options.Keep) > 0 && schema.Label && !f.table.Tagged() {
		return errors.New("--keep copies columns of a table, and this text has none: leave it out, rows keep their order")
	}
	if err = f.table.CheckTexts(f.options.Keep); err != nil {
		return err
	}
	if f.columns, err = keys.Columns(schema); err != nil {
		return f.named(err)
	}
	f.binding = keys
	f.addKept()
	return nil
}

// bindColumns finds the columns of a model of fit, whose rows are scored as they are read.
func (f *File) bindColumns(context.Context) error {
	if err := f.table.CheckTexts(f.options.Keep); err != nil {
		return err
	}
	columns, err := f.scorer.Columns(f.table.Schema(), f.options.Targets)
	if err != nil {
		return f.named(err)
	}
	f.columns = append([]string{}, columns...) // none at all, where the model needs none
	if f.binding, err = f.scorer.Live(columns, f.options.Targets); err != nil {
		return err
	}
	f.addKept()
	return nil
}

// addKept has the columns to copy read, too.
func (f *File) addKept() {
	for _, name := range f.options.Keep {
		if written := dataset.Written(name); !slices.Contains(f.columns, written) {
			f.columns = append(f.columns, written)
		}
	}
}

// scoreRuns scores rows as they are read. Behind one that cannot be taken reading goes on for what else there is of the
// kind, so that one command mends all.
func (f *File) scoreRuns(ctx context.Context, visit func(*score.Rows) error) error {
	if f.run != nil { // once more
		bind := func() error { return f.bindColumns(ctx) }
		if f.scorer.Keyed() {
			keys, err := f.scorer.Keys(f.options.Targets)
			if err != nil {
				return err
			}
			bind = func() error { return f.bindKeys(keys) }
		}
		if err := bind(); err != nil {
			return err
		}
	}
	var unread *dataset.Offending
	var unseen *unseenLevels
	err := f.table.Rows(ctx, f.columns, credence.Position{}, func(run *dataset.Run) error {
		if f.run = run; unread == nil && unseen == nil {
			err := f.binding.Score(run.Rows, visit)
			switch {
			case err == nil || f.options.Live:
				return err
			case errors.Is(err, frame.ErrUnseen):
				unseen = &unseenLevels{file: f, strict: f.strict(), first: err}
			default:
				if unread = f.table.Offending(err); unread == nil {
					return err
				}
			}
		}
		if unread != nil && !unread.Add(run.Faults) || unseen != nil && !unseen.add(run) {
			return errEnough
		}
		return nil
	})
	switch {
	case err != nil && err != errEnough:
		return err
	case unread != nil:
		return unread
	case unseen != nil:
		return unseen.refusal()
	}
	return nil
}

// errEnough ends a reading of which nothing more is asked.
var errEnough = errors.New("enough")

// unseenLevels are levels that training did not see, in rows from the first that was refused for one.
type unseenLevels struct {
	file   *File
	strict map[string]bool // columns that may not have others
	first  error
	found  []dataset.Unseen
	more   bool // there may be others
}

// mostUnseen is how many levels that training did not see are named.
const mostUnseen = 5

// add adds those of a run, and reports whether there may be more to add.
func (u *unseenLevels) add(run *dataset.Run) bool {
	live, is := u.file.binding.(*score.Table)
	if !is || live.Run().Set(run.Rows) != nil {
		return false
	}
	live.Run().Unseen(0, func(row int, column string, text []byte) {
		if !u.strict[column] {
			return
		}
		at := slices.IndexFunc(u.found, func(c dataset.Unseen) bool { return c.Column == column })
		if at < 0 {
			at = len(u.found)
			u.found = append(u.found, dataset.Unseen{Column: column})
		}
		c := &u.found[at]
		known := slices.ContainsFunc(c.Examples, func(e dataset.Example) bool { return e.Value == string(text) })
		if u.more = u.more || !known && len(c.Examples) == mostUnseen; u.more {
			return
		}
		if c.Rows++; !known {
			c.Examples = append(c.Examples, dataset.Example{Value: string(text), File: run.File, Line: run.Line(row)})
		}
	})
	return !u.more
}

// refusal names them.
func (u *unseenLevels) refusal() error {
	if err := u.file.refuseUnseen(u.found, u.more); err != nil {
		return err
	}
	return u.first
}

// strict returns the columns that may not have other levels than those of training.
func (f *File) strict() map[string]bool {
	strict := map[string]bool{}
	for i := range f.scorer.Frame().Inputs {
		e := &f.scorer.Frame().Inputs[i].Expr
		strict[e.Column] = strict[e.Column] || !f.scorer.Frame().Lenient(e)
	}
	return strict
}

// refuseUnseen says which categories training did not see, unless they may stay; more says that there may be others.
func (f *File) refuseUnseen(found []dataset.Unseen, more bool) error {
	strict := f.strict()
	found = slices.DeleteFunc(found, func(u dataset.Unseen) bool { return !strict[u.Column] })
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	var examples []string
	for _, e := range first.Examples {
		examples = append(examples, fmt.Sprintf("%q at %s:%d", e.Value, e.File, e.Line))
	}
	count := fmt.Sprintf("%d %s", first.Rows, cell.Plural(first.Rows, "row", "rows"))
	if more {
		count += " or more"
	}
	column, _ := credence.CutText(first.Column)
	return fmt.Errorf("column %q: categories of %s were not seen in training (%s): correct them, or let --unseen prior score them by the variance of the levels",
		column, count, strings.Join(examples, ", "))
}
