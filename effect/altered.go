package effect

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/metric"
)

// change replaces a column in every row.
type change struct {
	column int // of the table, or of its sparse segment
	sparse bool
	add    bool // the value to what stands there
	value  float64
}

// altered is a table in which some columns are replaced in every row. A run of rows is read once, however often it is
// changed.
type altered struct {
	source  credence.Source
	schema  credence.Schema
	run     credence.Chunk
	read    bool
	changes []change
	codes   map[int]map[string]float64 // of the levels of columns that were asked for
	weights *frame.Bound               // of which the offset is the weight of a row; nil where all are 1
}

// weigh makes rows count by the weights that a model states.
func (a *altered) weigh(weight *frame.Expr, missing frame.Policy) (err error) {
	if weight != nil && a.schema.Index(weight.Column) >= 0 {
		a.weights, err = (&frame.Frame{Offset: []frame.Expr{*weight}, Missing: missing}).Bind(a, frame.IgnoreTargets)
	}
	return err
}

// newAltered returns a table that has further levels: those of training that none of its rows has.
func newAltered(source credence.Source) *altered {
	a := &altered{source: source, schema: *source.Schema(), codes: map[int]map[string]float64{}}
	a.schema.Columns = slices.Clone(a.schema.Columns)
	return a
}

// code returns the number that a level has in a column, which gets it if need be.
func (a *altered) code(column int, level string) float64 {
	c, codes := &a.schema.Columns[column], a.codes[column]
	if codes == nil {
		codes = map[string]float64{}
		for k, level := range c.Levels {
			codes[level] = float64(k)
		}
		a.codes[column] = codes
	}
	code, known := codes[level]
	if !known {
		code = float64(len(c.Levels))
		c.Levels, codes[level] = append(slices.Clip(c.Levels), level), code
	}
	return code
}

// notInTraining stands for the levels of a group that training did not see, which have no codes of their own.
const notInTraining = "not in training"

// text writes a value of a column that is not missing.
func (a *altered) text(place int, v float64) string {
	switch column := &a.schema.Columns[place]; {
	case column.Kind == credence.Category && v < 0:
		return notInTraining
	case column.Kind == credence.Category && int(v) < len(column.Levels):
		return column.Levels[int(v)]
	case column.Kind == credence.Boolean:
		return strconv.FormatBool(v != 0)
	}
	return string(cell.AppendLevel(nil, v, 64)) // all digits, which tell ids apart
}

func (a *altered) Schema() *credence.Schema { return &a.schema }

func (a *altered) Rows() int { return a.source.Rows() }

// Place implements [frame.Placer].
func (a *altered) Place(row int) string {
	if p, ok := a.source.(frame.Placer); ok {
		return p.Place(row)
	}
	return fmt.Sprintf("row %d", row+1)
}

// load makes rows the current ones.
func (a *altered) load(first, count int) error {
	if a.read && a.run.First == first && a.run.Rows() == count {
		return nil
	}
	a.read = false
	if err := a.source.Read(&a.run, first, count); err != nil {
		return err
	}
	a.run.First, a.read = first, true
	return nil
}

// Read copies rows and changes them.
func (a *altered) Read(dst *credence.Chunk, first, count int) error {
	if err := a.load(first, count); err != nil {
		return err
	}
	dst.Reset(&a.schema, first)
	dst.Append(&a.run, 0, count)
	for _, c := range a.changes {
		if c.sparse {
			a.changeEntry(&dst.Sparse, c)
			continue
		}
		for i := range count {
			v := &dst.Values.Row(i)[c.column]
			if c.add {
				*v += c.value
			} else {
				*v = c.value
			}
		}
	}
	return nil
}

// changeEntry replaces an entry of every sparse row.
func (a *altered) changeEntry(rows *linop.CSR, c change) {
	before := *rows
	rows.Start, rows.Index, rows.Value = nil, nil, nil
	rows.Reset(before.Cols)
	var columns []int32
	var values []float64
	for i := range before.Rows {
		columns, values = columns[:0], values[:0]
		value := c.value
		for j, v := range before.Each(i) {
			if j != c.column {
				columns, values = append(columns, int32(j)), append(values, v)
			} else if c.add {
				value += v
			}
		}
		at, _ := slices.BinarySearch(columns, int32(c.column))
		rows.AppendRow(slices.Insert(columns, at, int32(c.column)), slices.Insert(values, at, value))
	}
}

// sample are values in ascending order, and how often each counts; no weights say once.
type sample struct{ values, weights []float64 }

func (s *sample) sd() float64 { return stat.StdDev(s.values, s.weights) }

// quantile is that of R's type 7, of values that stand as often as their weights say.
func (s *sample) quantile(p float64) float64 {
	if s.weights == nil {
		return special.Quantile(s.values, p)
	}
	total := 0.0
	for _, w := range s.weights {
		total += w
	}
	at := p * max(0, total-1)
	low := math.Floor(at)
	value := func(place float64) float64 {
		for k, w := range s.weights {
			if place -= w; place < 0 {
				return s.values[k]
			}
		}
		return s.values[len(s.values)-1]
	}
	return value(low) + (at-low)*(value(low+1)-value(low))
}

// numbers returns all values of a column, without those that are missing or count for nothing.
func (a *altered) numbers(c *column) (*sample, error) {
	type one struct{ value, weight float64 }
	var all []one
	var batch credence.Batch
	for first, count := range credence.Blocks(a.Rows()) {
		if err := a.load(first, count); err != nil {
			return nil, err
		}
		if a.weights != nil {
			if err := a.weights.Read(&batch, first, count); err != nil {
				return nil, err
			}
		}
		for i := range count {
			w := 1.0
			if a.weights != nil {
				w = batch.Offset[i]
			}
			if v := a.value(i, c); !math.IsNaN(v) && w > 0 {
				all = append(all, one{v, w})
			}
		}
	}
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.weight, b.weight)) })
	s := &sample{}
	for _, of := range all {
		if s.values = append(s.values, of.value); a.weights != nil {
			s.weights = append(s.weights, of.weight)
		}
	}
	return s, nil
}

// value returns what row i of the run has of a column.
func (a *altered) value(i int, c *column) float64 {
	if c.sparse < 0 {
		return a.run.Values.Row(i)[c.places[0]]
	}
	for j, v := range a.run.Sparse.Each(i) {
		if j == c.sparse {
			return v
		}
	}
	return 0
}

// Group is what rows have in common, Value a column with one of its values.
type (
	Group = metric.Group
	Value = metric.Value
)

// byColumn is a column by whose values rows are averaged.
type byColumn struct {
	name  string
	place int
}

// byColumns finds the columns in a table.
func byColumns(table *altered, names []string) (list []*byColumn, err error) {
	for _, name := range names {
		place := table.schema.Index(name)
		if place < 0 {
			return nil, fmt.Errorf("there is no column %q in the data to average by", name)
		}
		list = append(list, &byColumn{name, place})
	}
	return list, nil
}

// groupOf returns the group of row i of the run, and a key that tells it from others.
func groupOf(table *altered, by []*byColumn, i int) (key string, name Group) {
	for _, b := range by {
		value := "missing"
		if v := table.run.Values.Row(i)[b.place]; v == v {
			value = table.text(b.place, v)
		}
		key += value + "\x00"
		name = append(name, Value{Column: b.name, Value: value})
	}
	return key, name
}
