package newton

import (
	"context"
	"math"
	"slices"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// sums are the sums over rows that a Gaussian family needs, whatever its q and noise: with residuals
// r = y − offset − Φ m₀ about a mean m₀ near the data, so that nothing cancels, and weights w,
//
//	weight = Σw   square = Σwpr²   product = Φᵀ(wp⊙r)   gram = Φᵀdiag(wp)Φ,
//
// p the precision of a row.
type sums struct {
	rows           *problem.Rows // those that were added up
	weight, square float64
	logPrecision   float64   // ½ Σw log p
	about, product []float64 // m₀ and the product, d
	gram           []float64 // d×d, both triangles
	targets        base.Moments
}

// FeaturesChanged drops sums of rows that have other features now.
func (n *Newton) FeaturesChanged() { n.sums = nil }

// addUp adds up rows about m.
func (n *Newton) addUp(ctx context.Context, rows *problem.Rows, m []float64) (*sums, error) {
	d, ws, dense := n.Dims, n.Workspace, 0
	u := &sums{rows: rows, about: slices.Clone(m), product: make([]float64, d), gram: make([]float64, d*d)}
	terms := &n.whole.terms
	err := rows.Each(ctx, func(b *problem.Block) {
		dense = b.Phi.Dense.Cols
		u.targets.AddTargets(b.Batch)
		terms.Resize(b.Rows(), 0)
		b.Means(ws, terms.Mean, m)
		for i, y := range b.Target {
			w, p, gap := b.WeightOf(i), 1.0, y-terms.Mean[i]
			if b.Precision != nil {
				p = b.Precision[i]
				u.logPrecision += w * math.Log(p) / 2
			}
			terms.Value[i], terms.DMean[i] = w*p, w*p*gap
			u.weight += w
			u.square += w * p * gap * gap
		}
		b.Phi.AddMulTrans(ws, u.product, terms.DMean)
		n.Layout.AddRows(ws, u.gram, b.Phi, terms.Value)
	})
	n.Layout.Close(u.gram, dense)
	kernel.Symmetrize(d, u.gram, d) // it fills the lower triangle
	return u, err
}

// passSums is Pass for a Gaussian family, from the sums of the rows: with δ = m − m₀, residual sum of
// squares Q = Σwr² − 2δᵀproduct + δᵀGδ + tr GV and noise variance s²,
//
//	value = ½ Σw log p − ½ W log 2πs² − Q/2s²,   gradient = (product − Gδ)/s²,   curvature = G/s².
//
// It costs 2d³ operations where a pass over the rows costs 3nd².
func (n *Newton) passSums(ctx context.Context, rows *problem.Rows, s *Statistics, m, factor []float64, g likelihood.Gaussian, learned int) error {
	if n.sums == nil || n.sums.rows != rows {
		about := m
		if n.about != nil { // a resumed fit takes the sums of the one that was interrupted, to the last digit
			about = n.about
		}
		var err error
		if n.sums, err = n.addUp(ctx, rows, about); err != nil {
			n.sums = nil
			return err
		}
	}
	u, d := n.sums, n.Dims
	s.reset()
	s.Separated, n.Targets, n.counted = false, u.targets, nil
	noise := g.Variance(0)
	delta, along := n.work[0], n.work[1]
	for j := range delta {
		delta[j] = m[j] - u.about[j]
	}
	n.Layout.Mul(along, u.gram, delta)
	trace := 0.0
	if factor != nil {
		n.product = problem.Grow(n.product, d*d)
		n.Workspace.Pool().Gemm(false, false, d, d, d, 1, u.gram, d, factor, d, 0, n.product, d)
		for i := range d { // F is upper triangular
			trace += kernel.Dot(n.product[i*d+i:(i+1)*d], factor[i*d+i:(i+1)*d])
		}
	}
	total := u.square - 2*kernel.Dot(delta, u.product) + kernel.Dot(delta, along)
	total = math.Max(total, 0) + trace
	s.Value = u.logPrecision - (u.weight*math.Log(2*math.Pi*noise)+total/noise)/2
	s.Trace = trace / noise
	for j := range s.Gradient {
		s.Gradient[j] = (u.product[j] - along[j]) / noise
	}
	for i, v := range u.gram {
		s.Curvature[i] = v / noise
	}
	if learned > 0 { // log s is the only parameter
		s.Slope[0] = total/noise - u.weight
		s.Bend[0] = -2 * total / noise
		for j, v := range s.Gradient {
			s.Cross[j] = -2 * v
		}
	}
	if s.Beta == nil {
		return nil
	}
	first := 0
	return rows.Each(ctx, func(b *problem.Block) {
		weights := b.SquareWeights()
		for i, y := range b.Target {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			s.Beta[first+i], s.B[first+i] = w/noise, w*(y-b.OffsetOf(i))/noise
		}
		first += b.Rows()
	})
}
