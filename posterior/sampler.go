package posterior

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/linop"
)

// MostSampled is the largest number of weights whose covariance a [Sampler] forms, where a posterior holds no root of
// it: d² numbers and d³/3 operations.
const MostSampled = 2000

// Sampler draws the weights of a posterior, all of them together. A draw costs d operations where weights are
// independent or draws are stored, and d² where they have a covariance. It is for one goroutine at a time.
type Sampler struct {
	q        credence.Joint
	mean     []float64
	variance []float64 // of independent weights
	root     []float64 // upper triangular U with the covariance UᵀU; nil where the posterior has its own
	unit     []float64 // scratch
	// of a Student-t distribution, as predictions take it, so that E exp(f) is theirs; nil of a normal one
	scales []quad.Scale
}

// NewSampler prepares to draw from a posterior whose designs have so many dense columns. Apart holds vectors of d
// numbers, one a row, whose outer products are taken off the covariance: the caller draws what varies along them. It is
// nil where there are none.
func NewSampler(ws *credence.Workspace, q credence.Posterior, dense int, apart *linop.Dense) (*Sampler, error) {
	joint, ok := q.(credence.Joint)
	if !ok {
		return nil, fmt.Errorf("posterior %T tells no covariance of weights, so that they cannot be drawn together", q)
	}
	d := q.Weights()
	s := &Sampler{q: joint, mean: make([]float64, d), variance: make([]float64, d), unit: make([]float64, d)}
	if t, ok := q.(credence.LatentDF); ok && t.LatentDF() > 0 && !math.IsInf(t.LatentDF(), 1) {
		s.scales = quad.Scales(t.LatentDF())
	}
	if apart != nil {
		return s, s.factor(ws, dense, apart)
	}
	switch own := q.(type) {
	case *Draws:
		own.mean(s.mean)
		return s, nil
	case *Arrow:
		own.regress(ws)
	case *Full, *Diagonal, *SpikeSlab, *Mixture:
	default:
		return s, s.factor(ws, dense, nil)
	}
	joint.Marginals(s.mean, s.variance)
	return s, nil
}

// Root returns U, upper triangular and row-major, with the covariance UᵀU of the weights of a posterior whose designs
// have so many dense columns.
func Root(ws *credence.Workspace, q credence.Joint, dense int) ([]float64, error) {
	if ws == nil || q == nil {
		return nil, errors.New("there is no workspace or no posterior: give both")
	}
	d := q.Weights()
	s := &Sampler{q: q, mean: make([]float64, d), variance: make([]float64, d)}
	err := s.factor(ws, dense, nil)
	return s.root, err
}

// CovarianceOf returns the covariance of the weights of a posterior whose designs have so many dense columns, d×d.
func CovarianceOf(ws *credence.Workspace, q credence.Joint, dense int) linop.Dense {
	d := q.Weights()
	units := &credence.Design{Dense: linop.NewDense(d, dense)}
	units.Sparse.Reset(d - dense)
	for j := range d {
		if j < dense {
			units.Dense.Row(j)[j] = 1
			units.Sparse.AppendRow(nil, nil)
		} else {
			units.Sparse.AppendRow([]int32{int32(j - dense)}, nil)
		}
	}
	covariance := linop.NewDense(d, d)
	q.Covariance(ws, &covariance, units, units)
	return covariance
}

