package glmdata

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/linop"
)

// Table is rows in memory. It implements [credence.Source].
type Table struct {
	schema credence.Schema
	all    *credence.Chunk
	rows   []int // of all; nil means every one
}

func newTable(columns []credence.Column, values linop.Dense) *Table {
	all := &credence.Chunk{Values: values}
	all.Sparse.Reset(0)
	all.Sparse.Rows = values.Rows
	return &Table{schema: credence.Schema{Columns: columns}, all: all}
}

// Load reads a file. schema, if not nil, is that of training.
func Load(ctx context.Context, path string, schema *credence.Schema, types map[string]credence.Kind) (*Table, error) {
	file, err := dataset.Open(ctx, []string{path}, dataset.Options{Schema: schema, Types: types})
	if err != nil {
		return nil, err
	}
	defer file.Close()
	source, err := file.Load(ctx, nil)
	if err != nil {
		return nil, err
	}
	all := new(credence.Chunk)
	if err := source.Read(all, 0, source.Rows()); err != nil {
		return nil, err
	}
	// What a source gives is its own until the next read.
	kept := &credence.Chunk{Values: linop.NewDense(all.Values.Rows, all.Values.Cols)}
	for i := range all.Values.Rows {
		copy(kept.Values.Row(i), all.Values.Row(i))
	}
	kept.Sparse.Reset(all.Sparse.Cols)
	kept.Sparse.Rows = all.Values.Rows
	if all.Sparse.Cols > 0 {
		kept.Sparse.Rows = 0
		for i := range all.Sparse.Rows {
			kept.Sparse.AppendRow(all.Sparse.Row(i))
		}
	}
	return &Table{schema: *source.Schema(), all: kept}, nil
}

// Part returns the rows for which take is true.
func (t *Table) Part(take func(row int) bool) *Table {
	part := &Table{schema: t.schema, all: t.all, rows: []int{}}
	for i := range t.Rows() {
		if take(i) {
			part.rows = append(part.rows, t.row(i))
		}
	}
	return part
}

func (t *Table) row(i int) int {
	if t.rows == nil {
		return i
	}
	return t.rows[i]
}

// Column returns the values of a named column; nil if there is none.
func (t *Table) Column(name string) []float64 {
	j := t.schema.Index(name)
	if j < 0 {
		return nil
	}
	values := make([]float64, t.Rows())
	for i := range values {
		values[i] = t.all.Values.Row(t.row(i))[j]
	}
	return values
}

// SparseRow returns the sparse entries of a row; nil values are ones.
func (t *Table) SparseRow(i int) (columns []int32, values []float64) {
	return t.all.Sparse.Row(t.row(i))
}

// Schema implements [credence.Source].
func (t *Table) Schema() *credence.Schema { return &t.schema }

// Rows implements [credence.Source].
func (t *Table) Rows() int {
	if t.rows == nil {
		return t.all.Values.Rows
	}
	return len(t.rows)
}

// Read implements [credence.Source].
func (t *Table) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, t.all.Values.Cols)
	dst.Sparse.Reset(t.all.Sparse.Cols)
	if t.all.Sparse.Value == nil {
		dst.Sparse.Value = nil
	}
	dst.Sparse.Rows = count
	if t.all.Sparse.Cols > 0 {
		dst.Sparse.Rows = 0
	}
	for i := range count {
		copy(dst.Values.Row(i), t.all.Values.Row(t.row(first+i)))
		if t.all.Sparse.Cols > 0 {
			dst.Sparse.AppendRow(t.SparseRow(first + i))
		}
	}
	return nil
}
