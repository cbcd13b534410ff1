package candidates

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Rotate returns a table with at most n orthogonal columns and the intercept in place of the d
// columns, of which XXᵀ is the same: f and the sum of squared weights of a fit under a quadratic
// penalty are too. back takes weights of its columns to those of t. It takes n²d + n³ operations.
func (t *Table) Rotate(ws *credence.Workspace) (rotated *Table, back func(weights []float64) []float64, ok bool) {
	n, d := t.Rows, t.Count()
	ones := make([]float64, d)
	for j := range ones {
		if ones[j] = 1; j == t.Intercept {
			ones[j] = 0
		}
	}
	outer := make([]float64, n*n)
	t.Outer(ws, outer, ones)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, outer), true) {
		return nil, nil, false
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	var kept []int
	for k, v := range values {
		if v > 1e-12*values[n-1] {
			kept = append(kept, k)
		}
	}
	copied := *t
	rotated = &copied
	dense, intercept := linop.NewDense(len(kept), n), -1
	if t.Intercept >= 0 {
		intercept, dense = len(kept), linop.NewDense(len(kept)+1, n)
		t.Column(dense.Row(intercept), t.Intercept)
	}
	rotated.Columns = t.With(dense, make([]float64, dense.Rows), intercept)
	for k, column := range kept {
		row := dense.Row(k)
		mat.Col(row, column, &vectors)
		kernel.Scale(math.Sqrt(values[column]), row)
	}
	return rotated, func(weights []float64) []float64 {
		dual, out := make([]float64, n), make([]float64, d) // XᵀUΛ^(−½)w
		for k, column := range kept {
			kernel.Axpy(weights[k]/values[column], dense.Row(k), dual)
		}
		t.MulTrans(ws, out, dual)
		if t.Intercept >= 0 {
			out[t.Intercept] = weights[intercept]
		}
		return out
	}, true
}
