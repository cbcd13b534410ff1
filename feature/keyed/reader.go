package keyed

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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
	levels  []float64 // of a category: the class or the number of each level; ∞ where it is none
}

// classes are those of a target.
type classes struct{ positive, negative string }

// begin works out what the levels of a run are.
func (r *reader) begin(rows *table.Rows) {
	r.levels = r.levels[:0]
	if r.column < 0 || rows.Columns[r.column].Kind != credence.Category && !rows.Columns[r.column].Text {
		return
	}
	list := &rows.Levels[r.column]
	for i, level := range list.List {
		v := math.Inf(1)
		switch class, ok := r.classOf(string(level.Text)); {
		case list.Missing[i]:
			v = math.NaN()
		case ok:
			v = class
		}
		r.levels = append(r.levels, v)
	}
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
	case sameLabel(label, c.positive):
		return 1, true
	}
	return 0, c.negative == "" || sameLabel(label, c.negative)
}

// standard reads a class that needs no explanation: 1 against 0 or -1.
func standard(v float64, ok bool) (class float64, isClass bool) {
	return max(v, 0), ok && (v == 1 || v == 0 || v == -1)
}

// sameLabel says whether a label is that of a class: the same text, the same number, or the same
// boolean word in whatever case.
func sameLabel(label, class string) bool {
	if label == class {
		return true
	}
	if want, finite, ok := cell.ParseNumber([]byte(class)); ok && finite {
		v, _, ok := cell.ParseNumber([]byte(label))
		return ok && v == want
	}
	_, boolean := cell.ParseBoolean([]byte(label))
	return boolean && strings.EqualFold(label, class)
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
		code := int(v)
		if v = r.levels[code]; math.IsInf(v, 0) {
			return 0, r.refuse(string(rows.Levels[r.column].List[code].Text))
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
