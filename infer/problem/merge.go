package problem

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// Memory are rows in memory.
type Memory struct{ All credence.Batch }

// Rows implements [credence.Data].
func (m *Memory) Rows() int { return m.All.Rows() }

// Read implements [credence.Data].
func (m *Memory) Read(dst *credence.Batch, first, count int) error {
	*dst = credence.Batch{First: first, X: dst.X, Sparse: dst.Sparse}
	dst.X.Rows = 0
	dst.Append(&m.All, first, count)
	return nil
}

const (
	// FewestMerged is the number of rows below which merging takes longer than it saves.
	FewestMerged = 4096
	// mostDifferent is the share of rows that may differ for equal ones to be looked for on, and mergedBytes the memory
	// that they may take.
	mostDifferent = 0.5
	mergedBytes   = 128 << 20
)

// Merge returns the rows of data that differ in inputs, target, offset, precision or trials, in the order of their
// first places, each with the sum of the weights of those equal to it: no feature tells these apart, whatever it
// learns. Rows of which more than half differ are returned as they are.
func Merge(ctx context.Context, engine string, model credence.Model, data credence.Data) (credence.Data, error) {
	if data == nil {
		return nil, fmt.Errorf("%s: there are no rows: give the data", engine)
	}
	rows, err := Open(engine, model, data, AllRoles)
	if err != nil || rows.Total() < FewestMerged {
		return data, err
	}
	merged, known, bytes := &Memory{}, map[string]int{}, 0
	var key []byte
	for k := range rows.Blocks() {
		b, err := rows.Block(ctx, k)
		if err != nil {
			return nil, err
		}
		for i := range b.Rows() {
			key = key[:0]
			number := func(v float64) { key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v+0)) } // −0 is 0
			for j := range b.X.Cols {
				number(b.X.Row(i)[j])
			}
			for _, own := range [][]float64{b.Target, b.Offset, b.Precision, b.Trials, b.Unseen} {
				if own != nil {
					number(own[i])
				}
			}
			for c, v := range b.Sparse.Each(i) {
				number(float64(c))
				number(v)
			}
			if at, found := known[string(key)]; found {
				merged.All.Weight[at] += b.WeightOf(i)
				continue
			}
			known[string(key)] = len(known)
			bytes += len(key)
			merged.All.Append(b, i, 1)
			if len(merged.All.Weight) < merged.Rows() { // of a first row without one
				merged.All.Weight = append(merged.All.Weight, 1)
			}
		}
		if seen := k*credence.BlockRows + b.Rows(); seen >= FewestMerged && float64(len(known)) > mostDifferent*float64(seen) || bytes > mergedBytes {
			return data, nil
		}
	}
	return merged, nil
}
