package dataset

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// Unseen tells of values of a category column that training did not have. Their
// code is -1.
type Unseen struct {
	Column   string
	Rows     int // rows with such a value
	Examples []Example
}

// Example is a value and where it stood first.
type Example struct {
	Value string
	File  string
	Line  int
}

// unseenExamples are remembered for each column.
const unseenExamples = 5

// dictionary gives the levels of a column their codes: in the order of first
// occurrence, or those of training.
type dictionary struct {
	column string
	frozen bool
	limit  int
	codes  map[string]int32
	levels []string
	unseen Unseen
	table  []float64 // codes of the levels of the present block
}

func newDictionary(column string, trained []string, frozen bool, limit int) *dictionary {
	d := &dictionary{column: column, unseen: Unseen{Column: column}, frozen: frozen, limit: limit, codes: make(map[string]int32, len(trained))}
	if frozen {
		d.levels = trained
		for i, level := range trained {
			d.codes[level] = int32(i)
		}
	}
	return d
}

// translate replaces the block's own codes in column position of its values by
// those of the dictionary.
func (d *dictionary) translate(rows *table.Rows, position int) error {
	levels := &rows.Levels[position]
	d.table = d.table[:0]
	for i, level := range levels.List {
		code := math.NaN()
		if !levels.Missing[i] {
			known, err := d.code(rows.File, level)
			if err != nil {
				return err
			}
			code = float64(known)
		}
		d.table = append(d.table, code)
	}
	for i := position; i < len(rows.Values); i += len(rows.Columns) {
		if own := rows.Values[i]; own == own { // not missing
			code := d.table[int(own)]
			if code < 0 {
				d.unseen.Rows++
			}
			rows.Values[i] = code
		}
	}
	return nil
}

// code returns the code of a level, -1 where training did not have it.
func (d *dictionary) code(file string, level table.Level) (int32, error) {
	if code, known := d.codes[string(level.Text)]; known {
		return code, nil
	}
	if d.frozen {
		if known := slices.ContainsFunc(d.unseen.Examples, func(e Example) bool { return e.Value == string(level.Text) }); !known && len(d.unseen.Examples) < unseenExamples {
			d.unseen.Examples = append(d.unseen.Examples, Example{string(level.Text), file, level.Line})
		}
		return -1, nil
	}
	if len(d.levels) == d.limit {
		return 0, &text.Error{File: file, Line: level.Line, Column: d.column,
			What: fmt.Sprintf("the category has more than %d levels: leave the column out, or declare it a number", d.limit)}
	}
	name := string(level.Text)
	code := int32(len(d.levels))
	d.codes[name] = code
	d.levels = append(d.levels, name)
	return code, nil
}

// finish returns the levels in their final order and, for every code so far, its
// place in it; nil where the codes are final already.
func (d *dictionary) finish() (levels []string, place []int32) {
	if d.frozen {
		return d.levels, nil
	}
	levels = slices.Clone(d.levels)
	cell.SortLevels(levels)
	place = make([]int32, len(levels))
	for i, level := range levels {
		place[d.codes[level]] = int32(i)
	}
	return levels, place
}
