package convex

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// lanczos is a system of operators whose variances come from k steps of the Lanczos method with full
// reorthogonalisation (Nickisch & Seeger 2009, section 4.1): estimates that are too small, never too large, and
// exact at k = n.
type lanczos struct {
	*free
	steps int
}

// lanczosTable is the system of a table with these variances.
type lanczosTable struct {
	*freeTable
	steps int
}

func (t *lanczosTable) variances(ctx context.Context, z []float64) error {
	return (&lanczos{&t.free, t.steps}).variances(ctx, z)
}

// breakdown is the off-diagonal element, as a share of the norm of A, below which the Krylov space is
// exhausted; a random vector orthogonal to it then goes on, so that all of A is reached at k = n even where
// eigenvalues repeat.
const breakdown = 1e-10

// variances adds up v_k⊙v_k, v_k = (Bq_k − d_{k−1}v_{k−1})/e_k, with T = LLᵀ, diagonal e and subdiagonal d.
func (l *lanczos) variances(ctx context.Context, z []float64) error {
	n := l.size()
	clear(z)
	rng := credence.Rand(l.seed, credence.ConvexDraws, 0)
	basis := [][]float64{unit(normals(rng, n))}
	v, row := make([]float64, len(z)), make([]float64, len(z))
	product := make([]float64, n)
	norm, off, below, diagonal := 0.0, 0.0, 0.0, 0.0
	for k := range min(l.steps, n) {
		if err := ctx.Err(); err != nil {
			return err
		}
		q := basis[k]
		l.a.MulVec(product, q)
		l.products++
		alpha := kernel.Dot(q, product)
		norm = math.Max(norm, math.Abs(alpha))
		// e_k = √(α_k − d_{k−1}²), d_{k−1} = η_{k−1}/e_{k−1}.
		if k > 0 {
			below = off / diagonal
		}
		diagonal = math.Sqrt(math.Max(alpha-below*below, 1e-300))
		l.b.MulVec(row, q)
		for i := range z {
			v[i] = (row[i] - below*v[i]) / diagonal
			z[i] += v[i] * v[i]
		}
		next := append([]float64(nil), product...)
		orthogonalise(next, basis)
		off = math.Sqrt(kernel.Dot(next, next))
		if off < breakdown*norm {
			off, next = 0, normals(rng, n)
			orthogonalise(next, basis)
		}
		basis = append(basis, unit(next))
	}
	for i := range z {
		z[i] = math.Max(z[i], leastVariance)
	}
	return nil
}

// orthogonalise takes the components along the basis off, twice.
func orthogonalise(x []float64, basis [][]float64) {
	for range 2 {
		for _, q := range basis {
			kernel.Axpy(-kernel.Dot(q, x), q, x)
		}
	}
}

func unit(x []float64) []float64 {
	kernel.Scale(1/math.Sqrt(math.Max(kernel.Dot(x, x), 1e-300)), x)
	return x
}
