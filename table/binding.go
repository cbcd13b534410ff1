package table

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Layout says what rows are read from values of a program.
type Layout struct {
	Columns []Column
	Missing []string // texts that mean missing, beside the standard ones
	// Sparse says that the other keys of a map, x1, x2, …, are columns of a sparse segment.
	Sparse bool
}

// LayoutOf returns the layout with the columns of a schema.
func LayoutOf(schema *credence.Schema) Layout {
	layout := Layout{Sparse: schema.Sparse > 0, Missing: schema.Reading.Missing}
	for _, c := range schema.Columns {
		_, text := credence.CutText(c.Name)
		layout.Columns = append(layout.Columns, Column{Name: c.Name, Kind: c.Kind, Text: text, Notation: schema.Reading.Notations[c.Name]})
	}
	return layout
}

// ColumnsOf returns the columns that a value can give: those of the fields of a struct, or the keys
// of a map in the order of the alphabet, whose kinds only values can tell.
func ColumnsOf(value any) ([]Column, error) {
	v := reflect.Indirect(reflect.ValueOf(value))
	switch v.Kind() {
	case reflect.Struct:
		fields, err := fieldsOf(v.Type())
		if err != nil {
			return nil, err
		}
		columns := make([]Column, len(fields))
		for i := range fields {
			if fields[i].err != nil {
				return nil, fields[i].err
			}
			columns[i] = fields[i].Column
		}
		return columns, nil
	case reflect.Map:
		if get, ok := getter(v); ok {
			var columns []Column
			for _, name := range get.names() {
				columns = append(columns, Column{Name: name, Unknown: true})
			}
			return columns, nil
		}
	}
	return nil, errNoRow(value)
}

func errNoRow(value any) error {
	return fmt.Errorf("table: a %T is no row: give a struct, or a map[string]any", value)
}

// Binding reads values of type T as rows of a layout: T is a struct, a map[string]any,
// map[string]float64 or map[string]string, a pointer to one of them, or an interface that holds one. In
// steady state it allocates nothing. It is for one goroutine at a time.
type Binding[T any] struct {
	binder
	held *T
}

// binder reads values whose type is known at run time.
type binder struct {
	layout  Layout
	rules   cell.Rules
	bound   reflect.Type // of the structs that fields read
	fields  []field      // of each column
	scratch []byte
	texts   []byte // memory of the texts of a run
	entries []entry
}

// Bind prepares to read values of type T. A struct needs a field for every column, a map a key; nil
// and NaN say that a value is missing.
func Bind[T any](layout Layout) (*Binding[T], error) {
	layout.Columns = slices.Clone(layout.Columns) // kinds may be found out
	b := &Binding[T]{binder{layout: layout, rules: cell.NewRules(layout.Missing)}, new(T)}
	t := reflect.TypeFor[T]()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Map: // the values tell
		return b, nil
	case reflect.Struct:
		return b, b.bind(t)
	}
	return nil, errNoRow(*b.held)
}

// bind finds the fields of a struct type that make the columns.
func (b *binder) bind(t reflect.Type) error {
	all, err := fieldsOf(t)
	if err != nil {
		return err
	}
	b.bound, b.fields = nil, b.fields[:0]
	byName := make(map[string]*field, len(all))
	for i := range all {
		byName[all[i].Name] = &all[i]
	}
	for _, c := range b.layout.Columns {
		name := stated(&c)
		f, ok := byName[name]
		if !ok {
			return fmt.Errorf("table: %s has no field for the column %q: add one, or name it with the tag `credence:%q`", t, name, name)
		}
		if f.err != nil {
			return f.err
		}
		read := *f // which two columns may read: a number and its text
		if own := t.Field(f.path[0]); len(f.path) == 1 && own.Type.Kind() == reflect.Float64 && !c.Text && !c.Unknown && c.Kind != credence.Category {
			read.plain, read.offset = true, own.Offset
		}
		b.fields = append(b.fields, read)
	}
	b.bound = t
	return nil
}

// stated is the name of a column under which a program states it: that of the column whose texts it holds.
func stated(c *Column) string {
	if name, text := credence.CutText(c.Name); text && c.Text {
		return name
	}
	return c.Name
}

// Reset empties rows for what Append will add.
func (b *binder) Reset(rows *Rows) {
	rows.Reset("", b.layout.Columns)
	if b.layout.Sparse {
		rows.Start = append(rows.Start, 0)
	}
	b.texts = b.texts[:0]
}

// Append adds a row to rows, which Reset has emptied. An error names the column; the row is then left out.
func (b *Binding[T]) Append(rows *Rows, row T) error {
	*b.held = row
	v := reflect.ValueOf(b.held).Elem()
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return fmt.Errorf("table: a nil %T is no row", row)
		}
		v = v.Elem()
	}
	return b.appendValue(rows, v)
}

