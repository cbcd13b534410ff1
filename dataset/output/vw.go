package output

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/credence-ml/credence/dataset"
)

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
		line = strconv.AppendFloat(line[:0], row[w.mean], 'g', -1, 64)
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
