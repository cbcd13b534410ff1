package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	// write may make the text of row i by do(i) of each, which has one call for every row, on any thread; nil makes them in order.
	write(each func(do func(i int)), cells []float64, texts ...[]byte) error
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
	columns   []outputColumn
	numbers   int // columns of numbers in a row
	texts     int // columns of texts
	delimiter byte
	buffer    *bufio.Writer
	lines     [][]byte // of the rows of a call
}

func newCSVWriter(w io.Writer, columns []outputColumn, delimiter byte) (*csvWriter, error) {
	out := &csvWriter{columns: columns, delimiter: delimiter, buffer: bufio.NewWriterSize(w, 1<<16)}
	var line []byte
	for i, c := range columns {
		if c.text {
			out.texts++
		} else {
			out.numbers++
		}
		line = appendCell(out.between(line, i), []byte(c.name), delimiter)
	}
	_, err := out.buffer.Write(append(line, '\n'))
	return out, err
}

// between appends the delimiter in front of every column but the first.
func (w *csvWriter) between(line []byte, column int) []byte {
	if column == 0 {
		return line
	}
	return append(line, w.delimiter)
}

// appendCell appends a text, in quotes where a reader would not find its end without, as RFC 4180 has them, or would take
// blanks before it for none.
func appendCell(line, text []byte, delimiter byte) []byte {
	quoted := string(text) == `\.` // which ends the data of a database
	for _, c := range text {
		quoted = quoted || c == delimiter || c == '"' || c == '\n' || c == '\r'
	}
	if first, _ := utf8.DecodeRune(text); len(text) > 0 && unicode.IsSpace(first) {
		quoted = true
	}
	if !quoted {
		return append(line, text...)
	}
	line = append(line, '"')
	for _, c := range text {
		if c == '"' {
			line = append(line, '"')
		}
		line = append(line, c)
	}
	return append(line, '"')
}

// line appends the line of a row.
func (w *csvWriter) line(line []byte, cells []float64, texts [][]byte) []byte {
	for j := range w.columns {
		line = w.between(line, j)
		if w.columns[j].text {
			line, texts = appendCell(line, texts[0], w.delimiter), texts[1:]
			continue
		}
		if v := cells[0]; !math.IsNaN(v) {
			line = strconv.AppendFloat(line, v, 'g', -1, 64)
		}
		cells = cells[1:]
	}
	return append(line, '\n')
}

func (w *csvWriter) write(each func(do func(i int)), cells []float64, texts ...[]byte) error {
	rows := 0
	if w.numbers > 0 {
		rows = len(cells) / w.numbers
	} else {
		rows = len(texts) / max(1, w.texts)
	}
	for len(w.lines) < rows {
		w.lines = append(w.lines, nil)
	}
	do := func(i int) {
		w.lines[i] = w.line(w.lines[i][:0], cells[i*w.numbers:(i+1)*w.numbers], texts[i*w.texts:(i+1)*w.texts])
	}
	if each != nil {
		each(do)
	} else {
		for i := range rows {
			do(i)
		}
	}
	for _, line := range w.lines[:rows] {
		if _, err := w.buffer.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) close() error { return w.flush() }

func (w *csvWriter) flush() error { return w.buffer.Flush() }

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

func (w *parquetWriter) write(_ func(do func(i int)), cells []float64, texts ...[]byte) error {
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
