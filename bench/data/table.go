// Package data holds what the benchmarks are run on: the regression sets of the
// literature with the splits by which they are measured, other sets, as tables in memory
// of which parts can be taken, and generated sets that other programs were run on,
// number for number as NumPy draws them. Rows are counted from 0 without the header.
package data

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

// Table is rows in memory. It implements [credence.Source].
type Table struct {
	schema credence.Schema
	all    *credence.Chunk
	rows   []int // of all
}

func newTable(schema credence.Schema, all *credence.Chunk) *Table {
	t := &Table{schema: schema, all: all, rows: make([]int, all.Values.Rows)}
	for i := range t.rows {
		t.rows[i] = i
	}
	return t
}

// Missing says whether the data folder does not hold a set.
func Missing(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return errors.Is(err, fs.ErrNotExist)
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
	t := newTable(*source.Schema(), all)
	kept := new(credence.Chunk)
	if err := t.Read(kept, 0, t.Rows()); err != nil {
		return nil, err
	}
	t.all = kept
	return t, nil
}

// Part returns the rows for which take is true.
func (t *Table) Part(take func(row int) bool) *Table {
	part := &Table{schema: t.schema, all: t.all, rows: []int{}}
	for i, row := range t.rows {
		if take(i) {
			part.rows = append(part.rows, row)
		}
	}
	return part
}

// Divide returns the rows for which test is false, and the others.
func (t *Table) Divide(test func(row int) bool) (train, others *Table) {
	return t.Part(func(row int) bool { return !test(row) }), t.Part(test)
}

// Column returns the values of a named column; nil if there is none.
func (t *Table) Column(name string) []float64 {
	j := t.schema.Index(name)
	if j < 0 {
		return nil
	}
	values := make([]float64, t.Rows())
	for i, row := range t.rows {
		values[i] = t.all.Values.Row(row)[j]
	}
	return values
}

// SparseRow returns the sparse entries of a row; nil values are ones.
func (t *Table) SparseRow(i int) (columns []int32, values []float64) {
	return t.all.Sparse.Row(t.rows[i])
}

// Schema implements [credence.Source].
func (t *Table) Schema() *credence.Schema { return &t.schema }

// Rows implements [credence.Source].
func (t *Table) Rows() int { return len(t.rows) }

// Read implements [credence.Source].
func (t *Table) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, t.all.Values.Cols)
	dst.Sparse.Reset(t.all.Sparse.Cols)
	for i := range count {
		copy(dst.Values.Row(i), t.all.Values.Row(t.rows[first+i]))
		if t.all.Sparse.Cols > 0 {
			dst.Sparse.AppendRow(t.SparseRow(first + i))
		}
	}
	dst.Sparse.Rows = count
	return nil
}
