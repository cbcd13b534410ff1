// Package keyed has features named by 64-bit keys, as streams of sparse rows
// have them: indices, or hashes of columns and tokens.
//
// # Model
//
//	φ(x) = (1 | x_k for every key k seen in training)
//
// Weight 0 is the intercept and weight 1+i belongs to key i. Entries of keys that training did not
// see have weights of the prior: their squares add up in [credence.Batch].Unseen.
//
// A [Plan] says which keys and values the rows of a table have, and a [Binder] makes batches by it.
//
// # Cost and limits
//
// Transform shares the sparse rows of the batch, O(rows). Memory is 8 bytes a
// key and the texts of the keys where they are kept.
package keyed

import (
	"fmt"
	"math"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// Features are those of a dictionary of keys. The batches that they transform have a sparse column
// for each key.
type Features struct {
	Keys []uint64
	// Text holds the names of the keys one after the other, the name of key i
	// ending at Ends[i]; without Ends names are "x" and the key in decimal.
	Text []byte
	Ends []int64
	// NoIntercept says that there is no weight but those of the keys.
	NoIntercept bool

	distinct bool // the keys are those of an index
}

// FeaturesOf returns the features of the first count slots of an index, with their names where they are kept: both
// are memory of the index and the names, which is never changed.
func FeaturesOf(x *Index, count int, names *Names, noIntercept bool) *Features {
	f := &Features{Keys: x.shared(count), NoIntercept: noIntercept, distinct: true}
	if names != nil {
		f.Text, f.Ends = names.Arena(count)
		if f.Ends == nil {
			f.Ends = []int64{}
		}
	}
	return f
}

var (
	_ credence.Features = (*Features)(nil)
	_ credence.Named    = (*Features)(nil)
)

// first is the weight of key 0.
func (f *Features) first() int {
	if f.NoIntercept {
		return 0
	}
	return 1
}

// Weights returns the number of keys, and one for the intercept.
func (f *Features) Weights() int { return f.first() + len(f.Keys) }

// Blocks returns the intercept and the keys.
func (f *Features) Blocks() []credence.Block {
	blocks := []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}, {Name: "linear", First: f.first(), Count: len(f.Keys)}}
	return blocks[1-f.first():]
}

// AddUnseen implements [credence.UnseenFeatures].
func (f *Features) AddUnseen(variance []float64, rows *credence.Batch, prior credence.UnseenPrior) {
	ability.AddUnseenSquares(variance, rows.UnseenOf, prior, credence.Block{Name: "linear", First: f.first(), Count: len(f.Keys)})
}

// Transform implements credence.Features.
func (f *Features) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	if rows.Sparse.Cols != len(f.Keys) {
		panic(fmt.Sprintf("keyed: Transform of %d sparse columns by %d keys", rows.Sparse.Cols, len(f.Keys)))
	}
	n := rows.Rows()
	phi.Dense.Reshape(n, f.first())
	for i := range phi.Dense.Data {
		phi.Dense.Data[i] = 1
	}
	phi.Sparse = rows.Sparse
}

// WeightName returns the name of a weight.
func (f *Features) WeightName(j int) string {
	if j < f.first() {
		return "(intercept)"
	}
	return f.Name(j - f.first())
}

// Name returns the name of key i.
func (f *Features) Name(i int) string {
	if f.Ends == nil {
		return "x" + strconv.FormatUint(f.Keys[i], 10)
	}
	return string(nameAt(f.Text, f.Ends, i))
}

// Validate refuses a dictionary whose parts do not fit each other.
func (f *Features) Validate() error {
	if len(f.Keys) >= math.MaxInt32-1 {
		return fmt.Errorf("keyed: %d keys are too many", len(f.Keys))
	}
	if !f.distinct {
		if _, err := IndexOf(f.Keys); err != nil {
			return err
		}
	}
	if f.Ends == nil {
		return nil
	}
	if len(f.Ends) != len(f.Keys) {
		return fmt.Errorf("keyed: %d names for %d keys: the file is damaged", len(f.Ends), len(f.Keys))
	}
	_, err := checkEnds(f.Text, f.Ends)
	return err
}

// Frame says how rows of a table become keys and values.
type Frame struct {
	Target string `json:"target"`
	Plan   *Plan  `json:"plan"`
}

var _ credence.Frame = (*Frame)(nil)

// Bind refuses: keys are made of the texts of rows, which a Source has lost.
func (f *Frame) Bind(credence.Source, bool) (credence.Data, error) {
	return nil, fmt.Errorf("keyed: this model was learned online and reads rows with their texts: use package score")
}

// TargetName returns the target as the formula wrote it.
func (f *Frame) TargetName() string { return f.Target }