// factor stores the root of the covariance. Directions that the rows settle have a variance of 0, which rounding takes
// below it: the diagonal is raised by as little as helps.
func (s *Sampler) factor(ws *credence.Workspace, dense int, apart *linop.Dense) error {
	d := len(s.mean)
	if d > MostSampled {
		return fmt.Errorf("posterior %T of %d weights has no root of their covariance, which is formed for %d at most", s.q, d, MostSampled)
	}
	s.q.Marginals(s.mean, s.variance)
	covariance := CovarianceOf(ws, s.q, dense)
	for k := 0; apart != nil && k < apart.Rows; k++ {
		for i, v := range apart.Row(k) {
			kernel.Axpy(-v, apart.Row(k), covariance.Row(i))
		}
	}
	s.root = make([]float64, d*d)
	for ridge := 0.0; ridge < 1e-3; ridge = max(10*ridge, 1e-14) {
		copy(s.root, covariance.Data)
		for j, v := range s.variance {
			s.root[j*d+j] += ridge * v
			if v == 0 { // a weight that is known
				clear(s.root[j*d : (j+1)*d])
				for i := range j {
					s.root[i*d+j] = 0
				}
				s.root[j*d+j] = 1
			}
		}
		if _, ok := ws.Pool().Cholesky(d, s.root, d); ok {
			for j, v := range s.variance {
				if v == 0 {
					s.root[j*d+j] = 0
				}
			}
			return nil
		}
	}
	return fmt.Errorf("posterior: the covariance of %d weights is not positive definite, even with a thousandth more of each variance: scale the columns and fit again", d)
}

// Draw stores a draw in dst, of d numbers.
func (s *Sampler) Draw(rng *rand.Rand, dst []float64) {
	d, q := len(s.mean), credence.Posterior(s.q)
	if s.root != nil { // whatever its kind
		q = nil
	}
	switch q := q.(type) {
	case *Mixture:
		k := rng.IntN(q.Count)
		drawIndependent(rng, dst, q.Means[k*d:(k+1)*d], q.Variances[k*d:(k+1)*d])
		return
	case *Diagonal:
		drawIndependent(rng, dst, s.mean, s.variance)
		return
	case *SpikeSlab:
		q.draw(rng, dst)
		return
	case *Draws:
		q.drawTo(rng, dst, s.mean)
		return
	}
	own, arrow := q.(*Arrow)
	for j := 0; !arrow && j < d; j++ {
		s.unit[j] = rng.NormFloat64()
	}
	scale := 1.0
	if s.scales != nil { // one for all weights, so that every sum of them is Student-t
		u, k := rng.Float64(), 0
		for u -= s.scales[0].Weight; u >= 0 && k < len(s.scales)-1; u -= s.scales[k].Weight {
			k++
		}
		scale = math.Sqrt(s.scales[k].Factor)
	}
	copy(dst, s.mean)
	if arrow {
		own.found.Draw(s.unit, own.regression, rng.NormFloat64)
		kernel.Axpy(scale, s.unit, dst)
		return
	}
	if full, ok := q.(*Full); ok {
		for i := range dst { // F is upper triangular, and the covariance FFᵀ
			dst[i] += scale * kernel.Dot(full.Factor[i*d+i:(i+1)*d], s.unit[i:])
		}
		return
	}
	for i, u := range s.unit {
		kernel.Axpy(scale*u, s.root[i*d+i:(i+1)*d], dst[i:])
	}
}

// drawIndependent draws independent normal weights.
func drawIndependent(rng *rand.Rand, dst, mean, variance []float64) {
	for j := range dst {
		dst[j] = mean[j] + math.Sqrt(variance[j])*rng.NormFloat64()
	}
}

// draw draws weights that are 0, or normal with the moments that leave them those of the posterior. An intercept that
// stands at a centre moves with the other weights.
func (p *SpikeSlab) draw(rng *rand.Rand, dst []float64) {
	for j := range dst {
		u, z, in := rng.Float64(), rng.NormFloat64(), included(p.Probability, j)
		if dst[j] = 0; u < in {
			mean := p.Mean[j] / in
			dst[j] = mean + math.Sqrt(math.Max(0, (p.Variance[j]+p.Mean[j]*p.Mean[j])/in-mean*mean))*z
		}
	}
	for j, c := range p.Centre {
		dst[0] -= c * (dst[j] - p.Mean[j])
	}
}

// drawTo takes one of the draws, or with a Mean a normal combination of all.
func (p *Draws) drawTo(rng *rand.Rand, dst, mean []float64) {
	if p.Mean == nil {
		copy(dst, p.draw(rng.IntN(p.Count)))
		return
	}
	copy(dst, mean)
	for s := range p.Count {
		kernel.Axpy(rng.NormFloat64()/math.Sqrt(float64(p.Count)), p.draw(s), dst)
	}
}
