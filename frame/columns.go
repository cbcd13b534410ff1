package frame

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// view reads the columns that expressions name from the chunks of a table.
type view struct {
	schema  *credence.Schema
	segment credence.SparseNames // by which expressions name sparse columns
	index   map[string]int       // column → its place in the schema
	names   map[string]int       // column → slot
	slots   []slot
	current *credence.Chunk
	named   []named     // columns of the segment that expressions name, increasing
	spread  linop.Dense // the named columns of the segment
	place   func(row int) string
	tile    []float64 // columns [first, first+tileColumns) of the current rows, one after another
	first   int       // -1 where there are none
}

const (
	// wideColumns is how many columns make a table so wide that one value a row is a line of memory a row.
	wideColumns = 256
	// tileColumns is how many columns, which stand in one line, are then copied at once.
	tileColumns = 8
)

// slot is where a raw column comes from.
type slot struct {
	name   string
	column int    // of the dense columns, or -1
	sparse int    // of the sparse segment, or -1
	wide   int    // column of spread, for sparse ones
	texts  *texts // of numbers, or of what steps make of them, that are taken as levels; nil for others
	keyed  bool   // for hash alone: a missing value is a level
}

// named is a column of the segment with its place in spread.
type named struct {
	column int32
	wide   int
}

// operand is an expression with the slot of its column.
type operand struct {
	*Expr
	slot int // -1 for a constant
}

func newView(schema *credence.Schema, place func(row int) string) *view {
	return &view{schema: schema, segment: schema.SparseNames, names: map[string]int{}, index: schema.Places(), place: place}
}

// add gives the expressions' columns slots. wide is the width that a sparse
// segment had in training: a column within it that the present one lacks is zero.
func (v *view) add(wide int, expressions ...*Expr) error {
	var lacking []string
	for _, e := range expressions {
		if e == nil || e.Column == "" {
			continue
		}
		if k, ok := v.names[e.root()]; ok {
			v.slots[k].keyed = v.slots[k].keyed && e.Keyed
			continue
		}
		s := slot{name: e.Column, column: -1, sparse: -1, keyed: e.Keyed}
		if column, known := v.index[e.Column]; known {
			if s.column = column; e.Level {
				if c := &v.schema.Columns[column]; c.Kind == credence.Category {
					return asNumbers(e, c.Levels)
				}
				s.texts = &texts{kind: credence.Numeric, codes: map[float64]float64{}}
			}
		} else if column, known := v.textOf(e.Column); known {
			s.column = column
			if c := &v.schema.Columns[column]; c.Kind != credence.Category {
				s.texts = &texts{kind: c.Kind, codes: map[float64]float64{}}
			}
		} else if s.sparse = v.segment.SparseIndex(max(wide, v.schema.Sparse), e.Column); s.sparse >= 0 {
			s.wide = v.spread.Cols
			v.named = append(v.named, named{int32(s.sparse), s.wide})
			v.spread.Cols++
		} else {
			lacking = append(lacking, e.Column)
			continue
		}
		v.names[e.root()] = len(v.slots)
		v.slots = append(v.slots, s)
	}
	slices.SortFunc(v.named, func(a, b named) int { return cmp.Compare(a.column, b.column) })
	if len(lacking) > 0 {
		return fmt.Errorf("frame: the table lacks %s, which the model uses: add the %s, under the same name as in training",
			list(lacking), cell.Plural(len(lacking), "column", "columns"))
	}
	return nil
}

// textOf returns the column whose texts the named column holds.
func (v *view) textOf(name string) (column int, known bool) {
	of, text := credence.CutText(name)
	if !text {
		return -1, false
	}
	column, known = v.index[of]
	return column, known
}

// operand returns an expression, whose column has a slot, with it.
func (v *view) operand(e *Expr) operand {
	if e.Column == "" {
		return operand{e, -1}
	}
	return operand{e, v.names[e.root()]}
}

// kind returns what the raw column of an expression holds.
func (v *view) kind(e *Expr) credence.Kind {
	if e.Column == "" {
		return credence.Numeric
	}
	switch s := &v.slots[v.names[e.root()]]; {
	case s.column < 0:
		return credence.Numeric
	case s.texts != nil:
		return credence.Category
	default:
		return v.schema.Columns[s.column].Kind
	}
}

// levels returns the levels of an expression's raw column.
func (v *view) levels(e *Expr) []string {
	s := &v.slots[v.names[e.root()]]
	if s.texts != nil {
		return s.texts.levels
	}
	return v.schema.Columns[s.column].Levels
}

