package refit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/likelihood"
)

// Options say which rows are left out of refits. They are plain data, read from JSON; Folds or Split is stated.
type Options struct {
	Folds int     `json:"folds,omitempty"` // each row is left out once, in one of so many folds
	Split float64 `json:"split,omitempty"` // this share of the rows is left out
	Group string  `json:"group,omitempty"` // column: rows with one value of it are left out together
	// Time is a column of numbers or dates: the rows before a time are fitted and those behind it are left out, never
	// the other way. Folds are then windows of as many different times, behind a first one that is always fitted; a
	// share is that of the times, the last.
	Time string `json:"time,omitempty"`
	Seed uint64 `json:"seed,omitempty"` // of the dealing
}

// Validate refuses what no rows could mend.
func (o Options) Validate() error {
	switch {
	case o.Folds != 0 && o.Split != 0:
		return errors.New("--cv leaves every row out in turn and --split leaves some out once: keep one of them")
	case o.Split != 0 && !(o.Split > 0 && o.Split < 1):
		return fmt.Errorf("--split %v is not a share of the rows between 0 and 1: state for example 0.2", o.Split)
	case o.Split == 0 && o.Folds < 2:
		return fmt.Errorf("--cv %d: rows are left out in 2 folds or more: state for example 10", o.Folds)
	case o.Group != "" && o.Time != "":
		return errors.New("--group keeps rows together and --time puts them in order: keep one of them")
	}
	return nil
}

// Folds are the rows of a table dealt out, to be left out in turn.
type Folds struct {
	Options
	Groups  int       `json:"groups,omitempty"` // that were dealt
	of      []int     // of each row of the table, the fold in which it is left out, -1 for none
	group   []int     // of each row of the table; nil where rows stand for themselves
	weights []float64 // of each row of the table, 0 of those that the model leaves out
}

// GroupOf returns the group of a row of the table, as dealt: under no Group, the row.
func (f *Folds) GroupOf(row int) int {
	if f.group == nil {
		return row
	}
	return f.group[row]
}

// fits is the number of refits.
func (f *Folds) fits() int { return max(1, f.Options.Folds) }

// without returns weights that are 0 for the rows that a refit does not see: those of its fold, and of later windows.
func (f *Folds) without(out int, weights []float64, row func(i int) int) []float64 {
	others := slices.Clone(weights)
	for i := range others {
		if k := f.of[row(i)]; k == out || f.Time != "" && k > out {
			others[i] = 0
		}
	}
	return others
}

// Folds deals the rows that have a weight out at random, each class evenly, groups whole, or by their times. Columns
// that it names are those of the table, or of the one that beside it.
func (b *Base) Folds(ctx context.Context, how Options) (*Folds, error) {
	if err := how.Validate(); err != nil {
		return nil, err
	}
	weights, classes, err := b.weighed(ctx)
	if err != nil {
		return nil, err
	}
	f, err := b.deal(ctx, how, weights, classes)
	if err != nil {
		return nil, err
	}
	if err := b.whole(f, weights, classes); err != nil {
		return nil, err
	}
	return f, nil
}

// deal is Folds for rows of known weights and classes, nil for other targets: a class may be too rare for the folds.
func (b *Base) deal(ctx context.Context, how Options, weights, classes []float64) (*Folds, error) {
	f := &Folds{Options: how}
	var fold []int
	units, least, unit := 0, how.Folds, "rows that have a weight"
	deal := func(weights, classes []float64) (fold []int) {
		rng := credence.Rand(how.Seed, credence.FoldRows, 1)
		if how.Split > 0 {
			return folds.Split(rng, weights, classes, how.Split)
		}
		fold, units = folds.Deal(rng, weights, classes, how.Folds)
		return fold
	}
	switch {
	case how.Time != "":
		times, err := b.column(ctx, how.Time, how.Time, weights)
		if err != nil {
			return nil, err
		}
		fold, units = folds.Ahead(times, weights, how.Folds, how.Split)
		least, unit = how.Folds+1, "different values of "+how.Time
	case how.Group != "":
		ids, err := b.column(ctx, how.Group, "", weights)
		if err != nil {
			return nil, err
		}
		fold = make([]int, len(weights))
		group, each, positive := together(ids, weights, classes)
		f.Groups, f.group, unit = len(each), group, "groups of "+how.Group
		dealt := deal(each, positive)
		for i, g := range group {
			if fold[i] = -1; g >= 0 {
				fold[i] = dealt[g]
			}
		}
	default:
		fold = deal(weights, classes)
	}
	if units < least && how.Split == 0 {
		return nil, fmt.Errorf("%d folds take %d %s or more, and there are %d: state fewer", how.Folds, least, unit, units)
	}
	f.of, f.group, f.weights = ofTable(b, fold, -1), ofTable(b, f.group, -1), ofTable(b, weights, 0)
	return f, nil
}

