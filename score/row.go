package score

import (
	"errors"
	"slices"
	"sync"

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

// Bound scores rows of type T, for any number of goroutines at once. In steady state it allocates nothing,
// but for a likelihood of each row where rows state their trials.
type Bound[T any] struct {
	scorer *Scorer
	spare  sync.Pool // of *working[T]
}

// working is what one goroutine at a time scores rows with.
type working[T any] struct {
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
	if s == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	b := &Bound[T]{scorer: s}
	first, err := newWorking[T](s)
	if err != nil {
		return nil, err
	}
	b.spare.Put(first)
	return b, nil
}

func newWorking[T any](s *Scorer) (*working[T], error) {
	if s.Keyed() {
		keys, err := s.Keys(IgnoreTargets)
		if err == nil {
			keys.rows.ws = credence.NewWorkspace(1)
		}
		return &working[T]{keys: &boundKeys[T]{keys: keys}}, err
	}
	schema := s.Schema()
	needed, err := s.Columns(schema, IgnoreTargets)
	if err != nil {
		return nil, err
	}
	schema.Columns = slices.DeleteFunc(schema.Columns, func(c credence.Column) bool { return !slices.Contains(needed, c.Name) })
	w := &working[T]{read: &table.Rows{}, run: table.NewRun(schema), rows: s.NewRows()}
	w.rows.ws = credence.NewWorkspace(1) // a row is too little to share
	if w.binding, err = table.Bind[T](table.LayoutOf(schema)); err != nil {
		return nil, err
	}
	if w.table, err = s.Table(w.run, IgnoreTargets); err != nil {
		return nil, err
	}
	w.rows.bound, w.rows.source = w.table.bound, w.run
	return w, nil
}

// take returns what nobody else scores with.
func (b *Bound[T]) take() (*working[T], error) {
	if w, ok := b.spare.Get().(*working[T]); ok {
		return w, nil
	}
	return newWorking[T](b.scorer)
}

// Score scores one row.
func (b *Bound[T]) Score(row T) (p Prediction, err error) {
	w, err := b.take()
	if err != nil {
		return p, err
	}
	w.one[0] = row
	rows, err := w.score(w.one[:])
	if err == nil {
		p = rows.Predict(0)
	}
	b.spare.Put(w)
	return p, err
}

// Rows scores a few rows, which are valid until visit returns.
func (b *Bound[T]) Rows(rows []T, visit func(rows *Rows) error) error {
	w, err := b.take()
	if err != nil {
		return err
	}
	scored, err := w.score(rows)
	if err == nil {
		err = visit(scored)
	}
	b.spare.Put(w)
	return err
}

func (w *working[T]) score(rows []T) (*Rows, error) {
	if w.keys != nil {
		return w.keys.score(rows)
	}
	w.binding.Reset(w.read)
	for _, row := range rows {
		if err := w.binding.Append(w.read, row); err != nil {
			return nil, err
		}
	}
	if err := w.run.Set(w.read); err != nil {
		return nil, err
	}
	if err := w.table.bound.Read(&w.rows.batch, 0, len(rows)); err != nil {
		return nil, err
	}
	return w.rows, w.rows.score()
}
