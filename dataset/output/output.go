// Package output writes tables as CSV, TSV, Parquet, or predictions as Vowpal Wabbit has them.
package output

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/credence-ml/credence/internal/parquet"
)

// Column is a column of a table to be written: of numbers, or of texts.
type Column struct {
	Name string
	Text bool
	// Number reads the texts of a column of numbers, NaN of an empty cell: Parquet has the numbers, other formats the
	// texts. nil means that they are texts everywhere.
	Number func(text []byte) (float64, error)
}

// Numbers returns columns of numbers of these names.
func Numbers(names ...string) []Column {
	columns := make([]Column, len(names))
	for j, name := range names {
		columns[j].Name = name
	}
	return columns
}

// Texts returns columns of texts of these names.
func Texts(names ...string) []Column {
	columns := Numbers(names...)
	for j := range columns {
		columns[j].Text = true
	}
	return columns
}

// Writer writes whole rows: the numbers of its number columns and the texts
// of its text columns, each row-major. NaN and an empty text are empty cells.
type Writer interface {
	// Write writes rows. It may make the text of row i by do(i) of each, which calls do once for every row, on any
	// thread; nil makes them in order.
	Write(each func(do func(i int)), cells []float64, texts ...[]byte) error
	Flush() error // sends what was written on its way
	Close() error // ends the table; what it is written to stays open
}

// ColumnError says which columns no table can have.
type ColumnError string

// Error implements error.
func (e ColumnError) Error() string { return string(e) }

// New returns a writer to w, of the format that the extension of the path names, CSV by default. It refuses
// names given twice, and Vowpal Wabbit text without the column mean that it holds, as a [ColumnError].
func New(w io.Writer, path string, columns []Column) (Writer, error) {
	if w == nil {
		return nil, fmt.Errorf("dataset: %s has no writer: give one", path)
	}
	seen := map[string]bool{}
	for _, c := range columns {
		if seen[c.Name] {
			return nil, ColumnError(fmt.Sprintf("the output would have two columns %q: keep other columns", c.Name))
		}
		seen[c.Name] = true
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet":
		return newParquetWriter(w, columns), nil
	case ".tsv":
		return newCSVWriter(w, columns, '\t'), nil
	case ".vw":
		if !seen["mean"] {
			return nil, ColumnError("predictions of Vowpal Wabbit rows are those of a column mean: add it")
		}
		return newVWWriter(w, columns), nil
	}
	return newCSVWriter(w, columns, ','), nil
}

// Check refuses paths whose extension names no format of [New].
func Check(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case "", ".csv", ".txt", ".tsv", ".parquet", ".vw":
		return nil
	}
	return fmt.Errorf("%s: tables are written as .csv, .tsv or .parquet, and predictions of Vowpal Wabbit rows as .vw", path)
}

// parquetWriter writes columns of doubles and strings, compressed.
type parquetWriter struct {
	columns []Column
	*parquet.Writer
}

func newParquetWriter(w io.Writer, columns []Column) *parquetWriter {
	names, text := make([]string, len(columns)), make([]bool, len(columns))
	for j, c := range columns {
		names[j], text[j] = c.Name, c.Text && c.Number == nil
	}
	return &parquetWriter{columns, parquet.NewWriter(w, names, text)}
}

func (w *parquetWriter) Write(_ func(do func(i int)), cells []float64, texts ...[]byte) error {
	for len(cells)+len(texts) > 0 {
		for j, c := range w.columns {
			switch {
			case c.Text && c.Number == nil:
				w.Text(j, texts[0])
				texts = texts[1:]
			case c.Text:
				v, err := c.Number(texts[0])
				if err != nil {
					return err
				}
				w.Number(j, v)
				texts = texts[1:]
			default:
				w.Number(j, cells[0])
				cells = cells[1:]
			}
		}
		if err := w.EndRow(); err != nil {
			return err
		}
	}
	return nil
}

// Flush does nothing: rows go in groups.
func (w *parquetWriter) Flush() error { return nil }
