package convex

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

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
		report, err := x.conjugate(ctx, &solved, &right, exactTolerance)
		if err != nil {
			return err
		}
		x.error = math.Max(x.error, report.Error)
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
