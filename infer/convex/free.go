package convex

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// normal is A = XᵀX + Bᵀ diag(precision) B as what it does to vectors; x may be nil.
type normal struct {
	x, b      linop.Matrix
	precision []float64
	spare     sync.Pool // of *products, of one goroutine each
}

// products are what a product with A passes through.
type products struct{ sites, middle, back linop.Dense }

// Dims implements linop.Matrix.
func (a *normal) Dims() (rows, cols int) {
	_, n := a.b.Dims()
	return n, n
}

// MulVec implements linop.Matrix.
func (a *normal) MulVec(dst, x []float64) { a.MulBlock(linop.Column(dst), linop.Column(x)) }

// MulVecTrans implements linop.Matrix.
func (a *normal) MulVecTrans(dst, x []float64) { a.MulVec(dst, x) }

// MulBlock implements linop.Blocked.
func (a *normal) MulBlock(dst, x *linop.Dense) {
	by, ok := a.spare.Get().(*products)
	if !ok {
		by = new(products)
	}
	defer a.spare.Put(by)
	s, middle, back := &by.sites, &by.middle, &by.back
	s.Reshape(len(a.precision), x.Cols)
	linop.MulBlock(a.b, s, x)
	for i, p := range a.precision {
		kernel.Scale(p, s.Row(i))
	}
	linop.MulBlockTrans(a.b, dst, s)
	if a.x == nil {
		return
	}
	if roots, ok := a.x.(linop.Diagonal); ok { // a normal prior
		for j, r := range roots {
			kernel.Axpy(r*r, x.Row(j), dst.Row(j))
		}
		return
	}
	rows, cols := a.x.Dims()
	middle.Reshape(rows, x.Cols)
	back.Reshape(cols, x.Cols)
	linop.MulBlock(a.x, middle, x)
	linop.MulBlockTrans(a.x, back, middle)
	for i := range cols {
		kernel.Axpy(1, back.Row(i), dst.Row(i))
	}
}

// MulBlockTrans implements linop.Blocked.
func (a *normal) MulBlockTrans(dst, x *linop.Dense) { a.MulBlock(dst, x) }

// free is a system of many unknowns: A is what it does to vectors, systems are solved by conjugate
// gradients, and variances are those of draws of N(0, A⁻¹), ξ = A⁻¹(Xᵀε₁ + BᵀΓ^{−½}ε₂) (perturb and solve).
type free struct {
	*measured
	ws    *credence.Workspace
	seed  uint64
	draws int
	// several says that the first variances, those of a mean that is far off yet, are not the last.
	several bool
	near    func(precision []float64) linop.Matrix // as in [Problem]
	thin    *thin                                  // what stands in for A; nil for A itself

	a        *normal // at the last precisions
	inverse  linop.Matrix
	products int // with A, of vectors
	steps    int // of conjugate gradients, for several vectors at a time
	// Of the last variances.
	last     [][]float64 // draws
	fresh    bool        // they are draws of A as it is
	relative float64     // standard error of z over z
	known    *krylov     // what z is to be without; nil for none
}

// by is the system with variances found in a way: k is the number of Lanczos steps, of draws or of vectors, 0 for
// 80, so many draws, or half as many vectors.
func (f *free) by(way Variances, k, draws int) system {
	f.draws = draws
	switch way {
	case LanczosMethod:
		return &lanczos{f, f, cmp.Or(k, lanczosSteps)}
	case XDiag:
		return &xdiag{f, cmp.Or(k, draws/2)}
	case Combined:
		return &combined{f, cmp.Or(k, lanczosSteps)}
	}
	f.draws = cmp.Or(k, draws)
	return f
}

// lanczosSteps is their number where none is stated.
const lanczosSteps = 80

func (f *free) direct() bool { return false }

// take sets A.
func (f *free) take(precision []float64) {
	f.a, f.fresh = &normal{x: f.x, b: f.b, precision: slices.Clone(precision)}, false
}

func (f *free) factor(ctx context.Context, precision []float64) error {
	if f.take(precision); f.thin != nil {
		return f.thin.factor(ctx, f.a.precision)
	}
	if f.near == nil {
		f.inverse = jacobi(f.a)
	} else {
		f.inverse = f.near(f.a.precision)
	}
	return nil
}

const (
	// stepTolerance is the relative error of a step of Newton's method: a thousandth of its decrement is
	// left.
	stepTolerance = 0.03
	// drawTolerance is that of a draw, whose z is too small by its square.
	drawTolerance = 0.1
	// mostProducts is how many products with A a solution may take.
	mostProducts = 2000
	// drawsTogether is the number of draws that share passes over X and B.
	drawsTogether = 16
	// firstDraws is their number for variances that are not the last.
	firstDraws = 2 * drawsTogether
)

