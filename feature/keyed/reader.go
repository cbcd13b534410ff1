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
	column  int // of the run; -1 if there is none
	classes *classes
	labels  map[string]float64 // what texts were read as lately: the class or the number, ∞ where it is none
}

// classes are those of a target.
type classes struct{ positive, negative string }

// maxLabels is how many texts a reader remembers: more than a target has classes.
const maxLabels = 64

// label returns the class or the number that a text is, ∞ where it is none.
func (r *reader) label(text []byte) float64 {
	if v, known := r.labels[string(text)]; known {
		return v
	}
	v, ok := r.classOf(string(text))
	if !ok {
		v = math.Inf(1)
	}
	if r.labels == nil || len(r.labels) == maxLabels {
		r.labels = make(map[string]float64)
	}
	r.labels[string(text)] = v
	return v
}

// classOf returns the class that a label names, or its number where it is no target.
func (r *reader) classOf(label string) (class float64, ok bool) {
	if r.classes == nil {
		v, finite, ok := cell.ParseNumber([]byte(label))
		return v, ok && finite
	}
	c := r.classes
	switch {
	case c.positive == "":
		if v, ok := cell.ParseBoolean([]byte(label)); ok && len(label) > 1 || label == "0" || label == "1" {
			return v, true
		}
		v, finite, ok := cell.ParseNumber([]byte(label))
		return standard(v, ok && finite)
	case frame.SameLabel(label, c.positive):
		return 1, true
	}
	return 0, c.negative == "" || frame.SameLabel(label, c.negative)
}

// standard reads a class that needs no explanation: 1 against 0 or -1.
func standard(v float64, ok bool) (class float64, isClass bool) {
	return max(v, 0), ok && (v == 1 || v == 0 || v == -1)
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
	column := &rows.Columns[r.column]
	if column.Kind == credence.Category || column.Text {
		text := rows.TextOf(r.column, v)
		if v = r.label(text); math.IsInf(v, 0) {
			return 0, r.refuse(string(text))
		}
		if r.classes != nil {
			return v, nil
		}
	}
	if v == v {
		var err error
		if v, err = r.expr.Apply(v); err != nil {
			return 0, err
		}
	}
	if r.classes == nil || v != v {
		return v, nil
	}
	if r.classes.positive == "" {
		if class, ok := standard(v, true); ok {
			return class, nil
		}
	}
	return r.named(v, column.Kind)
}

// named returns the class of a number or boolean that the positive class names, or refuses it.
func (r *reader) named(v float64, kind credence.Kind) (float64, error) {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if truth, isBoolean := cell.ParseBoolean([]byte(r.classes.positive)); isBoolean && kind == credence.Boolean {
		return max(0, 1-math.Abs(truth-v)), nil
	}
	class, ok := r.classOf(text)
	if !ok {
		return 0, r.refuse(text)
	}
	return class, nil
}

// refuse says what is wrong with a label or a number.
func (r *reader) refuse(text string) error {
	quoted := cell.Quote(text)
	switch {
	case r.classes == nil:
		return fmt.Errorf("column %q: %s is not a number: correct the row", r.expr.Column, quoted)
	case r.classes.positive == "":
		return fmt.Errorf("label %s is not 1, 0 or -1, and two classes are learned: fit a target of numbers with credence fit, or learn with --positive CLASS, which stands against all the rest, or correct the row", quoted)
	}
	return fmt.Errorf("label %s is neither %s nor %s, the first two: learn with --positive CLASS, which stands against all the rest, or correct the row",
		quoted, r.classes.positive, r.classes.negative)
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
