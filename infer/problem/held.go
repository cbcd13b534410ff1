package problem

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Held are all rows of a fit in memory, with their features.
type Held struct {
	credence.Batch // targets and roles of all rows, without inputs
	Sums           Sums
	Design         credence.Design // Φ, n×d
	Square         []float64       // weight times precision of every row; nil where all are 1
	rows           *Rows
}

// Held reads all rows. It refuses weights that add up to nothing, and columns that no sum can hold.
func (r *Rows) Held(ctx context.Context, ws *credence.Workspace) (*Held, error) {
	h := &Held{rows: r}
	var scratch credence.Design
	err := r.Transform(ctx, ws, &h.Design, &scratch, r.model.Features, func(_ int, b *credence.Batch) {
		h.Target, h.Offset, h.Weight = append(h.Target, b.Target...), append(h.Offset, b.Offset...), append(h.Weight, b.Weight...)
		h.Precision, h.Trials = append(h.Precision, b.Precision...), append(h.Trials, b.Trials...)
		h.Sums.Add(r.model.Likelihood, b)
	})
	if err != nil {
		return nil, err
	}
	if !(h.Sums.Weight > 0) {
		return nil, fmt.Errorf("%s: the rows' weights add up to %v: at least one must be positive", r.engine, h.Sums.Weight)
	}
	n, d := h.Design.Dims()
	h.X, h.Square = linop.Dense{Rows: n}, h.SquareWeights()
	s, weights := &h.Sums, squareWeights(&h.Batch)
	s.Totals, s.Squares = make([]float64, d), make([]float64, d)
	h.Design.AddMulTrans(ws, s.Totals, weights)
	h.Design.AddMulSquaresTrans(ws, s.Squares, weights)
	for j, v := range s.Squares {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: the squares of feature column %s add up to %v: scale the column, or look for values that are no numbers", r.engine, WeightName(r.model.Features, j), v)
		}
	}
	return h, nil
}

// Roots returns the roots of weight times precision, precisions in units of their mean, so that the squares of the roots add
// up to the weights; nil where all are 1.
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
