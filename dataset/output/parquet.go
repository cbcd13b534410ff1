package output

import (
	"io"

	"github.com/credence-ml/credence/internal/parquet"
)

// parquetWriter writes columns of doubles and strings, compressed.
type parquetWriter struct {
	columns []Column
	*parquet.Writer
}

func newParquetWriter(w io.Writer, columns []Column) *parquetWriter {
	names, text := make([]string, len(columns)), make([]bool, len(columns))
	for j, c := range columns {
		names[j], text[j] = c.Name, c.Text
	}
	return &parquetWriter{columns, parquet.NewWriter(w, names, text)}
}

func (w *parquetWriter) Write(_ func(do func(i int)), cells []float64, texts ...[]byte) error {
	for len(cells) > 0 {
		for j, c := range w.columns {
			if c.Text {
				w.Text(j, texts[0])
				texts = texts[1:]
			} else {
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
