package table

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Builder gathers columns.
type Builder struct {
	columns []Column
	values  []func(i int) value
	rows    int
	err     error
}

// New returns a table without columns.
func New() *Builder { return &Builder{rows: -1} }

// Numbers adds a column of numbers. NaN is a missing value.
func (b *Builder) Numbers(name string, values []float64) *Builder {
	return b.add(name, credence.Numeric, len(values), func(i int) value { return numberOf(values[i]) })
}

// Booleans adds a column of booleans.
func (b *Builder) Booleans(name string, values []bool) *Builder {
	return b.add(name, credence.Boolean, len(values), func(i int) value { return booleanOf(values[i]) })
}

// Categories adds a category. The empty text, and what means missing in files, is a missing value.
func (b *Builder) Categories(name string, values []string) *Builder {
	return b.add(name, credence.Category, len(values), func(i int) value { return value{form: text, text: values[i]} })
}

func (b *Builder) add(name string, kind credence.Kind, rows int, values func(i int) value) *Builder {
	if b.rows >= 0 && b.rows != rows && b.err == nil {
		b.err = fmt.Errorf("table: column %q has %d rows, and %q has %d", b.columns[0].Name, b.rows, name, rows)
	}
	if b.rows < 0 {
		b.rows = rows
	}
	b.columns, b.values = append(b.columns, Column{Name: name, Kind: kind}), append(b.values, values)
	return b
}

// Source returns the table. It holds a copy of the columns.
func (b *Builder) Source() (credence.Source, error) {
	if b.err != nil {
		return nil, b.err
	}
	g, err := newGatherer(b.columns)
	if err != nil {
		return nil, err
	}
	for i := range max(0, b.rows) {
		for j := range b.values {
			if err := g.put(&g.rows, j, b.values[j](i)); err != nil {
				return nil, g.at(err)
			}
		}
		g.rows.Count++
	}
	return g.source()
}

// Structs returns the table of a slice of structs, or of pointers to structs. A column has the name of
// the tag `credence:"name"`, or else that of the field; "-" leaves the field out. Strings are
// categories, numbers are none (a code is one as a string, or in a formula as onehot(code)), a nil pointer, a NaN and a
// null of database/sql that is not valid are missing values.
func Structs(slice any) (credence.Source, error) {
	rows := reflect.ValueOf(slice)
	if rows.Kind() != reflect.Slice && rows.Kind() != reflect.Array {
		return nil, fmt.Errorf("table: a %T is no slice of structs", slice)
	}
	t := rows.Type().Elem()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("table: a %T is no slice of structs", slice)
	}
	columns, err := ColumnsOf(reflect.Zero(t).Interface())
	if err != nil {
		return nil, err
	}
	g, err := newGatherer(columns)
	if err == nil {
		err = g.bind(t)
	}
	if err != nil {
		return nil, err
	}
	for i := range rows.Len() {
		v := rows.Index(i)
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return nil, fmt.Errorf("table: row %d is nil", i+1)
			}
			v = v.Elem()
		}
		if err := g.appendValue(&g.rows, v); err != nil {
			return nil, g.at(err)
		}
	}
	return g.source()
}

// sampleRows are the rows by whose values the kinds of columns are inferred, as in files.
const sampleRows = 10_000

// Records returns the table of rows of values, each beside its column's name. Kinds are inferred as
// in files: numbers and texts that are numbers make a column of numbers, true and false one
// of booleans, other texts a category; nil, NaN and the texts that mean missing in files are missing values.
func Records(names []string, rows [][]any) (credence.Source, error) {
	next := 0
	return fromRecords(names, func() ([]any, error) {
		if next == len(rows) {
			return nil, io.EOF
		}
		next++
		return rows[next-1], nil
	})
}