func (f *free) solve(ctx context.Context, dst, v []float64) error {
	if clear(dst); f.thin != nil {
		return f.thin.solve(ctx, f, dst, v)
	}
	_, err := f.conjugate(ctx, linop.Column(dst), linop.Column(v), stepTolerance)
	return err
}

// conjugate solves for the columns of b, and counts products and steps.
func (f *free) conjugate(ctx context.Context, x, b *linop.Dense, tolerance float64) (linop.Convergence, error) {
	report, err := linop.Conjugate(ctx, f.a, f.inverse, x, b, tolerance, mostProducts)
	f.count(report, b.Cols)
	return report, err
}

func (f *free) count(report linop.Convergence, columns int) {
	f.products += report.Products * columns
	f.steps += report.Products
}

func (f *free) variances(ctx context.Context, z []float64) error {
	count := f.draws
	if f.last == nil && f.several {
		count = min(count, firstDraws)
	}
	if f.reserve(count); f.thin != nil {
		f.thin.rest.reserve(count)
	}
	blocks := (count + drawsTogether - 1) / drawsTogether
	squares, reports, failures := make([][]float64, blocks), make([]linop.Convergence, blocks), make([]error, blocks)
	f.ws.Pool().Run(blocks, func(b, _ int) {
		first := b * drawsTogether
		squares[b], reports[b], failures[b] = f.drawnSquares(ctx, first, min(drawsTogether, count-first))
	})
	if err := cmp.Or(failures...); err != nil {
		return err
	}
	f.fresh = true
	clear(z)
	for b, part := range squares {
		kernel.Axpy(1/float64(count), part, z)
		f.count(reports[b], min(drawsTogether, count-b*drawsTogether))
	}
	raise(z)
	f.relative = drawnError(count)
	return nil
}

// leastVariance is that of a site that draws do not move.
const leastVariance = 1e-12

// drawnSquares makes some of the draws, and returns the sums of the squares of Bξ.
func (f *free) drawnSquares(ctx context.Context, first, count int) ([]float64, linop.Convergence, error) {
	if f.thin != nil {
		return f.thin.drawn(ctx, f, first, count)
	}
	s, report, err := f.drawn(ctx, first, count)
	squares := make([]float64, s.Rows)
	for i := range squares {
		squares[i] = kernel.Dot(s.Row(i), s.Row(i))
	}
	return squares, report, err
}

// drawn makes some of the draws ξ, going on from what they were, and returns Bξ.
func (f *free) drawn(ctx context.Context, first, count int) (s linop.Dense, report linop.Convergence, err error) {
	n, rows := f.size(), 0
	if f.x != nil {
		rows, _ = f.x.Dims()
	}
	s = linop.NewDense(len(f.a.precision), count)
	noise := linop.NewDense(rows, count)
	xi, right := linop.NewDense(n, count), linop.NewDense(n, count)
	for c := range count {
		// The same ε every time: z then moves with A alone.
		rng := credence.Rand(f.seed, credence.ConvexDraws, uint64(first+c))
		for i, p := range f.a.precision {
			s.Row(i)[c] = math.Sqrt(math.Max(p, 0)) * rng.NormFloat64()
		}
		for i := range rows {
			noise.Row(i)[c] = rng.NormFloat64()
		}
		for j, v := range f.last[first+c] {
			xi.Row(j)[c] = v
		}
	}
	linop.MulBlockTrans(f.b, &right, &s)
	if f.x != nil {
		part := linop.NewDense(n, count)
		linop.MulBlockTrans(f.x, &part, &noise)
		kernel.Axpy(1, part.Data, right.Data)
	}
	if report, err = linop.Conjugate(ctx, f.a, f.inverse, &xi, &right, drawTolerance, mostProducts); err != nil {
		return s, report, err
	}
	for c := range count {
		draw := f.last[first+c]
		for j := range draw {
			draw[j] = xi.Row(j)[c]
		}
	}
	for c := 0; c < count && f.known != nil; c++ {
		left, of := slices.Clone(f.last[first+c]), make([]float64, n)
		for j := range of {
			of[j] = right.Row(j)[c]
		}
		f.known.remove(left, of)
		for j, v := range left {
			xi.Row(j)[c] = v
		}
	}
	linop.MulBlock(f.b, &s, &xi)
	return s, report, nil
}

// reserve makes room for so many draws, which go on from what they were.
func (f *free) reserve(count int) {
	for len(f.last) < count {
		f.last = append(f.last, make([]float64, f.size()))
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func (f *free) logDet() (float64, bool) { return 0, false }

// drawnError is the relative standard error of variances of so many draws: squares of normal numbers.
func drawnError(draws int) float64 { return math.Sqrt(2 / float64(draws)) }

// draw makes draws of A as it is where z was found in another way.
func (f *free) draw(ctx context.Context, sites int) error {
	if f.fresh {
		return nil
	}
	relative := f.relative
	err := f.variances(ctx, make([]float64, sites))
	f.relative = relative
	return err
}
