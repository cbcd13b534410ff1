package dataset

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
)

// maxSparseColumns is the most columns of the sparse segment of a table.
const maxSparseColumns = 10_000_000

// numbering gives the keys of sparse entries their columns: their distance from
// the first index, or, keyed, a number in the order in which keys come first.
type numbering struct {
	trained  bool // the columns are those of training; other entries are dropped
	keyed    bool
	first    int // the index that column 0 has, where not keyed
	columns  map[uint64]int32
	features []credence.SparseFeature
	sparse   int  // columns so far
	zero     bool // the index 0 occurred where not trained: it is stored as column -1
	dropped  int
	disorder bool // of the row that is appended
}

// newNumbering returns the numbering of a training table, or that of its schema.
func newNumbering(trained *credence.Schema, keyed bool) *numbering {
	n := &numbering{first: 1, keyed: keyed}
	if trained != nil {
		n.trained, n.keyed = true, trained.Features != nil
		n.first, n.sparse, n.features = trained.SparseFirst(), trained.Sparse, trained.Features
	}
	if n.keyed {
		n.columns = make(map[uint64]int32, len(n.features))
		for i, f := range n.features {
			n.columns[f.Key] = int32(i)
		}
	}
	return n
}

// appendRow appends the entries of row i to dst, and returns the sum of squares of
// those that are dropped. The values of dst are nil as long as all are ones.
func (n *numbering) appendRow(dst *linop.CSR, rows *table.Rows, i int) (unseen float64, err error) {
	first := len(dst.Index)
	index, values, last := dst.Index, dst.Value, int32(-2)
	n.disorder = false
	for k := rows.Start[i]; k < rows.Start[i+1]; k++ {
		value := 1.0
		if !rows.Ones {
			value = rows.Value[k]
		}
		place := rows.Keys[k] - uint64(n.first)
		column, known := int32(place), !n.keyed && place < uint64(n.sparse) // as most are
		if !known {
			if column, known, err = n.column(rows, i, k); err != nil {
				return 0, err
			}
		}
		if !known {
			n.dropped++
			unseen += value * value
			continue
		}
		n.disorder = n.disorder || column <= last
		last = column
		switch {
		case values != nil:
			values = append(values, value)
		case value != 1:
			values = append(text.AppendOnes(make([]float64, 0, cap(index)+1), len(index)), value)
		}
		index = append(index, column)
	}
	dst.Index, dst.Value = index, values
	if n.disorder {
		order.Entries(dst.Index[first:], dst.Value[min(first, len(dst.Value)):])
	}
	dst.Start = append(dst.Start, len(dst.Index))
	return unseen, nil
}

// column returns the column of entry k, which is in row i; known is false where
// training did not have it.
func (n *numbering) column(rows *table.Rows, i, k int) (column int32, known bool, err error) {
	key := rows.Keys[k]
	if n.keyed {
		column, known = n.columns[key]
		if known || n.trained {
			return column, known, nil
		}
		if n.sparse == maxSparseColumns {
			return 0, false, n.tooMany(rows, i)
		}
		feature := credence.SparseFeature{Key: key}
		if len(rows.Tokens) > 0 {
			feature.Namespace, feature.Token = n.namespace(rows.Spaces.List[rows.Space[k]].Text), string(rows.Token(k))
		}
		column = int32(n.sparse)
		n.columns[key] = column
		n.features = append(n.features, feature)
		n.sparse++
		return column, true, nil
	}
	if n.trained {
		place := int64(key) - int64(n.first)
		return int32(place), place >= 0 && place < int64(n.sparse), nil
	}
	if key > maxSparseColumns {
		return 0, false, n.tooMany(rows, i)
	}
	n.zero = n.zero || key == 0
	n.sparse = max(n.sparse, int(key))
	return int32(key) - 1, true, nil
}

// namespace returns a text that equal namespaces share.
func (n *numbering) namespace(name []byte) string {
	for k := len(n.features) - 1; k >= max(0, len(n.features)-8); k-- {
		if n.features[k].Namespace == string(name) {
			return n.features[k].Namespace
		}
	}
	return string(name)
}

func (n *numbering) tooMany(rows *table.Rows, i int) error {
	what := fmt.Sprintf("the row has an index beyond %d, the most columns of a fit: hash the features, with hash(., bits=22) in the formula", maxSparseColumns)
	if n.keyed {
		what = fmt.Sprintf("there are more than %d different features, the most of a fit: learn them with credence stream, or leave some out", maxSparseColumns)
	}
	return &text.Error{File: rows.File, Line: rows.Line(i), What: what}
}

// describe completes the schema of the rows that were numbered, and returns what is
// to be added to every stored column.
func (n *numbering) describe(schema *credence.Schema) (shift int32) {
	schema.Sparse, schema.Features, schema.ZeroBased = n.sparse, n.features, !n.keyed && n.first == 0
	if n.zero {
		schema.Sparse++
		schema.ZeroBased = true
		return 1
	}
	return 0
}
