package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// outputColumn is a column of a table to be written: of numbers, or of texts.
type outputColumn struct {
	name string
	text bool
}

// tableWriter writes whole rows: the numbers of its number columns and the texts
// of its text columns, each row-major. NaN and an empty text are empty cells.
type tableWriter interface {
	write(cells []float64, texts ...[]byte) error
	flush() error // what was written goes on its way
	close() error
}

// newTableWriter returns a writer of the format that the extension of the path
// names, CSV by default.
func newTableWriter(w io.Writer, path string, columns []outputColumn) (tableWriter, error) {
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.name] {
			return nil, misused(fmt.Errorf("the output would have two columns %q: keep other columns", c.name))
		}
		seen[c.name] = true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet":
		return newParquetWriter(w, columns), nil
	case ".tsv":
		return newCSVWriter(w, columns, '\t')
	case ".vw":
		return newVWWriter(w, columns), nil
	}
	return newCSVWriter(w, columns, ',')
}

// tableFormat refuses extensions that newTableWriter has no format for.
func tableFormat(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".csv", ".txt", ".tsv", ".parquet", ".vw":
		return nil
	}
	return misused(fmt.Errorf("%s: tables are written as .csv, .tsv or .parquet, and predictions of Vowpal Wabbit rows as .vw", path))
}

type csvWriter struct {
	columns []outputColumn
	buffer  *bufio.Writer
	csv     *csv.Writer
	record  []string
}

func newCSVWriter(w io.Writer, columns []outputColumn, delimiter rune) (*csvWriter, error) {
	out := &csvWriter{columns: columns, buffer: bufio.NewWriter(w), record: make([]string, len(columns))}
	out.csv = csv.NewWriter(out.buffer)
	out.csv.Comma = delimiter
	for i, c := range columns {
		out.record[i] = c.name
	}
	return out, out.csv.Write(out.record)
}

func (w *csvWriter) write(cells []float64, texts ...[]byte) error {
	for len(cells) > 0 {
		for j := range w.columns {
			if w.columns[j].text {
				w.record[j], texts = string(texts[0]), texts[1:]
				continue
			}
			w.record[j] = ""
			if v := cells[0]; !math.IsNaN(v) {
				w.record[j] = strconv.FormatFloat(v, 'g', -1, 64)
			}
			cells = cells[1:]
		}
		if err := w.csv.Write(w.record); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) close() error { return w.flush() }

func (w *csvWriter) flush() error {
	w.csv.Flush()
	if err := w.csv.Error(); err != nil {
		return err
	}
	return w.buffer.Flush()
}

type parquetWriter struct {
	columns []outputColumn
	leaf    []int // column of the file for each output column
	writer  *parquet.GenericWriter[any]
	row     parquet.Row
}

// orderedGroup is a group whose columns stand in the order of its fields; those of
// a plain one stand in the order of their names.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

func (g *orderedGroup) Fields() []parquet.Field { return g.fields }

// rowsPerGroup bounds what a Parquet writer holds in memory, and lets readers skip and share work.
const rowsPerGroup = 1 << 17

func newParquetWriter(w io.Writer, columns []outputColumn) *parquetWriter {
	group := parquet.Group{}
	place := map[string]int{}
	for j, c := range columns {
		place[c.name] = j
		node := parquet.Leaf(parquet.DoubleType)
		if c.text {
			node = parquet.String()
		}
		group[c.name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(place[a.Name()], place[b.Name()]) })
	schema := parquet.NewSchema("predictions", &orderedGroup{group, fields})
	out := &parquetWriter{columns: columns, writer: parquet.NewGenericWriter[any](w, schema, parquet.MaxRowsPerRowGroup(rowsPerGroup)), row: make(parquet.Row, len(columns))}
	for _, c := range columns {
		leaf, _ := schema.Lookup(c.name)
		out.leaf = append(out.leaf, leaf.ColumnIndex)
	}
	return out
}

func (w *parquetWriter) write(cells []float64, texts ...[]byte) error {
	for len(cells) > 0 {
		for j, leaf := range w.leaf {
			value := parquet.NullValue()
			if w.columns[j].text {
				if len(texts[0]) > 0 {
					value = parquet.ByteArrayValue(texts[0])
				}
				texts = texts[1:]
			} else {
				if v := cells[0]; !math.IsNaN(v) {
					value = parquet.DoubleValue(v)
				}
				cells = cells[1:]
			}
			definition := 1
			if value.IsNull() {
				definition = 0
			}
			w.row[leaf] = value.Level(0, definition, leaf)
		}
		if _, err := w.writer.WriteRows([]parquet.Row{w.row}); err != nil {
			return err
		}
	}
	return nil
}

func (w *parquetWriter) close() error { return w.writer.Close() }

// flush does nothing: rows go in groups.
func (w *parquetWriter) flush() error { return nil }
