package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// sufficient are the sums over the rows of a table that a Gaussian family needs, whatever its q and
// noise: with residuals r = y − offset − Φ m₀ at a reference m₀ near the data, so that
// nothing cancels, and weights w,
//
//	weight = Σw   square = Σwr²   pull = Φᵀ(w⊙r)   gram = Φᵀdiag(w)Φ.
type sufficient struct {
	weight, square float64
	about, pull    []float64 // m₀ and the pull, d
	gram           []float64 // d×d, both triangles
	targets        moments
}

// sums adds up the rows of t about m.
func (r *newton) sums(ctx context.Context, t *table, m []float64) (*sufficient, error) {
	d := r.d
	u := &sufficient{about: clone(m), pull: make([]float64, d), gram: make([]float64, d*d)}
	u.targets.reset()
	terms := &r.terms
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return nil, err
		}
		r.denseCols = b.phi.Dense.Cols
		u.targets.add(b)
		terms.resize(b.rows, 0)
		latentMeans(r.ws.Pool(), terms.mean, b, m)
		for i, y := range b.y {
			w := 1.0
			if b.weight != nil {
				w = b.weight[i]
			}
			gap := y - terms.mean[i]
			terms.value[i], terms.dMean[i] = w, w*gap
			u.weight += w
			u.square += w * gap * gap
		}
		addTrans(r.ws.Pool(), u.pull, b.phi, terms.dMean)
		r.addCurvature(u.gram, b.phi, terms.value)
	}
	liftCross(u.gram, d, r.denseCols)
	kernel.Symmetrize(d, u.gram, d) // it fills the lower triangle
	return u, nil
}

// passSufficient is pass for a Gaussian family, from the sums of the table: with δ = m − m₀, residual
// sum of squares Q = Σwr² − 2δᵀpull + δᵀGδ + tr GV and noise variance s²,
//
//	value = −½ W log 2πs² − Q/2s²,   gradient = (pull − Gδ)/s²,   curvature = G/s².
//
// It costs 2d³ operations where a pass over the rows costs 3nd².
func (r *newton) passSufficient(ctx context.Context, t *table, s *statistics, m, factor []float64, g likelihood.Gaussian, learned int) error {
	if t.sums == nil {
		about := m
		if r.about != nil { // a resumed fit takes the sums of the one that was interrupted, to the last digit
			about = r.about
		}
		var err error
		if t.sums, err = r.sums(ctx, t, about); err != nil {
			return err
		}
	}
	u, d := t.sums, r.d
	s.reset()
	s.correct, r.targets = false, u.targets
	noise := g.Variance(0)
	delta, along := r.work[0], r.work[1]
	for j := range delta {
		delta[j] = m[j] - u.about[j]
	}
	r.mulSites(along, u.gram, delta)
	spread := 0.0
	if factor != nil {
		r.product = grow(r.product, d*d)
		r.ws.Pool().Gemm(false, false, d, d, d, 1, u.gram, d, factor, d, 0, r.product, d)
		for i := range d { // F is upper triangular
			spread += kernel.Dot(r.product[i*d+i:(i+1)*d], factor[i*d+i:(i+1)*d])
		}
	}
	total := u.square - 2*kernel.Dot(delta, u.pull) + kernel.Dot(delta, along)
	total = math.Max(total, 0) + spread
	s.value = -(u.weight*math.Log(2*math.Pi*noise) + total/noise) / 2
	s.trace = spread / noise
	for j := range s.gradient {
		s.gradient[j] = (u.pull[j] - along[j]) / noise
	}
	for i, v := range u.gram {
		s.curvature[i] = v / noise
	}
	if learned > 0 { // log s² is the only parameter
		s.slope[0] = (total/noise - u.weight) / 2
		s.bend[0] = -total / noise / 2
		for j, v := range s.gradient {
			s.cross[j] = -v
		}
	}
	return s.keepRows(ctx, t, g)
}

// keepRows stores the sites of a Gaussian family where they are wanted.
func (s *statistics) keepRows(ctx context.Context, t *table, g likelihood.Gaussian) error {
	if s.beta == nil {
		return nil
	}
	first, noise := 0, g.Variance(0)
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return err
		}
		for i, y := range b.y {
			w := 1.0
			if b.weight != nil {
				w = b.weight[i]
			}
			if b.offset != nil {
				y -= b.offset[i]
			}
			s.beta[first+i], s.b[first+i] = w/noise, w*y/noise
		}
		first += b.rows
	}
	return nil
}
