package convex

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// krylov is an orthonormal basis Q of k vectors with T = QᵀAQ = LLᵀ tridiagonal: QT⁻¹Qᵀ is the part of A⁻¹ that is
// known (Nickisch & Seeger 2009, section 4.1), too small, never too large, and all of it at k = n.
type krylov struct {
	basis           []float64 // Qᵀ, k×n
	n, steps        int
	diagonal, below []float64 // of L; below[k] is left of diagonal[k]
}

// breakdown is the off-diagonal element, as a share of the norm of A, below which the Krylov space is
// exhausted; a random vector orthogonal to it then goes on, so that all of A is reached at k = n even where
// eigenvalues repeat.
const breakdown = 1e-10

// newKrylov goes through so many steps of the Lanczos method with full reorthogonalisation.
func newKrylov(ctx context.Context, n, steps int, rng *rand.Rand, product func(dst, x []float64)) (*krylov, error) {
	l := &krylov{n: n, basis: unit(normals(rng, n))}
	image := make([]float64, n)
	norm, off := 0.0, 0.0
	for k := range min(steps, n) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q := l.basis[k*n : (k+1)*n]
		product(image, q)
		alpha := kernel.Dot(q, image)
		norm = math.Max(norm, math.Abs(alpha))
		// e_k = √(α_k − d_{k−1}²), d_{k−1} = η_{k−1}/e_{k−1}.
		below := 0.0
		if k > 0 {
			below = off / l.diagonal[k-1]
		}
		l.below, l.diagonal = append(l.below, below), append(l.diagonal, math.Sqrt(math.Max(alpha-below*below, 1e-300)))
		if l.steps++; l.steps == min(steps, n) {
			break
		}
		next := append([]float64(nil), image...)
		l.orthogonalise(next)
		off = math.Sqrt(kernel.Dot(next, next))
		if off < breakdown*norm {
			off, next = 0, normals(rng, n)
			l.orthogonalise(next)
		}
		l.basis = append(l.basis, unit(next)...)
	}
	return l, nil
}

// orthogonalise takes the components along the basis off, twice.
func (l *krylov) orthogonalise(x []float64) {
	for range 2 {
		for first := 0; first < len(l.basis); first += l.n {
			q := l.basis[first : first+l.n]
			kernel.Axpy(-kernel.Dot(q, x), q, x)
		}
	}
}

// variances stores diag(BQT⁻¹QᵀBᵀ), the sums of v_k⊙v_k, v_k = (Bq_k − d_{k−1}v_{k−1})/e_k.
func (l *krylov) variances(z []float64, b linop.Matrix) {
	clear(z)
	last := make([]float64, len(z))
	for first := 0; first < l.steps; first += drawsTogether {
		count := min(drawsTogether, l.steps-first)
		q, s := linop.NewDense(l.n, count), linop.NewDense(len(z), count)
		for k := range count {
			for j, v := range l.basis[(first+k)*l.n : (first+k+1)*l.n] {
				q.Data[j*count+k] = v
			}
		}
		linop.MulBlock(b, &s, &q)
		for i := range z {
			v := last[i]
			for k, bq := range s.Row(i) {
				v = (bq - l.below[first+k]*v) / l.diagonal[first+k]
				z[i] += v * v
			}
			last[i] = v
		}
	}
}

// remove takes QT⁻¹Qᵀb from x: what is left of a draw x = A⁻¹b has the covariance A⁻¹ − QT⁻¹Qᵀ.
func (l *krylov) remove(x, b []float64) {
	c := make([]float64, l.steps)
	for k := range c {
		c[k] = kernel.Dot(l.basis[k*l.n:(k+1)*l.n], b)
		if k > 0 {
			c[k] -= l.below[k] * c[k-1]
		}
		c[k] /= l.diagonal[k]
	}
	for k := l.steps - 1; k >= 0; k-- {
		if k+1 < l.steps {
			c[k] -= l.below[k+1] * c[k+1]
		}
		c[k] /= l.diagonal[k]
		kernel.Axpy(-c[k], l.basis[k*l.n:(k+1)*l.n], x)
	}
}

