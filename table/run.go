package table

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// Run is rows under a schema, as a [credence.Source]: levels that the schema does not have are -1, and
// entries of sparse columns that it does not have are added up in [credence.Chunk.Unseen]. The rows have
// the columns of the schema, and may be replaced by others, so that a model bound to a Run once scores
// any number of rows.
type Run struct {
	schema     *credence.Schema
	rows       *Rows
	known      *Column // first of columns that are those of the schema, of kinds that will not change
	categories []translated
	features   map[uint64]int32 // key → column of the segment, where the schema describes them
	outside    int              // entries of the rows last read of columns that the schema does not have
}

// translated is a category of a schema.
type translated struct {
	column int
	codes  map[string]float64 // of the schema's levels
}

// NewRun returns a source under the schema, without rows.
func NewRun(schema *credence.Schema) *Run {
	r := &Run{schema: schema, rows: &Rows{}}
	for j, c := range schema.Columns {
		if c.Kind != credence.Category {
			continue
		}
		codes := make(map[string]float64, len(c.Levels))
		for code, level := range c.Levels {
			codes[level] = float64(code)
		}
		r.categories = append(r.categories, translated{column: j, codes: codes})
	}
	if schema.Features != nil {
		r.features = make(map[uint64]int32, len(schema.Features))
		for k, f := range schema.Features {
			r.features[f.Key] = int32(k)
		}
	}
	return r
}

// Set makes rows those of the source. They must have the columns of the schema, and perhaps others behind, and stay as
// they are until the next Set.
func (r *Run) Set(rows *Rows) error {
	if len(rows.Columns) < len(r.schema.Columns) {
		return fmt.Errorf("table: rows of %d columns for a schema of %d", len(rows.Columns), len(r.schema.Columns))
	}
	if len(rows.Columns) > 0 && &rows.Columns[0] != r.known {
		r.known = &rows.Columns[0]
		for j := range r.schema.Columns {
			have, want := &rows.Columns[j], &r.schema.Columns[j]
			if have.Name != want.Name || (have.Kind == credence.Category) != (want.Kind == credence.Category) {
				r.known = nil
				return fmt.Errorf("table: rows with the %s %q for a schema with the %s %q", have.Kind, have.Name, want.Kind, want.Name)
			}
			if have.Unknown {
				r.known = nil
			}
		}
	}
	r.rows = rows
	return nil
}

// Schema implements [credence.Source].
func (r *Run) Schema() *credence.Schema { return r.schema }

// Place says where a row stands: "rows.csv:17", or "row 17" where rows are those of a program.
func (r *Run) Place(row int) string {
	if line := r.rows.Line(row); r.rows.File != "" && line > 0 {
		return fmt.Sprintf("%s:%d", r.rows.File, line)
	}
	return fmt.Sprintf("row %d", row+1)
}

// Text returns the text of a category in a row, false where the cell is missing or the column is none.
func (r *Run) Text(row int, column string) (text string, ok bool) {
	for k := range r.categories {
		c := &r.categories[k]
		if r.schema.Columns[c.column].Name != column {
			continue
		}
		if code := r.rows.Row(row)[c.column]; code == code {
			return string(r.rows.TextOf(c.column, code)), true
		}
	}
	return "", false
}

// Unseen visits the texts of categories whose levels the schema does not have, from a row on.
func (r *Run) Unseen(from int, visit func(row int, column string, text []byte)) {
	for i := from; i < r.rows.Count; i++ {
		for _, c := range r.categories {
			if code := r.rows.Row(i)[c.column]; code == code {
				text := r.rows.TextOf(c.column, code)
				if _, known := c.codes[string(text)]; !known {
					visit(i, r.schema.Columns[c.column].Name, text)
				}
			}
		}
	}
}

// Outside returns how many entries of the rows last read are of columns that the schema does not have.
func (r *Run) Outside() int { return r.outside }

// Rows implements [credence.Source].
func (r *Run) Rows() int { return r.rows.Count }