// SQL returns the table of a query's result, with kinds as Records infers them. It reads rows to
// the end and closes them.
func SQL(rows *sql.Rows) (credence.Source, error) {
	if rows == nil {
		return nil, errors.New("table: there are no rows: look at the error of the query first")
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	table, err := fromRecords(names, func() ([]any, error) {
		if !rows.Next() {
			return nil, io.EOF
		}
		record, places := make([]any, len(names)), make([]any, len(names))
		for j := range record {
			places[j] = &record[j]
		}
		return record, rows.Scan(places...)
	})
	if err == nil {
		err = rows.Err()
	}
	if err != nil {
		return nil, err
	}
	return table, rows.Close()
}

// fromRecords gathers what next returns up to io.EOF.
func fromRecords(names []string, next func() ([]any, error)) (credence.Source, error) {
	columns := make([]Column, len(names))
	for j, name := range names {
		columns[j] = Column{Name: name, Unknown: true}
	}
	g, err := newGatherer(columns)
	if err != nil {
		return nil, err
	}
	var sample [][]any
	inferred := false
	for {
		record, err := next()
		if err == nil && len(record) != len(names) {
			err = fmt.Errorf("has %d values for %d columns", len(record), len(names))
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("table: row %d: %w", g.rows.Count+len(sample)+1, err)
		}
		if err == nil {
			sample = append(sample, record)
		}
		if !inferred && err == nil && len(sample) < sampleRows {
			continue
		}
		if !inferred {
			g.infer(sample)
			inferred = true
		}
		for _, record := range sample {
			if err := g.record(record); err != nil {
				return nil, err
			}
		}
		sample = sample[:0]
		if err == io.EOF {
			return g.source()
		}
	}
}

// gatherer gathers all rows of a table.
type gatherer struct {
	binder
	rows Rows
}

func newGatherer(columns []Column) (*gatherer, error) {
	seen := make(map[string]bool, len(columns))
	for j, c := range columns {
		switch {
		case c.Name == "":
			return nil, fmt.Errorf("table: column %d has no name", j+1)
		case seen[c.Name]:
			return nil, fmt.Errorf("table: two columns are named %q: rename one", c.Name)
		}
		seen[c.Name] = true
	}
	g := &gatherer{}
	g.layout, g.rules = Layout{Columns: columns}, cell.NewRules(nil)
	g.Reset(&g.rows)
	return g, nil
}

// infer decides the kinds of the columns by a sample of the rows.
func (g *gatherer) infer(sample [][]any) {
	for j := range g.layout.Columns {
		var census cell.Census
		dates := false
		for _, record := range sample {
			g.count(&census, valueOf(record[j]))
			dates = dates || record[j] != nil && isTime(reflect.TypeOf(record[j]))
		}
		c := &g.layout.Columns[j]
		if c.infer(&census); dates && c.Kind == credence.Numeric {
			c.Notation.Date = timeOrder
		}
	}
}

// record appends a row.
func (g *gatherer) record(record []any) error {
	for j, v := range record {
		if err := g.put(&g.rows, j, valueOf(v)); err != nil {
			return g.at(err)
		}
	}
	g.rows.Count++
	return nil
}

// at adds the row to an error about a cell.
func (g *gatherer) at(err error) error {
	return fmt.Errorf("table: row %d: %s", g.rows.Count+1, strings.TrimPrefix(err.Error(), "table: "))
}

// source returns the gathered rows, levels sorted.
func (g *gatherer) source() (credence.Source, error) {
	schema := &credence.Schema{Columns: make([]credence.Column, len(g.layout.Columns))}
	for j, c := range g.layout.Columns {
		described := &schema.Columns[j]
		described.Name, described.Kind = c.Name, c.Kind
		if c.Notation != (credence.Notation{}) {
			schema.Reading.Set(c.Name, c.Notation)
		}
		if c.Kind != credence.Category {
			continue
		}
		for _, level := range g.rows.Levels[j].List {
			described.Levels = append(described.Levels, string(level.Text))
		}
		cell.SortLevels(described.Levels)
	}
	run := NewRun(schema)
	return run, run.Set(&g.rows)
}
