package credence

import (
	"slices"
	"strings"

	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/linop"
)

// Kind says what the values of a column are.
type Kind uint8

// The kinds of columns. Booleans are numbers 0 and 1 that are never scaled; a
// category is stored as the index of its level.
const (
	Numeric Kind = iota
	Boolean
	Category
)

// String returns the name of the kind as it stands in --types.
func (k Kind) String() string {
	switch k {
	case Numeric:
		return "number"
	case Boolean:
		return "boolean"
	case Category:
		return "category"
	}
	return "unknown"
}

// Column describes a column of a table.
type Column struct {
	Name   string   `json:"name"`
	Kind   Kind     `json:"kind"`
	Levels []string `json:"levels,omitempty"` // of a Category: level i is stored as the number i
}

// Schema describes the rows of a table: named columns, and a sparse segment of
// Sparse columns, which SparseNames names.
type Schema struct {
	Columns []Column `json:"columns"`
	// Unread names columns that the file has and that were not asked for. A formula may
	// take them out of "." and do nothing else with them.
	Unread []string `json:"unread,omitempty"`
	Sparse int      `json:"sparse,omitempty"`
	SparseNames
	// Label says that the first column is the label of libsvm or Vowpal Wabbit text.
	// Columns named weight and offset beside it are the importance and the base.
	Label bool `json:"label,omitempty"`
	// Reading says how the texts of the table became values.
	Reading Reading `json:"reading,omitzero"`
}

// Reading says how the texts of a table became values, so that a model reads later tables as it read that
// of training.
type Reading struct {
	Missing   []string `json:"missing,omitempty"`   // texts that mean missing, beside the standard ones
	Delimiter string   `json:"delimiter,omitempty"` // between fields, where it was stated
	// Notations are those of columns whose numbers are not written as 1234.5.
	Notations map[string]Notation `json:"notations,omitempty"`
}

// Notation says how the numbers of a column are written.
type Notation = cell.Notation

// Set sets the notation of a column.
func (r *Reading) Set(column string, n Notation) {
	if r.Notations == nil {
		r.Notations = make(map[string]Notation)
	}
	r.Notations[column] = n
}

// Of returns the reading of the named columns alone.
func (r *Reading) Of(columns []Column) Reading {
	of := Reading{Missing: r.Missing, Delimiter: r.Delimiter}
	for i := range columns {
		if n, known := r.Notations[columns[i].Name]; known {
			of.Set(columns[i].Name, n)
		}
	}
	return of
}

// TextOf names the texts of a column's cells, trimmed, as a category of its own,
// whatever kind the column has: what hash(c) and onehot(c) take. A source may be
// asked for it as for any column.
func TextOf(column string) string { return "text(" + column + ")" }

// CutText returns the column whose texts [TextOf] names.
func CutText(name string) (column string, found bool) {
	if column, found = strings.CutPrefix(name, "text("); found {
		return strings.CutSuffix(column, ")")
	}
	return name, false
}

// Names returns the names of the columns.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for i := range s.Columns {
		names[i] = s.Columns[i].Name
	}
	return names
}

// Index returns the position of the named column, or -1.
func (s *Schema) Index(name string) int {
	return slices.IndexFunc(s.Columns, func(c Column) bool { return c.Name == name })
}

// Places returns the position of every named column; of equal names that of the first.
func (s *Schema) Places() map[string]int {
	places := make(map[string]int, len(s.Columns))
	for i := len(s.Columns) - 1; i >= 0; i-- {
		places[s.Columns[i].Name] = i
	}
	return places
}

// Chunk is a run of consecutive table rows as they stand in the file.
type Chunk struct {
	First  int         // index of the first row in its source
	Values linop.Dense // rows × len(Schema.Columns); a missing value is NaN, a category its level's index
	Sparse linop.CSR   // rows × Schema.Sparse; 0 columns where there is no sparse segment
	// Unseen is, for every row, the sum of squares of its entries in sparse columns
	// beyond Schema.Sparse, which the source left out; nil where there are none.
	Unseen []float64
}

// Rows returns the number of rows.
func (c *Chunk) Rows() int { return c.Values.Rows }

// Reset empties the chunk for the rows of a schema from row first on, keeping its memory.
func (c *Chunk) Reset(schema *Schema, first int) {
	c.First, c.Unseen = first, nil
	c.Values.Reshape(0, len(schema.Columns))
	c.Sparse.Reset(schema.Sparse)
}

// Append adds count rows of a chunk of the same schema, from its row first on.
func (c *Chunk) Append(src *Chunk, first, count int) {
	if n := c.Rows(); src.Unseen != nil {
		c.Unseen = append(append(c.Unseen, make([]float64, n-len(c.Unseen))...), src.Unseen[first:first+count]...)
	} else if c.Unseen != nil {
		c.Unseen = append(c.Unseen, make([]float64, count)...)
	}
	for i := first; i < first+count; i++ {
		c.Values.Data = append(c.Values.Data, src.Values.Row(i)...)
		if c.Sparse.Cols > 0 {
			c.Sparse.AppendRow(src.Sparse.Row(i))
		}
	}
	c.Values.Rows += count
}

// Source is a table that can be read again and again in the same order.
//
// Read fills dst with rows [first, first+count), reusing its memory; reading
// consecutive runs is the fast case. Sources are safe for use by one reader at a
// time.
type Source interface {
	Schema() *Schema
	Rows() int
	Read(dst *Chunk, first, count int) error
}

// Position is a place between two rows of files that are read one after the
// other, at which reading can be taken up again. The reader makes it; for
// everyone else it is a value to keep.
type Position struct {
	// Files is how many files are before the one of the place, each read to its end.
	Files int `json:"files,omitempty"`
	// Read tells these files from others by their beginnings, in their order; "" where they cannot be told.
	Read string `json:"read,omitempty"`
	// Beginning and Ending tell the file from another, whatever its name: digests of the first and of the last 64 KB
	// before the place; of Parquet, of what is before the end of its row group. What is behind it may change.
	Beginning string `json:"beginning,omitempty"`
	Ending    string `json:"ending,omitempty"`
	Offset    int64  `json:"offset"`    // bytes of the decompressed file before the place, or rows of Parquet
	Line      int    `json:"line"`      // lines of the file before the place
	Rows      int64  `json:"rows"`      // rows before the place, of all files
	Malformed int64  `json:"malformed"` // malformed rows before the place, of all files
}
