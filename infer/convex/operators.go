package convex

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// measured is what every form of a system of operators has.
type measured struct {
	x, b  linop.Matrix // x is nil where there are no Gaussian measurements
	y     []float64
	noise float64
	gap   []float64 // Xu − y at the last residual
}

func (m *measured) size() int {
	_, n := m.b.Dims()
	return n
}

func (m *measured) direct() bool { return true }

func (m *measured) sites(dst, u []float64) { m.b.MulVec(dst, u) }

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
	measured
	ws         *credence.Workspace
	bRows      linop.Dense // B, q×n
	fixed      []float64   // XᵀX, n×n upper
	upper, aux []float64
}

func newDense(m measured, ws *credence.Workspace) *dense {
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
	return factorise(d.ws, n, d.upper)
}

func factorise(ws *credence.Workspace, n int, a []float64) error {
	if pivot, ok := ws.Pool().Cholesky(n, a, n); !ok {
		return errSingular{pivot}
	}
	return nil
}

func (d *dense) solve(_ context.Context, dst, v []float64) error {
	copy(dst, v)
	solveUpper(d.ws, d.size(), d.upper, dst)
	return nil
}

func solveUpper(ws *credence.Workspace, n int, upper, x []float64) {
	ws.Pool().TrsmLeft(true, n, 1, upper, n, x, 1)
	ws.Pool().TrsmLeft(false, n, 1, upper, n, x, 1)
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

func (d *dense) logDet() (float64, bool) { return logDet(d.size(), d.upper), true }

func logDet(n int, upper []float64) float64 {
	sum := 0.0
	for i := range n {
		sum += 2 * math.Log(upper[i*n+i])
	}
	return sum
}

// free is a system of many unknowns: A is what it does to vectors, systems are solved by conjugate
// gradients, and variances are those of draws of N(0, A⁻¹), ξ = A⁻¹(Xᵀε₁ + BᵀΓ^{−½}ε₂) (perturb and solve).
type free struct {
	measured
	seed      uint64
	draws     int
	precision []float64
	diagonal  []float64 // of A, the preconditioner
	squares   func(dst, precision []float64)
	products  int // with A
	// Of the last variances.
	last     [][]float64 // draws
	relative float64     // standard error of z over z, root mean square
}

// multiply stores A v.
func (f *free) multiply(dst, v []float64) {
	f.products++
	part := make([]float64, len(f.precision))
	f.b.MulVec(part, v)
	for i, p := range f.precision {
		part[i] *= p
	}
	f.b.MulVecTrans(dst, part)
	if f.x == nil {
		return
	}
	rows, cols := f.x.Dims()
	middle, back := make([]float64, rows), make([]float64, cols)
	f.x.MulVec(middle, v)
	f.x.MulVecTrans(back, middle)
	kernel.Axpy(1, back, dst)
}

func (f *free) direct() bool { return false }

func (f *free) factor(_ context.Context, precision []float64) error {
	f.precision = append(f.precision[:0], precision...)
	f.diagonal = make([]float64, f.size())
	f.squares(f.diagonal, precision)
	for j, v := range f.diagonal {
		if !(v > 0) {
			f.diagonal[j] = 1
		}
	}
	return nil
}

// Conjugate gradients end where the residual is solveTolerance of the right side, or after
// mostProducts products.
const (
	solveTolerance = 1e-8
	mostProducts   = 2000
)

func (f *free) solve(ctx context.Context, dst, v []float64) error {
	return f.conjugate(ctx, dst, v, solveTolerance)
}

// conjugate is the method of conjugate gradients with a diagonal preconditioner (Hestenes & Stiefel 1952).
func (f *free) conjugate(ctx context.Context, dst, v []float64, tolerance float64) error {
	n := len(v)
	clear(dst)
	residual, direction, product, preconditioned := append([]float64(nil), v...), make([]float64, n), make([]float64, n), make([]float64, n)
	limit := tolerance * math.Sqrt(kernel.Dot(v, v))
	last := 1.0
	for k := range mostProducts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if math.Sqrt(kernel.Dot(residual, residual)) <= limit {
			return nil
		}
		for j, r := range residual {
			preconditioned[j] = r / f.diagonal[j]
		}
		now := kernel.Dot(residual, preconditioned)
		beta := 0.0
		if k > 0 {
			beta = now / last
		}
		for j, p := range preconditioned {
			direction[j] = p + beta*direction[j]
		}
		f.multiply(product, direction)
		alpha := now / kernel.Dot(direction, product)
		if math.IsNaN(alpha) || math.IsInf(alpha, 0) {
			return nil
		}
		kernel.Axpy(alpha, direction, dst)
		kernel.Axpy(-alpha, product, residual)
		last = now
	}
	return nil
}

// drawTolerance is that of a draw, whose own spread is far above it.
const drawTolerance = 1e-4

func (f *free) variances(ctx context.Context, z []float64) error {
	n := f.size()
	rows := 0
	if f.x != nil {
		rows, _ = f.x.Dims()
	}
	clear(z)
	fourth := make([]float64, len(z))
	s, right, part := make([]float64, len(z)), make([]float64, n), make([]float64, n)
	if f.last == nil {
		f.last = make([][]float64, f.draws)
		for k := range f.last {
			f.last[k] = make([]float64, n)
		}
	}
	for k := range f.draws {
		// The same draws of ε every time: z then moves with A alone.
		rng := credence.Rand(f.seed, credence.ConvexDraws, uint64(k))
		for i, p := range f.precision {
			s[i] = math.Sqrt(math.Max(p, 0)) * rng.NormFloat64()
		}
		f.b.MulVecTrans(right, s)
		if f.x != nil {
			f.x.MulVecTrans(part, normals(rng, rows))
			kernel.Axpy(1, part, right)
		}
		if err := f.conjugate(ctx, f.last[k], right, drawTolerance); err != nil {
			return err
		}
		f.b.MulVec(s, f.last[k])
		for i, v := range s {
			z[i] += v * v / float64(f.draws)
			fourth[i] += v * v * v * v / float64(f.draws)
		}
	}
	sum := 0.0
	for i, v := range z {
		if v > 0 {
			sum += (fourth[i]/v/v - 1) / float64(f.draws) / float64(len(z))
		}
		z[i] = math.Max(v, 1e-12)
	}
	f.relative = math.Sqrt(sum)
	return nil
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func (f *free) logDet() (float64, bool) { return 0, false }
