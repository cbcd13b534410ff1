// Package keyed has features named by 64-bit keys, as streams of sparse rows
// have them: indices, or hashes of columns and tokens.
//
// # Model
//
//	φ(x) = (1 | x_k for every key k seen in training | Σ over keys never seen)
//
// Weight 0 is the intercept, weight 1+i belongs to key i, and the last weight
// stands for every key that training did not see: entries of such keys all have
// its column, and a posterior gives it the prior's mean and variance.
//
// # Cost and limits
//
// Transform shares the sparse rows of the batch, O(rows). Memory is 8 bytes a
// key and the texts of the keys where they are kept.
package keyed

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
)

// Features are those of a dictionary of keys. The batches that they transform
// have a sparse segment of len(Keys)+1 columns: column i is key i, the last one
// every unknown key.
type Features struct {
	Keys []uint64
	// Text holds the names of the keys one after the other, the name of key i
	// ending at Ends[i]; without Ends names are "x" and the key in decimal.
	Text []byte
	Ends []int64
}

var (
	_ credence.Features = (*Features)(nil)
	_ credence.Named    = (*Features)(nil)
)

// Weights returns the number of keys and two: the intercept and the unseen.
func (f *Features) Weights() int { return len(f.Keys) + 2 }

// Blocks returns the intercept, the keys, and the unseen.
func (f *Features) Blocks() []credence.Block {
	return []credence.Block{
		{Name: "(intercept)", Count: 1, Intercept: true},
		{Name: "linear", First: 1, Count: len(f.Keys)},
		{Name: "(unseen)", First: 1 + len(f.Keys), Count: 1},
	}
}

// Transform implements credence.Features.
func (f *Features) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	if rows.Sparse.Cols != len(f.Keys)+1 {
		panic(fmt.Sprintf("keyed: Transform of %d sparse columns by %d keys", rows.Sparse.Cols, len(f.Keys)))
	}
	n := rows.Rows()
	phi.Dense.Reshape(n, 1)
	for i := range n {
		phi.Dense.Row(i)[0] = 1
	}
	phi.Sparse = rows.Sparse
}

// WeightName returns the name of a weight.
func (f *Features) WeightName(j int) string {
	switch {
	case j == 0:
		return "(intercept)"
	case j > len(f.Keys):
		return "(unseen)"
	}
	return f.Name(j - 1)
}

// Name returns the name of key i.
func (f *Features) Name(i int) string {
	if f.Ends == nil {
		return "x" + strconv.FormatUint(f.Keys[i], 10)
	}
	first := int64(0)
	if i > 0 {
		first = f.Ends[i-1]
	}
	return string(f.Text[first:f.Ends[i]])
}

// Validate refuses a dictionary whose parts do not fit each other.
func (f *Features) Validate() error {
	if len(f.Keys) >= math.MaxInt32-1 {
		return fmt.Errorf("keyed: %d keys are too many", len(f.Keys))
	}
	seen := make(map[uint64]struct{}, len(f.Keys))
	for _, key := range f.Keys {
		seen[key] = struct{}{}
	}
	if len(seen) != len(f.Keys) {
		return fmt.Errorf("keyed: %d keys, of which %d differ: the file is damaged", len(f.Keys), len(seen))
	}
	if f.Ends == nil {
		return nil
	}
	if len(f.Ends) != len(f.Keys) {
		return fmt.Errorf("keyed: %d names for %d keys: the file is damaged", len(f.Ends), len(f.Keys))
	}
	last := int64(0)
	for i, end := range f.Ends {
		if end < last || end > int64(len(f.Text)) {
			return fmt.Errorf("keyed: the name of key %d ends at %d of %d bytes: the file is damaged", i, end, len(f.Text))
		}
		last = end
	}
	return nil
}

// Frame says how rows of text become keys and values. It is the plan of the
// reader of streams, kept as it is: a keyed model is applied by that reader, not
// bound to a table.
type Frame struct {
	Target string          `json:"target"`
	Plan   json.RawMessage `json:"plan"`
}

var _ credence.Frame = (*Frame)(nil)

// TargetName returns the target as the formula wrote it.
func (f *Frame) TargetName() string { return f.Target }
