package frame

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

var nan = math.NaN()

// memory is a table in memory.
type memory struct {
	schema credence.Schema
	rows   [][]float64
	sparse []map[int]float64
	reads  int // passes begun, counted by reads of row 0
}

func (m *memory) Schema() *credence.Schema { return &m.schema }
func (m *memory) Rows() int                { return len(m.rows) }

func (m *memory) Read(dst *credence.Chunk, first, count int) error {
	if first == 0 {
		m.reads++
	}
	dst.First = first
	dst.Values.Reshape(count, len(m.schema.Columns))
	dst.Sparse.Reset(m.schema.Sparse)
	for i := range count {
		copy(dst.Values.Row(i), m.rows[first+i])
		if m.schema.Sparse == 0 {
			continue
		}
		columns, values := []int32{}, []float64{}
		for j := range m.schema.Sparse {
			if v, ok := m.sparse[first+i][j]; ok {
				columns, values = append(columns, int32(j)), append(values, v)
			}
		}
		dst.Sparse.AppendRow(columns, values)
	}
	return nil
}

// placed is a table whose rows have places.
type placed struct{ *memory }

func (placed) Place(row int) string { return fmt.Sprintf("train.csv:%d", row+2) }

// texted is a table that knows the text of every cell.
type texted struct{ *memory }

func (texted) Text(row int, column string) (string, bool) {
	return fmt.Sprintf("%s %d", column, row+1), true
}

// numbers is a table of numeric columns with the given names.
func numbers(names []string, rows ...[]float64) *memory {
	m := &memory{rows: rows}
	for _, name := range names {
		m.schema.Columns = append(m.schema.Columns, credence.Column{Name: name})
	}
	return m
}

// with makes a column of m a category, or a boolean if there are no levels.
func (m *memory) with(name string, levels ...string) *memory {
	c := &m.schema.Columns[m.schema.Index(name)]
	c.Kind, c.Levels = credence.Category, levels
	if len(levels) == 0 {
		c.Kind = credence.Boolean
	}
	return m
}

// readAll returns all rows in one batch.
func readAll(data credence.Data) (*credence.Batch, error) {
	batch := &credence.Batch{}
	return batch, data.Read(batch, 0, data.Rows())
}

// columnOf returns column j of a matrix.
func columnOf(x *linop.Dense, j int) []float64 {
	values := make([]float64, x.Rows)
	for i := range values {
		values[i] = x.Row(i)[j]
	}
	return values
}
