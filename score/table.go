package score

import (
	"context"
	"errors"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// Table is a table whose rows a model scores. It is for one goroutine at a time.
type Table struct {
	scorer *Scorer
	bound  *frame.Bound
	rows   credence.Source
	known  bool // targets are read
	// momentless are the rows of the last Each that have no moments.
	momentless   int
	unseenGroups int // rows of the last Each of groups without a calibration of their own
	beyond       int // rows of the last Each outside the box of a Hilbert-space process
}

// Table binds the model to a table. Under [UseTargets] a table without the target is one whose
// targets are ignored.
func (s *Scorer) Table(rows credence.Source, targets Targets) (*Table, error) {
	if s == nil || rows == nil {
		return nil, errors.New("there is no scorer or no table: make the one by score.New, the other as table.Structs or dataset.Open do")
	}
	if s.frame == nil {
		return nil, errors.New("this model was learned online, and a table has lost the texts of its rows: use Keys")
	}
	if targets == UseTargets && rows.Schema().Index(s.Target()) < 0 {
		targets = IgnoreTargets
	}
	bound, err := s.frame.Bind(rows, targets)
	if err == nil && s.options.Lacking {
		bound.MarkLacking()
	}
	return &Table{scorer: s, known: targets != IgnoreTargets, bound: bound, rows: rows}, err
}

// Only scores the rows of the table that keep does not deny.
func (t *Table) Only(keep func(row int) bool) { t.bound.Only(keep) }

// Rows returns the number of rows that are scored.
func (t *Table) Rows() int { return t.bound.Rows() }

// HasTargets reports whether the rows have targets that are read.
func (t *Table) HasTargets() bool { return t.known }

// Counts says what was done to the rows scored so far.
func (t *Table) Counts() frame.Counts {
	counts := t.bound.Counts()
	counts.Momentless, counts.UnseenGroups, counts.Beyond = t.momentless, t.unseenGroups, t.beyond
	return counts
}

// EachWeight visits how many times each row counts, in order, without scoring it.
func (t *Table) EachWeight(ctx context.Context, visit func(weight float64)) error {
	var batch credence.Batch
	for first, count := range credence.Blocks(t.Rows()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.bound.Read(&batch, first, count); err != nil {
			return err
		}
		for i := range batch.Rows() {
			visit(batch.WeightOf(i))
		}
	}
	return nil
}

// Each scores all rows in order, a run at a time; rows are valid until visit returns.
func (t *Table) Each(ctx context.Context, visit func(rows *Rows) error) error {
	rows := t.scorer.NewRows()
	rows.bound, rows.source = t.bound, t.rows
	for first, count := range credence.Blocks(t.Rows()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.bound.Read(&rows.batch, first, count); err != nil {
			return err
		}
		if err := rows.score(); err != nil {
			return err
		}
		t.momentless, t.unseenGroups, t.beyond = rows.momentless, rows.unseenGroups, rows.beyond
		if err := visit(rows); err != nil {
			return err
		}
	}
	return nil
}
