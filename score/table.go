package score

import (
	"context"
	"errors"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// Binding is a model bound to rows that come in runs: by their columns, a [Table] of [Scorer.Live], or by their [Keys].
// It is for one goroutine at a time.
type Binding interface {
	// Score scores a run of rows; what it hands to visit is valid until visit returns. The first row that is malformed
	// or that the model cannot take is an error, after the rows before it.
	Score(run *table.Rows, visit func(rows *Rows) error) error
	Rows() int            // how many rows were scored so far
	Counts() frame.Counts // what was done to them
	HasTargets() bool     // whether the rows have targets that are read
}

// Table is rows of columns that a model scores: those of a table, or, of [Scorer.Live], those of runs as they come. It
// is for one goroutine at a time.
type Table struct {
	scorer  *Scorer
	bound   *frame.Bound
	source  credence.Source
	run     *table.Run // the source, of rows that come in runs
	known   bool       // targets are read
	rows    *Rows      // those that were scored last
	scored  int        // rows of runs so far
	outside int        // entries of sparse columns in them that the model does not have
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
	t := &Table{scorer: s, known: targets != IgnoreTargets, bound: bound, source: rows}
	t.begin()
	return t, err
}

// Live binds the model once to rows that come in runs, whose first columns are the named ones, as [Scorer.Columns]
// names them.
func (s *Scorer) Live(columns []string, targets Targets) (*Table, error) {
	schema := s.Schema()
	places := schema.Places()
	ordered := make([]credence.Column, 0, len(columns))
	for _, name := range columns {
		ordered = append(ordered, schema.Columns[places[name]])
	}
	schema.Columns = ordered
	run := table.NewRun(schema)
	t, err := s.Table(run, targets)
	if err == nil {
		t.run = run
	}
	return t, err
}

// begin forgets the rows that were scored.
func (t *Table) begin() {
	t.rows = t.scorer.NewRows()
	t.rows.bound, t.rows.source = t.bound, t.source
}

// Run returns the rows of the last run, nil of a table.
func (t *Table) Run() *table.Run { return t.run }

// Only scores the rows of the table that keep does not deny.
func (t *Table) Only(keep func(row int) bool) { t.bound.Only(keep) }

// Rows returns the number of rows that are scored: of a table all, and of runs those so far.
func (t *Table) Rows() int {
	if t.run != nil {
		return t.scored
	}
	return t.bound.Rows()
}

// HasTargets reports whether the rows have targets that are read.
func (t *Table) HasTargets() bool { return t.known }

// Counts says what was done to the rows scored so far, those of the last Each.
func (t *Table) Counts() frame.Counts {
	counts := t.bound.Counts()
	counts.Momentless, counts.UnseenGroups, counts.Beyond = t.rows.momentless, t.rows.unseenGroups, t.rows.beyond
	if t.scorer.frame.Sparse > 0 {
		counts.UnseenFeatures += t.outside
	}
	return counts
}

// EachWeight visits how many times each row counts, in order, without scoring it.
func (t *Table) EachWeight(ctx context.Context, visit func(weight float64)) error {
	for batch, err := range credence.Batches(ctx, t.bound) {
		if err != nil {
			return err
		}
		for i := range batch.Rows() {
			visit(batch.WeightOf(i))
		}
	}
	return nil
}

// Each scores all rows of a table in order, some at a time; they are valid until visit returns.
func (t *Table) Each(ctx context.Context, visit func(rows *Rows) error) error {
	t.begin()
	for first, count := range credence.Blocks(t.Rows()) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.score(first, count); err != nil {
			return err
		}
		if err := visit(t.rows); err != nil {
			return err
		}
	}
	return nil
}

// score scores rows [first, first+count) of the table or the run.
func (t *Table) score(first, count int) error {
	if err := t.bound.Read(&t.rows.batch, first, count); err != nil {
		return err
	}
	if t.rows.at = first; t.run != nil {
		t.outside += t.run.Outside()
		t.rows.before = t.scored - first
		t.rows.batch.First = t.scored
	}
	return t.rows.score()
}

// Score implements [Binding].
func (t *Table) Score(run *table.Rows, visit func(rows *Rows) error) error {
	if t.run == nil {
		return errors.New("the model is bound to a table, which has its own rows: bind it by Live")
	}
	if err := t.run.Set(run); err != nil {
		return err
	}
	t.bound.Anew()
	return inBlocks(run, t.score, func() error {
		t.scored += t.rows.Len()
		return visit(t.rows)
	})
}

// inBlocks scores the rows of a run that are before the first malformed one. Of a block in which some row is at fault,
// rows are scored one by one, so that those before it are answered.
func inBlocks(run *table.Rows, score func(first, count int) error, visit func() error) error {
	rows := run.Count
	if len(run.Faults) > 0 {
		rows = min(rows, run.Faults[0].Row)
	}
	for first, count := range credence.Blocks(rows) {
		err := score(first, count)
		if err == nil {
			err = visit()
		} else if count > 1 {
			for i := first; i < first+count; i++ {
				if err = score(i, 1); err != nil {
					break
				}
				if err = visit(); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	if len(run.Faults) > 0 {
		return run.Faults[0].Err
	}
	return nil
}
