package output

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/credence-ml/credence/dataset"
)

// csvWriter writes delimited text.
type csvWriter struct {
	columns   []Column
	numbers   int // columns of numbers in a row
	texts     int // columns of texts
	delimiter byte
	buffer    *bufio.Writer
	lines     [][]byte // of the rows of a call
}

func newCSVWriter(w io.Writer, columns []Column, delimiter byte) *csvWriter {
	out := &csvWriter{columns: columns, delimiter: delimiter, buffer: bufio.NewWriterSize(w, 1<<16)}
	var line []byte
	for i, c := range columns {
		if c.Text {
			out.texts++
		} else {
			out.numbers++
		}
		line = appendCell(out.between(line, i), []byte(c.Name), delimiter)
	}
	out.buffer.Write(append(line, '\n')) // whose error the next writing returns
	return out
}

// between appends the delimiter in front of every column but the first.
func (w *csvWriter) between(line []byte, column int) []byte {
	if column == 0 {
		return line
	}
	return append(line, w.delimiter)
}

// appendCell appends a text, in quotes where a reader would not find its end without, as RFC 4180 has them, or would
// take blanks before it for none.
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

// appendNumber appends the shortest decimals of a number: up to 10¹⁵ without an exponent, which spreadsheets may take
// for text.
func appendNumber(line []byte, v float64) []byte {
	format := byte('g')
	if size := math.Abs(v); size >= 1 && size < 1e15 {
		format = 'f'
	}
	return strconv.AppendFloat(line, v, format, -1, 64)
}

// line appends the line of a row.
func (w *csvWriter) line(line []byte, cells []float64, texts [][]byte) []byte {
	for j := range w.columns {
		line = w.between(line, j)
		if w.columns[j].Text {
			line, texts = appendCell(line, texts[0], w.delimiter), texts[1:]
			continue
		}
		if v := cells[0]; !math.IsNaN(v) {
			line = appendNumber(line, v)
		}
		cells = cells[1:]
	}
	return append(line, '\n')
}

func (w *csvWriter) Write(each func(do func(i int)), cells []float64, texts ...[]byte) error {
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

func (w *csvWriter) Close() error { return w.Flush() }

func (w *csvWriter) Flush() error { return w.buffer.Flush() }

// vwWriter writes predictions as Vowpal Wabbit does: the mean of each row, which for two classes is the
// probability of the positive one, and behind a space its tag, if it has one.
type vwWriter struct {
	buffer       *bufio.Writer
	mean, tag    int // places of the columns among those of numbers, and of texts
	width, texts int
}

func newVWWriter(w io.Writer, columns []Column) *vwWriter {
	out := &vwWriter{buffer: bufio.NewWriter(w), mean: -1, tag: -1}
	for _, c := range columns {
		switch {
		case c.Text:
			if c.Name == dataset.TagColumn {
				out.tag = out.texts
			}
			out.texts++
		default:
			if c.Name == "mean" {
				out.mean = out.width
			}
			out.width++
		}
	}
	return out
}

func (w *vwWriter) Write(_ func(do func(i int)), cells []float64, texts ...[]byte) error {
	var line []byte
	for row := range slices.Chunk(cells, w.width) {
		line = appendNumber(line[:0], row[w.mean])
		if w.tag >= 0 && len(texts[w.tag]) > 0 {
			line = append(append(line, ' '), texts[w.tag]...)
		}
		texts = texts[w.texts:]
		if _, err := w.buffer.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (w *vwWriter) Flush() error { return w.buffer.Flush() }
func (w *vwWriter) Close() error { return w.Flush() }
