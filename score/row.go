package score

import (
	"errors"
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
	binding *table.Binding[T] // nil until the first row tells the columns, of a model that was learned online
	keys    *Keys             // of such a model
	read    table.Rows
	model   Binding
	one     [1]T
	first   Prediction // of the rows
	predict func(rows *Rows) error
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
	w := &working[T]{}
	w.predict = func(rows *Rows) error { w.first = rows.Predict(0); return nil }
	var err error
	if s.Keyed() {
		if w.keys, err = s.Keys(IgnoreTargets); err != nil {
			return nil, err
		}
		w.model, w.keys.rows.ws = w.keys, credence.NewWorkspace(1) // a row is too little to share
		return w, nil
	}
	needed, err := s.Columns(s.Schema(), IgnoreTargets)
	if err != nil {
		return nil, err
	}
	live, err := s.Live(needed, IgnoreTargets)
	if err != nil {
		return nil, err
	}
	w.model, live.rows.ws = live, credence.NewWorkspace(1)
	w.binding, err = table.Bind[T](table.LayoutOf(live.run.Schema()))
	return w, err
}

// bindKeys finds the columns of a model that was learned online in the first row.
func (w *working[T]) bindKeys(row T) error {
	given, err := table.ColumnsOf(row)
	if err != nil {
		return err
	}
	schema := &credence.Schema{}
	kinds, trained := map[string]table.Column{}, w.keys.Kinds()
	for _, c := range given {
		if kind, known := trained[c.Name]; known && c.Unknown {
			c.Kind, c.Unknown = kind, false
		}
		schema.Columns = append(schema.Columns, credence.Column{Name: c.Name, Kind: c.Kind})
		kinds[c.Name] = c
	}
	names, err := w.keys.Columns(schema)
	if err != nil {
		return err
	}
	var layout table.Layout
	for _, name := range names {
		column := kinds[name]
		if _, text := credence.CutText(name); text && column.Name == "" {
			column = table.Column{Name: name, Kind: credence.Category, Text: true}
		}
		layout.Columns = append(layout.Columns, column)
	}
	w.binding, err = table.Bind[T](layout)
	return err
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
	if err = w.score(w.one[:], w.predict); err == nil {
		p = w.first
	}
	b.spare.Put(w)
	return p, err
}

// Rows scores rows, some at a time, which are valid until visit returns.
func (b *Bound[T]) Rows(rows []T, visit func(rows *Rows) error) error {
	w, err := b.take()
	if err != nil {
		return err
	}
	err = w.score(rows, visit)
	b.spare.Put(w)
	return err
}

func (w *working[T]) score(rows []T, visit func(rows *Rows) error) error {
	if len(rows) == 0 {
		return nil
	}
	if w.binding == nil {
		if err := w.bindKeys(rows[0]); err != nil {
			return err
		}
	}
	w.binding.Reset(&w.read)
	for _, row := range rows {
		if err := w.binding.Append(&w.read, row); err != nil {
			return err
		}
	}
	return w.model.Score(&w.read, visit)
}