func unit(x []float64) []float64 {
	kernel.Scale(1/math.Sqrt(math.Max(kernel.Dot(x, x), 1e-300)), x)
	return x
}

// lanczos is a system whose variances are those of a Krylov space, though A may be factored.
type lanczos struct {
	system
	products *free // with A
	steps    int
}

func (l *lanczos) factor(ctx context.Context, precision []float64) error {
	l.products.take(precision)
	return l.system.factor(ctx, precision)
}

func (l *lanczos) variances(ctx context.Context, z []float64) error {
	known, err := l.products.krylov(ctx, l.steps)
	if err == nil {
		known.variances(z, l.products.b)
		raise(z)
	}
	return err
}

// krylov is that of A as it is.
func (f *free) krylov(ctx context.Context, steps int) (*krylov, error) {
	f.products += min(steps, f.size())
	return newKrylov(ctx, f.size(), steps, credence.Rand(f.seed, credence.ConvexDraws, 0), f.a.MulVec)
}

// raise keeps variances above nothing.
func raise(z []float64) {
	for i, v := range z {
		z[i] = math.Max(v, leastVariance)
	}
}

// xdiag is a system of operators whose variances are estimated from solves with random signs: z is the diagonal of
// H = Γ^−½BA⁻¹BᵀΓ^−½, whose eigenvalues lie between 0 and 1, times γ; see [linop.XDiag]. Each vector takes two solves.
type xdiag struct {
	*free
	vectors int
}

// exactTolerance is the relative error of a solution that stands in place of A⁻¹b itself.
const exactTolerance = 1e-3

func (x *xdiag) variances(ctx context.Context, z []float64) error {
	roots := make(linop.Diagonal, len(z))
	for i, p := range x.a.precision {
		roots[i] = math.Sqrt(math.Max(p, leastVariance))
	}
	estimate, err := linop.XDiag(len(z), min(x.vectors, len(z)), func(k int, dst []float64) {
		rng := credence.Rand(x.seed, credence.ConvexDraws, credence.ConvexSigns+uint64(k))
		for i := range dst {
			dst[i] = float64(2*rng.IntN(2) - 1)
		}
	}, func(dst, v *linop.Dense) error {
		scaled := linop.NewDense(v.Rows, v.Cols)
		right, solved := linop.NewDense(x.size(), v.Cols), linop.NewDense(x.size(), v.Cols)
		roots.MulBlock(&scaled, v)
		linop.MulBlockTrans(x.b, &right, &scaled)
		if _, err := x.conjugate(ctx, &solved, &right, exactTolerance); err != nil {
			return err
		}
		linop.MulBlock(x.b, &scaled, &solved)
		roots.MulBlock(dst, &scaled)
		return nil
	})
	if err != nil {
		return err
	}
	errors, size := 0.0, 0.0
	for i, r := range roots {
		value := math.Min(math.Max(estimate.Values[i], estimate.Least[i]), 1)
		spread := math.Min(estimate.Square[i], 1) // of H
		z[i] = math.Max(value/(r*r), leastVariance)
		errors += spread / (r * r * r * r)
		size += z[i] * z[i]
	}
	x.relative = math.Sqrt(errors / size)
	return nil
}

// combined is a system of operators whose variances are those of a Krylov space and those of what is left of draws
// without it: unbiased, with a smaller error than that of draws alone.
type combined struct {
	*free
	steps int
}

func (c *combined) variances(ctx context.Context, z []float64) error {
	known, err := c.krylov(ctx, c.steps)
	if err != nil {
		return err
	}
	if known.steps == c.size() { // all is known, and draws would add what their solves leave
		known.variances(z, c.b)
		raise(z)
		c.relative = 0
		return nil
	}
	c.known = known
	defer func() { c.known = nil }()
	if err := c.free.variances(ctx, z); err != nil {
		return err
	}
	sure, left, size := make([]float64, len(z)), 0.0, 0.0
	known.variances(sure, c.b)
	for i, v := range z {
		z[i] = v + sure[i]
		left += v * v
		size += z[i] * z[i]
	}
	c.relative *= math.Sqrt(left / size)
	return nil
}
