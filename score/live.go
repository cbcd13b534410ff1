package score

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// Live scores runs of rows of a table as they come, by a model that is bound once. It is for one goroutine at
// a time.
type Live struct {
	run    *table.Run
	table  *Table
	rows   *Rows
	scored int
}

// Live binds the model to rows with the named columns, in that order, as [Scorer.Columns] names them.
func (s *Scorer) Live(columns []string, targets Targets) (*Live, error) {
	schema := s.Schema()
	places := schema.Places()
	ordered := make([]credence.Column, 0, len(columns))
	for _, name := range columns {
		ordered = append(ordered, schema.Columns[places[name]])
	}
	schema.Columns = ordered
	l := &Live{run: table.NewRun(schema), rows: s.NewRows()}
	var err error
	l.table, err = s.Table(l.run, targets)
	if err == nil {
		l.rows.bound, l.rows.source = l.table.bound, l.run
	}
	return l, err
}

// HasTargets reports whether the rows have targets that are read.
func (l *Live) HasTargets() bool { return l.table.HasTargets() }

// Rows returns how many rows were scored so far.
func (l *Live) Rows() int { return l.scored }

// Counts says what was done to the rows scored so far.
func (l *Live) Counts() frame.Counts {
	l.table.momentless, l.table.unseenGroups, l.table.beyond = l.rows.momentless, l.rows.unseenGroups, l.rows.beyond
	return l.table.Counts()
}

// Score scores a run of rows; what it hands to visit is valid until visit returns. The first malformed row is
// an error, after the rows before it.
func (l *Live) Score(run *table.Rows, visit func(rows *Rows) error) error {
	if err := l.run.Set(run); err != nil {
		return err
	}
	l.table.bound.Anew()
	count := run.Count
	if len(run.Faults) > 0 {
		count = min(count, run.Faults[0].Row)
	}
	for first, n := range credence.Blocks(count) {
		if err := l.table.bound.Read(&l.rows.batch, first, n); err != nil {
			return err
		}
		if err := l.rows.score(); err != nil {
			return err
		}
		l.rows.batch.First = l.scored
		l.scored += n
		if err := visit(l.rows); err != nil {
			return err
		}
	}
	if len(run.Faults) > 0 {
		return run.Faults[0].Err
	}
	return nil
}
