package effect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// reader makes batches of the rows of a table. Rows that lack a value which the model asks for are in them, and count
// nowhere.
type reader interface {
	Read(dst *credence.Batch, first, count int) error
	Lacks(i int) bool
}

// keyRows are the rows of a table as a model of stream takes them.
type keyRows struct {
	table  *altered
	plan   *keyed.Plan
	binder *keyed.Binder
	run    table.Rows
	chunk  credence.Chunk
	unseen bool // a row was read that has a key which training did not have
}

// newKeyRows refuses models whose rows have no columns.
func newKeyRows(scorer *score.Scorer, source *altered) (*keyRows, error) {
	f, ok := scorer.Fitted().Frame.(*keyed.Frame)
	features, also := scorer.Fitted().Members[0].Model.Features.(*keyed.Features)
	if !ok || !also {
		return nil, errors.New("the model holds neither columns nor keys: fit it, or learn it by stream")
	}
	if f.Plan.Sparse() {
		return nil, errors.New("rows of numbered features have no columns to change: inspect shows the weights")
	}
	binder, err := keyed.NewBinder(f.Plan, features, frame.IgnoreTargets)
	if err != nil {
		return nil, err
	}
	binder.MarkLacking = true
	k := &keyRows{table: source, plan: f.Plan, binder: binder}
	for _, c := range source.schema.Columns {
		_, text := credence.CutText(c.Name)
		k.run.Columns = append(k.run.Columns, table.Column{Name: c.Name, Kind: c.Kind, Text: text})
	}
	k.run.Levels = make([]table.Levels, len(k.run.Columns))
	return k, nil
}

// Read implements [reader].
func (k *keyRows) Read(dst *credence.Batch, first, count int) error {
	if err := k.table.Read(&k.chunk, first, count); err != nil {
		return err
	}
	for j := range k.run.Levels {
		list, levels := &k.run.Levels[j].List, k.table.schema.Columns[j].Levels
		for _, level := range levels[len(*list):] {
			*list = append(*list, table.Level{Text: []byte(level)})
		}
	}
	k.run.Count, k.run.Values = count, k.run.Values[:0]
	for i := range count {
		k.run.Values = append(k.run.Values, k.chunk.Values.Row(i)...)
	}
	if err := k.binder.Begin(&k.run); err != nil {
		return err
	}
	taken, err := k.binder.Bind(dst, 0, count, 0)
	k.unseen = k.unseen || k.binder.Unknown > 0
	if err != nil {
		return fmt.Errorf("%s: %w", k.table.Place(first+taken), err)
	}
	return nil
}

// Lacks implements [reader].
func (k *keyRows) Lacks(i int) bool { return slices.Contains(k.binder.Lacking, i) }

// columns tells what the columns of inputs are in the rows: of a category, the levels that rows have.
func (k *keyRows) columns(get func(e *frame.Expr) *column) (err error) {
	for i := range k.plan.Inputs {
		in := &k.plan.Inputs[i]
		c := get(&in.Expr)
		c.input = true
		if c.parts = c.parts && parts(&in.Expr); len(c.places) == 0 {
			return fmt.Errorf("there is no column %q, which the model needs: add it to the table", c.name)
		}
		switch plain := len(in.Expr.Steps) == 0; {
		case plain && (in.Kind == credence.Category || in.Role == keyed.AsLevel):
			texts := slices.IndexFunc(c.places, func(p int) bool { return k.table.schema.Columns[p].Kind == credence.Category })
			if texts > 0 { // before the numbers that they stand for
				c.places[0], c.places[texts] = c.places[texts], c.places[0]
			}
			if c.kind = credence.Category; c.levels == nil {
				c.levels, c.base, err = k.levels(c, i)
			}
		case plain && !c.category():
			c.kind = in.Kind
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// levels returns the levels that the rows have of a column and training had of an input, in the order of the table, and
// the most frequent.
func (k *keyRows) levels(c *column, input int) (levels []string, most string, err error) {
	numbers, err := k.table.numbers(c)
	if err != nil {
		return nil, "", err
	}
	values, frequent := numbers.values, 0
	for from, to := range order.Runs(len(values), func(first, other int) bool { return values[other] == values[first] }) {
		level := k.table.text(c.places[0], values[from])
		if k.binder.Knows(input, level) {
			if levels = append(levels, level); to-from > frequent {
				most, frequent = level, to-from
			}
		}
	}
	return levels, most, nil
}
