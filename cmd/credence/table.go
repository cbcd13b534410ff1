package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// outputColumn is a column of a table to be written: numbers, or levels of text
// given by their index.
type outputColumn struct {
	name   string
	text   bool
	levels []string
}

// tableWriter writes rows of numbers; for a column of text a number is the index
// of a level, and for any column NaN is an empty cell.
type tableWriter interface {
	write(cells []float64) error // whole rows, row-major
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
	}
	return newCSVWriter(w, columns, ',')
}

// tableFormat refuses extensions that newTableWriter has no format for.
func tableFormat(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".csv", ".txt", ".tsv", ".parquet":
		return nil
	}
	return misused(fmt.Errorf("%s: tables are written as .csv, .tsv or .parquet", path))
}

// checkFolder refuses a file in a folder that is not there, before work is done
// that could not be saved.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot write %s: there is no folder %s: create it first", path, folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("cannot write %s: %s is not a folder", path, folder)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("cannot write %s: it is a folder: name a file", path)
	}
	return nil
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

func (w *csvWriter) write(cells []float64) error {
	for first := 0; first < len(cells); first += len(w.columns) {
		for j, v := range cells[first : first+len(w.columns)] {
			switch c := &w.columns[j]; {
			case math.IsNaN(v) || c.text && v < 0:
				w.record[j] = ""
			case c.text:
				w.record[j] = c.levels[int(v)]
			default:
				w.record[j] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		if err := w.csv.Write(w.record); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) close() error {
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

func newParquetWriter(w io.Writer, columns []outputColumn) *parquetWriter {
	group := parquet.Group{}
	place := map[string]int{}
	for j, c := range columns {
		place[c.name] = j
		node := parquet.Leaf(parquet.DoubleType)
		if c.text {
			node = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
		group[c.name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(place[a.Name()], place[b.Name()]) })
	schema := parquet.NewSchema("predictions", &orderedGroup{group, fields})
	out := &parquetWriter{columns: columns, writer: parquet.NewGenericWriter[any](w, schema), row: make(parquet.Row, len(columns))}
	for _, c := range columns {
		leaf, _ := schema.Lookup(c.name)
		out.leaf = append(out.leaf, leaf.ColumnIndex)
	}
	return out
}

func (w *parquetWriter) write(cells []float64) error {
	for first := 0; first < len(cells); first += len(w.columns) {
		for j, v := range cells[first : first+len(w.columns)] {
			c, leaf := &w.columns[j], w.leaf[j]
			switch {
			case math.IsNaN(v) || c.text && v < 0:
				w.row[leaf] = parquet.NullValue().Level(0, 0, leaf)
			case c.text:
				w.row[leaf] = parquet.ByteArrayValue([]byte(c.levels[int(v)])).Level(0, 1, leaf)
			default:
				w.row[leaf] = parquet.DoubleValue(v).Level(0, 1, leaf)
			}
		}
		if _, err := w.writer.WriteRows([]parquet.Row{w.row}); err != nil {
			return err
		}
	}
	return nil
}

func (w *parquetWriter) close() error { return w.writer.Close() }