// together numbers the values of rows that have a weight, -1 for other rows, and returns of each value a weight and the
// class of most of its rows.
func together(ids, weights, classes []float64) (group []int, each, positive []float64) {
	known := map[float64]int{}
	group = slices.Repeat([]int{-1}, len(ids))
	for i, w := range weights {
		if !(w > 0) {
			continue
		}
		g, seen := known[ids[i]]
		if !seen {
			g = len(each)
			known[ids[i]] = g
			each, positive = append(each, 1), append(positive, 0)
		}
		if group[i] = g; classes != nil {
			positive[g] += w * (classes[i] - 0.5)
		}
	}
	for g, more := range positive {
		positive[g] = 0
		if more > 0 {
			positive[g] = 1
		}
	}
	return group, each, positive
}

// whole refuses folds that leave no row out, or of a class none, and refits to none.
func (b *Base) whole(f *Folds, weights, classes []float64) error {
	names := b.Frame.Target.Classes()
	for out := range f.fits() {
		var count [2][2]int // of rows left out and of those fitted, by class
		for i, other := range f.without(out, weights, b.row) {
			class, fitted := 0, 0
			if classes != nil {
				class = int(classes[i])
			}
			if other > 0 {
				fitted = 1
			}
			if fitted == 1 || weights[i] > 0 && f.of[b.row(i)] == out {
				count[fitted][class]++
			}
		}
		where := fmt.Sprintf("fold %d of %d", out+1, f.Folds)
		if f.Split > 0 {
			where = fmt.Sprintf("--split %v", f.Split)
		}
		for side, rows := range count {
			what := []string{"leaves out", "is predicted from"}[side]
			if rows[0]+rows[1] == 0 {
				return fmt.Errorf("%s %s no row: state another share, or fewer folds", where, what)
			}
			if lacks := slices.Index(rows[:], 0); classes != nil && lacks >= 0 {
				return fmt.Errorf("%s %s no row whose %s is %s: state fewer folds, or another --split or --seed", where, what, b.Frame.TargetName(), cmp.Or(names[lacks], "another class"))
			}
		}
	}
	return nil
}

// column reads a column of the rows of the model: numbers, or codes of the levels of a category, which no times are.
func (b *Base) column(ctx context.Context, name, time string, weights []float64) ([]float64, error) {
	source := b.Source
	if b.Outside != nil && source.Schema().Index(name) < 0 {
		source = b.Outside
	}
	j := source.Schema().Index(name)
	if j < 0 {
		return nil, fmt.Errorf("there is no column %q to leave rows out by: name one of the table", name)
	}
	if name == time && source.Schema().Columns[j].Kind == credence.Category {
		return nil, fmt.Errorf("column %q is a category, and --time takes numbers or dates: declare it with %s, or leave rows out by --group", name, cell.Types(name+"=date"))
	}
	var all []float64
	for chunk, err := range credence.Chunks(ctx, source) {
		if err != nil {
			return nil, err
		}
		for i := range chunk.Rows() {
			all = append(all, chunk.Values.Row(i)[j])
		}
	}
	values := make([]float64, len(weights))
	for i, w := range weights {
		if values[i] = all[b.row(i)]; w > 0 && values[i] != values[i] {
			return nil, fmt.Errorf("%s: column %q is empty, by which rows are left out: give it a value, or leave the row out of the table", criticism.Placed(b.Source, fmt.Sprintf("row %d", b.row(i)+1)), name)
		}
	}
	return values, nil
}

// row is the row of the table that row i of the model came from.
func (b *Base) row(i int) int {
	if bound, ok := b.Data.(*frame.Bound); ok {
		return bound.SourceRow(i)
	}
	return i
}

// ofTable gives what rows of the model have to rows of the table, none to those that the model leaves out; nil stays
// nil.
func ofTable[T any](b *Base, values []T, none T) []T {
	if values == nil {
		return nil
	}
	of := slices.Repeat([]T{none}, b.Source.Rows())
	for i, v := range values {
		of[b.row(i)] = v
	}
	return of
}

// weighed reads the weights of all rows, and their classes where the family has such.
func (b *Base) weighed(ctx context.Context) (weights, classes []float64, err error) {
	for rows, err := range credence.Batches(ctx, b.Data) {
		if err != nil {
			return nil, nil, err
		}
		for i := range rows.Rows() {
			classes, weights = append(classes, rows.Target[i]), append(weights, rows.WeightOf(i))
		}
	}
	if _, kind := likelihood.Describe(b.Model.Likelihood); kind != likelihood.Classes {
		classes = nil
	}
	return weights, classes, nil
}
