package credence

import "github.com/credence-ml/credence/linop"

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
// Sparse numbered columns (libsvm), the k-th of which (from 1) is named "xk".
type Schema struct {
	Columns []Column `json:"columns"`
	Sparse  int      `json:"sparse,omitempty"`
	// Label says that the first column is the label of a libsvm file.
	Label bool `json:"label,omitempty"`
}

// Index returns the position of the named column, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Columns {
		if s.Columns[i].Name == name {
			return i
		}
	}
	return -1
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
