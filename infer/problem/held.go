package problem

import (
	"context"
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
