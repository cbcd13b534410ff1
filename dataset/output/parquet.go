package output

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// parquetWriter writes columns of doubles and strings, compressed.
type parquetWriter struct {
	columns []Column
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

func newParquetWriter(w io.Writer, columns []Column) *parquetWriter {
	group := parquet.Group{}
	place := map[string]int{}
	for j, c := range columns {
		place[c.Name] = j
		node := parquet.Leaf(parquet.DoubleType)
		if c.Text {
			node = parquet.String()
		}
		group[c.Name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
	}
	fields := group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int { return cmp.Compare(place[a.Name()], place[b.Name()]) })
	schema := parquet.NewSchema("predictions", &orderedGroup{group, fields})
	out := &parquetWriter{columns: columns, writer: parquet.NewGenericWriter[any](w, schema, parquet.MaxRowsPerRowGroup(rowsPerGroup)), row: make(parquet.Row, len(columns))}
	for _, c := range columns {
		leaf, _ := schema.Lookup(c.Name)
		out.leaf = append(out.leaf, leaf.ColumnIndex)
	}
	return out
}

func (w *parquetWriter) Write(_ func(do func(i int)), cells []float64, texts ...[]byte) error {
	for len(cells) > 0 {
		for j, leaf := range w.leaf {
			value := parquet.NullValue()
			if w.columns[j].Text {
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

func (w *parquetWriter) Close() error { return w.writer.Close() }

// flush does nothing: rows go in groups.
func (w *parquetWriter) Flush() error { return nil }