// show makes a chunk the current one.
func (v *view) show(chunk *credence.Chunk) {
	v.current, v.first = chunk, -1
	if v.spread.Cols == 0 {
		return
	}
	v.spread.Reshape(chunk.Rows(), v.spread.Cols)
	clear(v.spread.Data)
	if v.schema.Sparse == 0 {
		return
	}
	for i := range v.spread.Rows {
		row, next := v.spread.Row(i), 0
		columns, values := chunk.Sparse.Row(i)
		for k, j := range columns { // columns and named both increase
			for next < len(v.named) && v.named[next].column < j {
				next++
			}
			if next == len(v.named) {
				break
			}
			if to := v.named[next]; to.column == j {
				row[to.wide] = linop.At(values, k)
			}
		}
	}
}

// gather stores the slot's column of the current rows in dst.
func (v *view) gather(dst []float64, s *slot) {
	from, at := &v.current.Values, s.column
	if s.column < 0 {
		from, at = &v.spread, s.wide
	} else if from.Cols > wideColumns {
		v.loadTile(s.column / tileColumns * tileColumns)
		copy(dst, v.tile[(at-v.first)*from.Rows:])
		return
	}
	for i := range dst {
		dst[i] = from.Data[i*from.Stride+at]
	}
}

// loadTile copies the columns from first on.
func (v *view) loadTile(first int) {
	if v.first == first {
		return
	}
	v.first = first
	from := &v.current.Values
	v.tile = order.Resized(v.tile, tileColumns*from.Rows)
	count := min(tileColumns, from.Cols-first)
	for i := range from.Rows {
		for k, value := range from.Row(i)[first : first+count] {
			v.tile[k*from.Rows+i] = value
		}
	}
}

// evaluate stores the expression after its first steps steps in dst, which has
// the length of the current rows. first is the model's row of dst[0].
func (v *view) evaluate(dst []float64, e operand, steps, first int) error {
	if e.slot < 0 {
		for i := range dst {
			dst[i] = e.Value
		}
	} else {
		s := &v.slots[e.slot]
		v.gather(dst, s)
		if s.texts != nil && !e.Level {
			s.texts.encode(dst)
		}
	}
	if bad := e.apply(dst, steps); bad != nil {
		return v.fail(first+bad.row, bad)
	}
	if e.Level {
		v.slots[e.slot].texts.encode(dst)
	}
	return nil
}

// lacking marks the current rows in which one of the columns that drops names is missing, and counts them.
func (v *view) lacking(marks []bool, column []float64, drops func(column string) bool) (count int) {
	clear(marks)
	for k := range v.slots {
		if v.slots[k].keyed || !drops(v.slots[k].name) {
			continue
		}
		v.gather(column, &v.slots[k])
		for i, value := range column {
			if value != value && !marks[i] {
				marks[i] = true
				count++
			}
		}
	}
	return count
}

// checkSparse refuses values of the sparse segment that are no numbers.
func (v *view) checkSparse(first int) error {
	sparse := &v.current.Sparse
	sum := 0.0
	for _, value := range sparse.Value {
		sum += value - value // 0 for a number, NaN otherwise
	}
	if sum == 0 {
		return nil
	}
	for i := range sparse.Rows {
		columns, values := sparse.Row(i)
		for k, value := range values {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return v.fail(first+i, fmt.Errorf("column %q is %s: correct the value or leave it out of the row", v.schema.SparseName(int(columns[k])), number(value)))
			}
		}
	}
	return nil
}

// fail is an error about row i of the model.
func (v *view) fail(i int, err error) error {
	return fmt.Errorf("frame: %s: %w", v.place(i), err)
}

// texts takes the numbers of a column to levels, which are their shortest texts.
type texts struct {
	kind   credence.Kind
	fixed  bool // the levels are those of training
	codes  map[float64]float64
	levels []string
}

// fix makes the levels those of training.
func (t *texts) fix(levels []string) {
	t.fixed, t.levels = true, levels
	for code, level := range levels {
		value, err := strconv.ParseFloat(level, 64)
		if t.kind == credence.Boolean {
			value = float64(slices.Index(booleans[:], level))
			err = nil
		}
		if err == nil && t.text(value) == level {
			t.codes[value] = float64(code)
		}
	}
}

// booleans are the texts of booleans, by their number.
var booleans = [...]string{"false", "true"}

func (t *texts) text(value float64) string {
	if k := int(value); t.kind == credence.Boolean && float64(k) == value && k >= 0 && k < len(booleans) {
		return booleans[k]
	}
	return number(value)
}

// encode replaces numbers by the codes of their levels, -1 where training did not have it.
func (t *texts) encode(values []float64) {
	for i, value := range values {
		if value != value {
			continue
		}
		code, known := t.codes[value]
		if !known && t.fixed {
			code = -1
		} else if !known {
			code = float64(len(t.levels))
			t.codes[value] = code
			t.levels = append(t.levels, t.text(value))
		}
		values[i] = code
	}
}
