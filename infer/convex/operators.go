package convex

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// measured is what every form of a system of operators has.
type measured struct {
	x, b   linop.Matrix // x is nil where there are no Gaussian measurements
	y      []float64
	noise  float64
	offset []float64 // what the first sites have beside Bu; nil for none
	gap    []float64 // Xu − y at the last residual
}

func (m *measured) size() int {
	_, n := m.b.Dims()
	return n
}

func (m *measured) direct() bool { return true }

func (m *measured) sites(dst, u []float64) {
	m.b.MulVec(dst, u)
	for i, v := range m.offset {
		dst[i] += v
	}
}

func (m *measured) residual(u []float64) float64 {
	if m.x == nil {
		return 0
	}
	m.gap = append(m.gap[:0], m.y...)
	m.x.MulVec(m.gap, u)
	sum := 0.0
	for i, y := range m.y {
		m.gap[i] -= y
		sum += m.gap[i] * m.gap[i]
	}
	return sum / m.noise
}

func (m *measured) gradient(dst, v []float64) {
	part := make([]float64, len(dst))
	m.b.MulVecTrans(part, v)
	kernel.Axpy(1, part, dst)
	if m.x != nil {
		m.x.MulVecTrans(part, m.gap)
		kernel.Axpy(1/m.noise, part, dst)
	}
}

// dense is a system of few unknowns: A is written out and factored.
type dense struct {
	*measured
	ws         *credence.Workspace
	bRows      linop.Dense // B, q×n
	fixed      []float64   // XᵀX, n×n upper
	upper, aux []float64
}

func newDense(m *measured, ws *credence.Workspace) *dense {
	n := m.size()
	d := &dense{measured: m, ws: ws, bRows: written(m.b), fixed: make([]float64, n*n), upper: make([]float64, n*n)}
	if m.x != nil {
		x := written(m.x)
		ws.Pool().Gram(x.Rows, n, x.Data, n, nil, d.fixed, n)
	}
	return d
}

// written returns the matrix of an operator.
func written(a linop.Matrix) linop.Dense {
	rows, cols := a.Dims()
	out, unit, column := linop.NewDense(rows, cols), make([]float64, cols), make([]float64, rows)
	for j := range cols {
		unit[j] = 1
		a.MulVec(column, unit)
		unit[j] = 0
		for i, v := range column {
			out.Row(i)[j] = v
		}
	}
	return out
}

func (d *dense) factor(_ context.Context, precision []float64) error {
	n := d.size()
	copy(d.upper, d.fixed)
	d.ws.Pool().Gram(d.bRows.Rows, n, d.bRows.Data, n, precision, d.upper, n)
	if pivot, ok := d.ws.Pool().Cholesky(n, d.upper, n); !ok {
		return singular(pivot)
	}
	return nil
}

func (d *dense) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	d.ws.Pool().TrsmLeft(true, d.size(), 1, d.upper, d.size(), dst, 1)
	d.ws.Pool().TrsmLeft(false, d.size(), 1, d.upper, d.size(), dst, 1)
	return nil
}

func (d *dense) variances(_ context.Context, z []float64) error {
	n := d.size()
	d.aux = append(d.aux[:0], d.bRows.Data...)
	d.ws.Pool().TrsmRight(false, d.bRows.Rows, n, d.upper, n, d.aux, n)
	for i := range z {
		row := d.aux[i*n : (i+1)*n]
		z[i] = kernel.Dot(row, row)
	}
	return nil
}

func (d *dense) logDet() (float64, bool) { return gauss.LogDeterminant(d.size(), d.upper), true }
