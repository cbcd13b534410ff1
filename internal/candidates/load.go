package candidates

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Table is the columns of a selection problem and its targets.
type Table struct {
	Columns
	Target    []float64 // y − offset, as the data have it, length n
	Offset    []float64 // length n, nil where there are none
	Weight    []float64 // length n, nil where every row counts once
	Total     float64   // Σ weight
	Intercept int       // its column, or -1
	Places    []int     // weight of every column, length d
	Inputs    int       // dense and sparse, of a row
}

// Load reads all rows. Without an intercept columns are not centred.
func Load(ctx context.Context, ws *credence.Workspace, engine string, model credence.Model, data credence.Data) (*Table, error) {
	t := &Table{Intercept: -1}
	intercept := -1
	for _, b := range model.Features.Blocks() {
		if b.Intercept {
			intercept = b.First
		}
	}
	r, err := problem.Open(engine, model, data, problem.Offset|problem.Weight)
	if err != nil {
		return nil, err
	}
	var all, scratch credence.Design
	n := r.Count()
	t.Rows = n
	err = r.Transform(ctx, ws, &all, &scratch, model.Features, func(first int, b *credence.Batch) {
		t.Inputs = b.X.Cols + b.Sparse.Cols
		for i := range b.Rows() {
			t.Target = append(t.Target, b.Target[i]-b.OffsetOf(i))
		}
		if b.Offset != nil {
			t.Offset = append(t.Offset, b.Offset...)
		}
		if b.Weight != nil {
			t.Weight = append(t.Weight, b.Weight...)
		}
	})
	if err != nil {
		return nil, err
	}
	t.unit = make([]float64, n)
	for i := range n {
		w := 1.0
		if t.Weight != nil {
			w = t.Weight[i]
		}
		t.unit[i] = math.Sqrt(w)
		t.Total += w
	}
	if !(t.Total > 0) {
		return nil, fmt.Errorf("%s: the rows' weights add up to %v: at least one must be positive", engine, t.Total)
	}
	t.take(&all, intercept)
	squares := make([]float64, t.Count())
	t.Squares(squares, nil)
	for j, m := range t.Means {
		if s := m + squares[j]; math.IsNaN(s) || math.IsInf(s, 0) {
			return nil, fmt.Errorf("%s: feature column %d has the mean %v and squares that add up to %v: scale the column, or look for values that are no numbers", engine, t.Places[j]+1, m, squares[j])
		}
	}
	return t, nil
}

// take transposes the design, weighs and centres it.
func (t *Table) take(all *credence.Design, intercept int) {
	n, dense := t.Rows, all.Dense.Cols
	t.dense = linop.NewDense(dense, n)
	for j := range dense {
		row, mean := t.dense.Row(j), 0.0
		t.Places = append(t.Places, j)
		for i := range n {
			row[i] = all.Dense.Row(i)[j]
			mean += t.unit[i] * t.unit[i] / t.Total * row[i]
		}
		switch {
		case j == intercept:
			t.Intercept, mean = j, 0
		case intercept < 0:
			mean = 0
		}
		t.Means = append(t.Means, mean)
		for i, u := range t.unit {
			row[i] = (row[i] - mean) * u
		}
	}
	t.sparse = all.Sparse.Transpose()
	all.Sparse = linop.CSR{}
	if t.sparse.Value == nil && t.Weight != nil {
		t.sparse.Value = make([]float64, len(t.sparse.Index))
		for k := range t.sparse.Value {
			t.sparse.Value[k] = 1
		}
	}
	for j := range t.sparse.Rows {
		t.Places = append(t.Places, dense+j)
		columns, values := t.sparse.Row(j)
		mean := 0.0
		for k, i := range columns {
			mean += t.unit[i] * t.unit[i] / t.Total * linop.At(values, k)
			if t.Weight != nil {
				values[k] *= t.unit[i]
			}
		}
		if intercept < 0 {
			mean = 0
		}
		t.Means = append(t.Means, mean)
	}
}

