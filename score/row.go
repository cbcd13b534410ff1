package score

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/table"
)

// Row scores one row: a struct, or a map from names to values, as [table.Bind] describes. It binds
// the model at each call; a service binds once, by [Bind].
func Row(fitted *credence.Fitted, row any) (Prediction, error) {
	scorer, err := New(fitted, Options{})
	if err != nil {
		return Prediction{}, err
	}
	bound, err := Bind[any](scorer)
	if err != nil {
		return Prediction{}, err
	}
	return bound.Score(row)
}

// Bound scores rows of type T. In steady state it allocates nothing, but for a likelihood of each
// row where rows state their trials. It is for one goroutine at a time.
type Bound[T any] struct {
	binding *table.Binding[T]
	read    *table.Rows
	run     *table.Run
	table   *Table
	rows    *Rows
	one     [1]T
	keys    *boundKeys[T] // of a model that was learned online
}

// Bind binds a model to rows of type T: structs or maps, as [table.Bind] describes. They need the
// columns of the model, and a target among them is not read.
func Bind[T any](s *Scorer) (*Bound[T], error) {
	if s.Keyed() {
		keys, err := s.Keys(IgnoreTargets)
		return &Bound[T]{keys: &boundKeys[T]{keys: keys}}, err
	}
	schema := s.Schema()
	needed, err := s.Columns(schema, IgnoreTargets)
	if err != nil {
		return nil, err
	}
	schema.Columns = slices.DeleteFunc(schema.Columns, func(c credence.Column) bool { return !slices.Contains(needed, c.Name) })
	b := &Bound[T]{read: &table.Rows{}, run: table.NewRun(schema), rows: s.NewRows()}
	b.rows.ws = credence.NewWorkspace(1) // a row is too little to share
	if b.binding, err = table.Bind[T](table.LayoutOf(schema)); err != nil {
		return nil, err
	}
	b.table, err = s.Table(b.run, IgnoreTargets)
	b.rows.bound = b.table.bound
	return b, err
}

// Score scores one row.
func (b *Bound[T]) Score(row T) (Prediction, error) {
	b.one[0] = row
	rows, err := b.Rows(b.one[:])
	if err != nil {
		return Prediction{}, err
	}
	return rows.Predict(0), nil
}

// Rows scores a few rows, which are valid until the next call.
func (b *Bound[T]) Rows(rows []T) (*Rows, error) {
	if b.keys != nil {
		return b.keys.score(rows)
	}
	b.binding.Reset(b.read)
	for _, row := range rows {
		if err := b.binding.Append(b.read, row); err != nil {
			return nil, err
		}
	}
	if err := b.run.Set(b.read); err != nil {
		return nil, err
	}
	if err := b.table.bound.Read(&b.rows.batch, 0, len(rows)); err != nil {
		return nil, err
	}
	return b.rows, b.rows.score()
}