// Read implements [credence.Source].
func (r *Run) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	width := len(r.schema.Columns)
	dst.Values.Reshape(count, width)
	if len(r.rows.Columns) == width {
		copy(dst.Values.Data, r.rows.Values[first*width:(first+count)*width])
	} else {
		for i := range count {
			copy(dst.Values.Row(i), r.rows.Row(first+i))
		}
	}
	for k := range r.categories {
		c := &r.categories[k]
		for at := c.column; at < len(dst.Values.Data); at += width {
			if own := dst.Values.Data[at]; own == own { // not missing
				code, known := c.codes[string(r.rows.TextOf(c.column, own))]
				if !known {
					code = -1
				}
				dst.Values.Data[at] = code
			}
		}
	}
	dst.Unseen, r.outside = nil, 0
	if r.schema.Sparse > 0 {
		r.readSparse(dst, first, count)
	}
	return nil
}

// readSparse stores the entries of columns that the schema has, in the order of these columns: their keys stand in
// that of the row.
func (r *Run) readSparse(dst *credence.Chunk, first, count int) {
	sparse := &dst.Sparse
	sparse.Reset(r.schema.Sparse)
	for i := range count {
		begin, last, disorder := len(sparse.Index), int32(-1), false
		if len(r.rows.Start) > 0 {
			for k := r.rows.Start[first+i]; k < r.rows.Start[first+i+1]; k++ {
				value := 1.0
				if !r.rows.Ones {
					value = r.rows.Value[k]
				}
				if column := r.column(r.rows.Keys[k]); column >= 0 {
					disorder, last = disorder || column < last, column
					sparse.Index, sparse.Value = append(sparse.Index, column), append(sparse.Value, value)
				} else {
					if dst.Unseen == nil {
						dst.Unseen = make([]float64, count)
					}
					dst.Unseen[i] += value * value
					r.outside++
				}
			}
		}
		if disorder {
			order.Entries(sparse.Index[begin:], sparse.Value[begin:])
		}
		sparse.Rows++
		sparse.Start = append(sparse.Start, len(sparse.Index))
	}
}

// column returns the column of the segment that has a key, or -1.
func (r *Run) column(key uint64) int32 {
	if r.features != nil {
		if column, known := r.features[key]; known {
			return column
		}
		return -1
	}
	if column := key - uint64(r.schema.SparseFirst()); column < uint64(r.schema.Sparse) {
		return int32(column)
	}
	return -1 // 0 where features count from 1 wraps around
}

// sparseRows is a table of labels and a sparse matrix.
type sparseRows struct {
	schema credence.Schema
	labels []float64
	x      linop.CSR
}

// Sparse returns a table of the columns of x, named x1, x2, …, and of a column "label", as a libsvm file
// gives it. A label that is NaN is missing; labels nil means that there are none. The table shares the memory.
func Sparse(labels []float64, x linop.CSR) (credence.Source, error) {
	if labels != nil && len(labels) != x.Rows {
		return nil, fmt.Errorf("table: %d labels for a matrix of %d rows", len(labels), x.Rows)
	}
	s := &sparseRows{schema: credence.Schema{Columns: []credence.Column{{Name: "label"}}, Sparse: x.Cols, Label: true}, labels: labels, x: x}
	if labels == nil {
		s.schema.Columns = nil
	}
	return s, nil
}

func (s *sparseRows) Schema() *credence.Schema { return &s.schema }
func (s *sparseRows) Rows() int                { return s.x.Rows }

func (s *sparseRows) Read(dst *credence.Chunk, first, count int) error {
	dst.First, dst.Unseen = first, nil
	dst.Values.Reshape(count, len(s.schema.Columns))
	if s.labels != nil {
		copy(dst.Values.Data, s.labels[first:first+count])
	}
	dst.Sparse.Reset(s.x.Cols)
	for i := range count {
		dst.Sparse.AppendRow(s.x.Row(first + i))
	}
	return nil
}