func (b *binder) appendValue(rows *Rows, v reflect.Value) error {
	values, entries := len(rows.Values), len(rows.Keys)
	var err error
	switch v.Kind() {
	case reflect.Struct:
		if t := v.Type(); t != b.bound {
			if err := b.bind(t); err != nil {
				return err
			}
		}
		var start unsafe.Pointer // of the struct, where it stands in memory
		if v.CanAddr() {
			start = v.Addr().UnsafePointer()
		}
		for j := range b.fields {
			if f := &b.fields[j]; f.plain {
				if start != nil {
					rows.Values = append(rows.Values, *(*float64)(unsafe.Add(start, f.offset)))
				} else {
					rows.Values = append(rows.Values, v.Field(f.path[0]).Float())
				}
				continue
			}
			if err = b.put(rows, j, b.fields[j].in(v)); err != nil {
				break
			}
		}
	case reflect.Map:
		get, ok := getter(v)
		if !ok {
			return errNoRow(v.Interface())
		}
		err = b.appendMap(rows, get)
	default:
		return errNoRow(v.Interface())
	}
	if err != nil {
		rows.Values, rows.Keys, rows.Value = rows.Values[:values], rows.Keys[:entries], rows.Value[:entries]
		return err
	}
	if b.layout.Sparse {
		rows.Start = append(rows.Start, len(rows.Keys))
	}
	rows.Count++
	return nil
}

// put appends the cell of column j.
func (b *binder) put(rows *Rows, j int, v value) error {
	c := &b.layout.Columns[j]
	if v.form == text {
		v.text = strings.TrimSpace(v.text)
		if b.scratch = append(b.scratch[:0], v.text...); b.rules.IsMissing(b.scratch) {
			v = value{}
		}
	}
	if v.form == missing {
		rows.Values = append(rows.Values, math.NaN())
		return nil
	}
	if c.Unknown {
		c.Unknown = false
		if !c.Text {
			var census cell.Census
			b.count(&census, v)
			c.infer(&census)
		}
	}
	cellValue, fault := 0.0, ""
	switch {
	case v.form == foreign:
		fault = "holds what is no number, boolean or text: leave it out, or give a number"
	case c.Text || c.Kind == credence.Category:
		return b.putText(rows, j, v)
	case v.form != text:
		cellValue = v.number
	case c.Kind == credence.Boolean:
		cellValue, fault = b.rules.Boolean(b.scratch)
	default:
		cellValue, fault = b.rules.Number(b.scratch, &c.Notation)
	}
	if fault != "" {
		return fmt.Errorf("table: column %q: %s", c.Name, fault)
	}
	rows.Values = append(rows.Values, cellValue)
	return nil
}

// count adds a value to the census of its column.
func (b *binder) count(census *cell.Census, v value) {
	switch v.form {
	case number:
		census.Add([]byte("0"), &b.rules)
	case boolean, text:
		b.scratch = v.appendText(b.scratch[:0])
		census.Add(bytes.TrimSpace(b.scratch), &b.rules)
	}
}

// infer sets the kind that a census of the column tells, unknown without any value, and the notation.
func (c *Column) infer(census *cell.Census) {
	v := census.Decide(cell.Setting{Name: c.Name})
	c.Kind, c.Unknown, c.Notation = credence.Numeric, v.Kind == cell.Unknown, v.Notation
	switch {
	case v.Kind == cell.Boolean:
		c.Kind = credence.Boolean
	case v.Kind == cell.Category || v.Refusal != "":
		c.Kind, c.Notation = credence.Category, credence.Notation{}
	}
}

// putText appends the number of a text among the levels of column j.
func (b *binder) putText(rows *Rows, j int, v value) error {
	b.scratch = v.appendText(b.scratch[:0])
	code, isNew := rows.Levels[j].Find(b.scratch, 0)
	level := &rows.Levels[j].List[code]
	if isNew {
		switch {
		case !utf8.Valid(b.scratch) || bytes.IndexByte(b.scratch, 0) >= 0:
			level.Fault = cell.Quote(b.scratch) + " is not text in UTF-8"
		case len(b.scratch) > cell.MaxLevel:
			level.Fault = fmt.Sprintf("a text of %d bytes is no category: leave the column out", len(b.scratch))
		}
		from := len(b.texts)
		b.texts = append(b.texts, b.scratch...) // texts before it keep their memory where this takes more
		level.Text = b.texts[from:len(b.texts):len(b.texts)]
	}
	if level.Fault != "" { // in each row that has it: the first was left out
		return fmt.Errorf("table: column %q: %s", b.layout.Columns[j].Name, level.Fault)
	}
	rows.Values = append(rows.Values, float64(code))
	return nil
}