// Unit returns √v of every row.
func (t *Table) Unit() []float64 { return t.unit }

// Location returns the weighted mean and standard deviation of the target less its offset, or 0 and
// the root of its mean square without an intercept; the deviation is 1 where it would be 0.
func (t *Table) Location() (mean, sd float64) {
	for i, y := range t.Target {
		mean += t.unit[i] * t.unit[i] / t.Total * y
	}
	if t.Intercept < 0 {
		mean = 0
	}
	for i, y := range t.Target {
		sd += t.unit[i] * t.unit[i] / t.Total * (y - mean) * (y - mean)
	}
	if sd = math.Sqrt(sd); sd == 0 {
		sd = 1
	}
	return mean, sd
}

// Residual returns √v (y − offset − mean)/scale of every row.
func (t *Table) Residual(mean, scale float64) []float64 {
	out := make([]float64, t.Rows)
	for i, y := range t.Target {
		out[i] = t.unit[i] * (y - mean) / scale
	}
	return out
}

// Shift returns x̄ᵀw, by which the intercept at the columns' means is above the one at zero.
func (t *Table) Shift(w []float64) float64 { return kernel.Dot(t.Means, w) }

// Squares stores Σ_i weights_i x_ij² of every column in dst, length d. Nil weights are ones.
func (t *Table) Squares(dst, weights []float64) {
	if weights == nil {
		weights = t.ones()
	}
	all := make([]float64, t.Rows) // weights times the roots of the rows' own
	for i, w := range weights {
		all[i] = w * t.unit[i]
	}
	mass := kernel.Dot(all, t.unit[:t.Rows])
	for j := range dst {
		dst[j] = t.StoredSquare(j, weights)
		if mean := t.Mean(j); mean != 0 {
			dst[j] += mean * (mean*mass - 2*t.StoredDot(j, all))
		}
	}
}

// RowSquares stores Σ_j scales_j x_ij² of every row in dst, length n.
func (t *Table) RowSquares(dst, scales []float64) {
	clear(dst)
	mass := 0.0
	for j, v := range scales {
		if mean := t.Mean(j); mean != 0 {
			mass += v * mean * mean
			t.AddStored(dst, j, -2*v*mean, t.unit)
		}
		t.addStoredSquares(dst, j, v)
	}
	for i, u := range t.unit[:t.Rows] {
		dst[i] = math.Max(0, dst[i]+mass*u*u)
	}
}

func (t *Table) addStoredSquares(dst []float64, j int, scale float64) {
	if j >= t.dense.Rows {
		t.sparse.AddRowSquares(dst, j-t.dense.Rows, scale)
		return
	}
	for i, x := range t.dense.Row(j) {
		dst[i] += scale * x * x
	}
}

// Stored returns how many entries of a column are stored.
func (t *Table) Stored(j int) int {
	if j < t.dense.Rows {
		return t.Rows
	}
	rows, _ := t.sparse.Row(j - t.dense.Rows)
	return len(rows)
}

// Entries goes through the rows in which a column is stored, with the column's centred values there.
func (t *Table) Entries(j int, do func(i int, x float64)) {
	if j < t.dense.Rows {
		for i, x := range t.dense.Row(j) {
			do(i, x)
		}
		return
	}
	mean := t.Mean(j)
	for i, x := range t.sparse.Each(j - t.dense.Rows) {
		do(i, x-mean*t.unit[i])
	}
}

func (t *Table) ones() []float64 { return slices.Repeat([]float64{1}, t.Rows) }

// Design returns the columns as the features give them, not centred, with rows multiplied by the roots
// of their weights. Columns are those of the model in their order.
func (t *Table) Design() credence.Design {
	n, dense := t.Rows, t.dense.Rows
	var out credence.Design
	out.Dense = linop.NewDense(n, dense)
	for j := range dense {
		for i, v := range t.dense.Row(j) {
			out.Dense.Row(i)[j] = v + t.Means[j]*t.unit[i]
		}
	}
	out.Sparse = t.sparse.Transpose()
	return out
}
