package effect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/score"
)

// Where a model has more than mostColumns columns and none is named, the mostMoving are told that move f most: effects
// of all would take minutes, and tables of thousands of lines tell nothing.
const (
	mostColumns = 500
	mostMoving  = 60
)

// Widest returns so many of the columns named, those that move f most: by the mean of their weights, products
// included, for a standard deviation of a number and for a level. The one that moves f most comes first. Columns that
// stand in other functions alone, whose weights say nothing of one column, come before all others.
func Widest(scorer *score.Scorer, names []string, count int) ([]string, error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	terms, err := score.Terms(scorer.Fitted(), score.TermOptions{})
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(scorer, newAltered(&grid{schema: scorer.Frame().Schema()}), nil)
	if err != nil {
		return nil, err
	}
	unit, moved := map[string]float64{}, map[string]float64{} // of columns, what their weights are for
	for _, c := range columns {
		if unit[c.name] = 1; c.kind == credence.Numeric && c.sd == c.sd {
			unit[c.name] = c.sd
		}
	}
	for _, t := range terms {
		size := math.Abs(t.Mean)
		var in []string
		for part := range strings.SplitSeq(t.Name, ":") {
			name, _, _ := strings.Cut(part, "=")
			if by, known := unit[name]; known {
				in, size = append(in, name), size*by
			}
		}
		for _, name := range in {
			moved[name] += size
		}
	}
	far := func(name string) float64 {
		if v, known := moved[name]; known {
			return v
		}
		return math.Inf(1)
	}
	chosen := slices.Clone(names)
	slices.SortStableFunc(chosen, func(a, b string) int { return cmp.Compare(far(b), far(a)) })
	return chosen[:min(count, len(chosen))], nil
}

// narrow names in options the columns that move f most, where none is named and there are very many, and says so.
func narrow(scorer *score.Scorer, options *Options) (remarks []string, err error) {
	if len(options.Columns) > 0 || options.What == Predictions || scorer.Keyed() {
		return nil, nil
	}
	list, err := Columns(scorer, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range list {
		if !list[i].Many && (options.What != Slopes || list[i].Kind == credence.Numeric) {
			names = append(names, list[i].Name)
		}
	}
	if len(names) <= mostColumns {
		return nil, nil
	}
	chosen, err := Widest(scorer, names, mostMoving)
	if err != nil {
		return nil, err
	}
	options.Columns = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(chosen, name) })
	return []string{fmt.Sprintf("of %d columns the %d are told whose weights move f most; --%s NAME,NAME tells others", len(names), len(chosen), options.What)}, nil
}

// Column is a column of a table that a model uses as an input.
type Column struct {
	Name   string
	Kind   credence.Kind
	Levels []string // of a category: those of training
	// of a number: those of the rows that count, ascending; the ends and the mean of training without rows, where they
	// are known
	Values []float64
	Date   bool // the number is one of days since 1970
	// levels: more than 100, or those of groups as of (1 | g), which are compared where the column is named alone
	Many bool
}

// Columns returns the columns that a model uses as inputs, in its order, without those of dates of which it uses parts
// alone; rows is nil without data.
func Columns(scorer *score.Scorer, rows credence.Source) (list []Column, err error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	if rows == nil && scorer.Keyed() {
		return nil, errKeys
	}
	var table *altered
	if rows == nil {
		table = newAltered(&grid{schema: scorer.Frame().Schema()})
	} else {
		table = newAltered(rows)
	}
	var keys *keyRows
	if scorer.Keyed() {
		if keys, err = newKeyRows(scorer, table); err != nil {
			return nil, err
		}
	}
	columns, err := columnsOf(scorer, table, keys)
	if err != nil {
		return nil, err
	}
	if f := scorer.Frame(); rows != nil && f != nil {
		if err := table.weigh(f.Weight, f.Missing); err != nil {
			return nil, err
		}
	}
	for _, c := range columns {
		if !c.input || c.parts || c.sparse >= 0 {
			continue
		}
		column := Column{Name: c.name, Kind: c.kind, Levels: c.levels, Many: c.many, Date: table.schema.Reading.Notations[c.name].Date != ""}
		switch {
		case c.kind != credence.Numeric:
		case rows != nil:
			numbers, err := table.numbers(c)
			if err != nil {
				return nil, err
			}
			column.Values = numbers.values
		case c.ends != nil:
			column.Values = []float64{c.ends[0], c.mean, c.ends[1]}
		}
		list = append(list, column)
	}
	return list, nil
}
