package keyed

import (
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// reader reads target, weight or offset.
type reader struct {
	expr    frame.Expr
	column  int           // of the run; -1 if there is none
	labels  *frame.Labels // of the target
	classes *frame.Roles  // that say what the labels are; nil of others
}

// read returns the number of a row, NaN where it is missing or the column is not there.
func (r *reader) read(rows *table.Rows, row []float64) (float64, error) {
	if r.column < 0 {
		return math.NaN(), nil
	}
	v := row[r.column]
	if v != v {
		return v, nil
	}
	if column := &rows.Columns[r.column]; column.Kind == credence.Category || column.Text {
		text := rows.TextOf(r.column, v)
		if r.labels != nil {
			code, ok := r.labels.Of(text)
			if !ok {
				return 0, r.refuse(string(text))
			}
			return code, nil
		}
		var finite, ok bool
		if v, finite, ok = cell.ParseNumber(text); !ok || !finite {
			return 0, r.refuse(string(text))
		}
	}
	v, err := r.expr.Apply(v)
	if err != nil || r.labels == nil {
		return v, err
	}
	code, ok := r.labels.OfNumber(v)
	if !ok {
		return 0, r.refuse(strconv.FormatFloat(v, 'g', -1, 64))
	}
	return code, nil
}

// refuse says what is wrong with a label or a number.
func (r *reader) refuse(text string) error {
	quoted := cell.Quote(text)
	switch {
	case r.classes == nil:
		return fmt.Errorf("column %q: %s is not a number: correct the row", r.expr.Column, quoted)
	case r.classes.Positive == "":
		return fmt.Errorf("label %s is not 1, 0 or -1, and two classes are learned: fit a target of numbers with credence fit, or learn with --positive CLASS, which stands against all the rest, or correct the row", quoted)
	}
	return fmt.Errorf("label %s is neither %s nor %s, the first two: learn with --positive CLASS, which stands against all the rest, or correct the row",
		quoted, r.classes.Positive, r.classes.Negative)
}

// missing refuses a row without the value, or says that it is to be dropped: no policy fills it.
func (r *reader) missing(drop bool) error {
	switch {
	case drop:
		return errDropped
	case r.classes != nil:
		return fmt.Errorf("the label is missing: correct the row, or leave such rows out with --missing drop-target")
	}
	return fmt.Errorf("column %q: the value is missing: correct the row, or leave such rows out with --missing drop", r.expr.Column)
}
