// Package candidates holds a selection problem in memory: the rows and columns of infer/problem, of which each column
// may be in the model or out of it, alone or with others, as the engines for spike-and-slab priors need them.
package candidates

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// Table is the columns of a selection problem and its rows.
type Table struct {
	problem.Columns
	Held   *problem.Held // without their design
	Total  float64       // Σ weight
	Units  problem.Units
	groups []problem.Group
	scales *problem.Scales
}

// Load reads all rows. Without an intercept columns are not centred.
func Load(ctx context.Context, ws *credence.Workspace, engine string, model credence.Model, data credence.Data) (*Table, error) {
	rows, err := problem.Open(engine, model, data, problem.Offset|problem.Weight|problem.Precision)
	if err != nil {
		return nil, err
	}
	held, err := rows.Held(ctx, ws)
	if err != nil {
		return nil, err
	}
	t := &Table{Columns: *held.ByColumn(), Held: held, Total: held.Sums.Weight}
	if t.groups, err = problem.Groups(engine, model.Features, prior.Normal{}); err != nil {
		return nil, err
	}
	t.scales = held.Sums.Scales(model, t.groups)
	t.Units = held.Units(t.scales, t.Means)
	return t, nil
}

// OffsetOf returns the offset of row i.
func (t *Table) OffsetOf(i int) float64 { return t.Held.OffsetOf(i) }

// Precision is XᵀBX + diag λ, for the precisions B of the rows, as what it does to vectors.
type Precision struct {
	*Table
	WS           *credence.Workspace
	ByRow, Prior []float64 // B and λ
}

var _ linop.Matrix = (*Precision)(nil)

// Dims implements [linop.Matrix].
func (p *Precision) Dims() (rows, cols int) { return len(p.Prior), len(p.Prior) }

// MulVec implements [linop.Matrix].
func (p *Precision) MulVec(dst, x []float64) {
	defer p.WS.Release(p.WS.Mark())
	rows := p.WS.Floats(len(p.ByRow))
	p.Mul(p.WS, rows, x)
	floats.Mul(rows, p.ByRow)
	p.MulTrans(p.WS, dst, rows)
	for j, l := range p.Prior {
		dst[j] += l * x[j]
	}
}

// MulVecTrans implements [linop.Matrix].
func (p *Precision) MulVecTrans(dst, x []float64) { p.MulVec(dst, x) }

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
