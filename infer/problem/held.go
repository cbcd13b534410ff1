package problem

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// Held are all rows of a fit in memory, with their features.
type Held struct {
	credence.Batch // targets and roles of all rows, without inputs
	Sums           Sums
	Design         credence.Design // Φ, n×d
	Square         []float64       // weight times precision of every row; nil where all are 1
	rows           *Rows
	scratch        credence.Design
}

// Held reads all rows. It refuses weights that add up to nothing, and columns that no sum can hold.
func (r *Rows) Held(ctx context.Context, ws *credence.Workspace) (*Held, error) {
	h := &Held{rows: r}
	err := h.transform(ctx, ws, r.model.Features, func(_ int, b *credence.Batch) {
		h.Target, h.Offset, h.Weight = append(h.Target, b.Target...), append(h.Offset, b.Offset...), append(h.Weight, b.Weight...)
		h.Precision, h.Trials = append(h.Precision, b.Precision...), append(h.Trials, b.Trials...)
		h.X.Rows += b.Rows()
		h.Sums.Add(r.model.Likelihood, b)
	})
	h.Square = h.SquareWeights()
	return h, err
}

// Transform gives the rows other features, in the memory of the design.
func (h *Held) Transform(ctx context.Context, ws *credence.Workspace, features credence.Features) error {
	return h.transform(ctx, ws, features, nil)
}

func (h *Held) transform(ctx context.Context, ws *credence.Workspace, features credence.Features, do func(first int, b *credence.Batch)) error {
	if err := h.rows.Transform(ctx, ws, &h.Design, &h.scratch, features, do); err != nil {
		return err
	}
	_, d := h.Design.Dims()
	weights := squareWeights(&h.Batch)
	h.Sums.Totals, h.Sums.Squares = make([]float64, d), make([]float64, d)
	h.Design.AddMulTrans(ws, h.Sums.Totals, weights)
	h.Design.AddMulSquaresTrans(ws, h.Sums.Squares, weights)
	return h.Sums.Check(h.rows.engine, features)
}

// Roots returns the roots of weight times precision, precisions in units of their mean, so that the squares of the
// roots add up to the weights; nil where all are 1.
func (h *Held) Roots() []float64 {
	if h.Square == nil {
		return nil
	}
	roots := make([]float64, len(h.Square))
	for i, v := range h.Square {
		roots[i] = math.Sqrt(v * (h.Sums.Weight / h.Sums.Square))
	}
	return roots
}

// Fitted returns what every result begins with: the report, and mean and variance of the targets.
func (h *Held) Fitted() *credence.Fitted {
	return &credence.Fitted{Report: h.rows.Report(), TargetMean: h.Sums.Target.Mean, TargetVariance: h.Sums.Target.Variance()}
}

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
