package effect

import (
	"errors"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/score"
)

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
