package ep

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// largestGroup is the largest number of weights whose sites together have all their covariances. Those of a
// larger group, and of groups of a model of which q keeps no covariances, stand apart and share the
// inclusion alone.
const largestGroup = 64

// group is the site exp(hᵀw − ½wᵀΛw) of m weights that are in or out together. The shifts h stand with the
// weights.
type group struct {
	candidates.Candidate
	precision  []float64 // Λ, m×m
	upper      []float64 // factor of Λ in the n×n form
	covariance []float64 // of the weights under q, m×m
}

// takeGroups makes the sites of groups what those of single weights are before the first sweep.
func (f *fit) takeGroups(precision float64) {
	f.groups, f.q.groups = make([]*group, len(f.Candidates)), nil
	for k, c := range f.Candidates {
		if c.Count == 1 || c.Count > largestGroup || !f.full() {
			continue
		}
		m := c.Count
		g := &group{Candidate: c, precision: make([]float64, m*m), upper: make([]float64, m*m), covariance: make([]float64, m*m)}
		for i := range m {
			g.precision[i*m+i] = precision
		}
		f.groups[k] = g
		f.q.groups = append(f.q.groups, g)
	}
}

// apart moves the sites of a candidate, of which each weight has its own. The cavity of a weight is q without
// its site; of several weights the cavities are taken to be independent.
func (f *fit) apart(c candidates.Candidate, step float64) {
	s := f.priorOf(c)
	odds := s.logOdds
	for j := c.First; j < c.End(); j++ {
		if m, v, ok := f.weights[j].cavity(f.q.mean[j], f.q.variance[j]); ok {
			odds += s.factor(m, v)
		}
	}
	inclusion := special.Sigmoid(odds)
	for j := c.First; j < c.End(); j++ {
		m, v, ok := f.weights[j].cavity(f.q.mean[j], f.q.variance[j])
		if !ok { // a column of zeros: nothing is known of its weight but the prior
			f.tilted[j] = tiltedOf(inclusion, 0, s.variance)
			f.weights[j].toward(site{precision: 1 / f.tilted[j].variance}, step)
			continue
		}
		t := s.moments(m, v, inclusion)
		f.tilted[j] = t
		gap := t.mean - f.q.mean[j]
		f.along += gap * f.gaps[j]
		f.gaps[j] = gap
		next, raised := matching(m, v, t.mean, t.variance, f.least()/s.variance)
		if raised {
			f.raised++
		}
		f.weights[j].toward(next, step)
	}
}

// apartNormaliser is what the prior of a candidate has over its sites, in the log evidence.
func (f *fit) apartNormaliser(c candidates.Candidate) float64 {
	s := f.priorOf(c)
	sum, factor := 0.0, 0.0
	for j := c.First; j < c.End(); j++ {
		w := f.weights[j]
		m, v, ok := w.cavity(f.q.mean[j], f.q.variance[j])
		if !ok {
			sum -= w.logSize()
			continue
		}
		sum -= (math.Log(2*math.Pi*v)+m*m/v)/2 + w.logIntegral(m, v)
		factor += s.factor(m, v)
	}
	return sum + s.logSum(factor)
}

// cavity is a group's q without its site, exp(hᵀw − ½wᵀPw), where P may be singular, times the slab: with
// A = P + I/r₁ the slab has the mean A⁻¹h and the covariance A⁻¹, and its odds are those of π times
// exp(½hᵀA⁻¹h)/√|r₁A|.
type cavity struct {
	precision, shift []float64 // P and h
	mean, slab       []float64 // A⁻¹h and A⁻¹
	square, factor   float64   // hᵀA⁻¹h, and the logarithm by which the odds change
	logSize          float64   // log of the integral of q over the group's weights
}

func (f *fit) cavity(g *group) *cavity {
	m, pool, r := g.Count, f.ws.Pool(), f.prior().variance
	c := &cavity{precision: make([]float64, m*m), shift: make([]float64, m), mean: make([]float64, m), slab: make([]float64, m*m)}
	upper, mean := append([]float64(nil), g.covariance...), f.q.mean[g.First:g.End()]
	known := true
	if _, known = pool.Cholesky(m, upper, m); known {
		pool.CholeskyInverse(m, upper, m, c.precision, m)
		kernel.Symmetrize(m, c.precision, m)
		c.logSize = float64(m) * math.Log(2*math.Pi) / 2
		for i := range m {
			c.shift[i] = kernel.Dot(c.precision[i*m:(i+1)*m], mean)
			c.logSize += math.Log(upper[i*m+i]) + c.shift[i]*mean[i]/2
			c.shift[i] -= f.weights[g.First+i].shift
		}
		kernel.Axpy(-1, g.precision, c.precision)
	}
	system, deviations := gauss.Dense{Weights: m}.Factor(f.ws), slices.Repeat([]float64{math.Sqrt(r)}, m)
	if !known || system.Set(c.precision, 1, deviations) != nil { // rounding left nothing of what the rows say
		clear(c.precision)
		clear(c.shift)
		_ = system.Set(c.precision, 1, deviations) // I has a factor
	}
	system.Solve(c.mean, c.shift)
	system.Covariance(c.slab)
	c.square = kernel.Dot(c.mean, c.shift)
	c.factor = (c.square - system.LogDet()) / 2
	return c
}

// leastInclusion bounds the inclusion of a group in its site, whose precision grows with its reciprocal.
const leastInclusion = 1e-10

// together moves the site of a group: the covariance of the cavity times the prior is
// α(A⁻¹ + (1−α)mmᵀ) for the slab's mean m, of which the inverse has a closed form.
func (f *fit) together(g *group, step float64) {
	s, c, m := f.priorOf(g.Candidate), f.cavity(g), g.Count
	inclusion := special.Sigmoid(s.logOdds + c.factor)
	for i := range m {
		f.tilted[g.First+i] = tiltedOf(inclusion, c.mean[i], c.slab[i*m+i])
	}
	alpha := math.Max(inclusion, leastInclusion)
	out, share := (1-alpha)/alpha, 1/(1+(1-alpha)*c.square)
	next, shift := make([]float64, m*m), make([]float64, m)
	for i := range m {
		for k := range m {
			next[i*m+k] = out * (c.precision[i*m+k] - share*c.shift[i]*c.shift[k])
		}
		next[i*m+i] += 1 / (alpha * s.variance)
		shift[i] = (share - 1) * c.shift[i]
	}
	if raise(m, next, f.least()/s.variance) {
		f.raised++
		for i := range m { // the mean is kept
			shift[i] = -c.shift[i]
			for k := range m {
				shift[i] += (c.precision[i*m+k] + next[i*m+k]) * inclusion * c.mean[k]
			}
		}
	}
	for i, v := range next {
		g.precision[i] += step * (v - g.precision[i])
	}
	for i, v := range shift {
		w := &f.weights[g.First+i]
		w.shift += step * (v - w.shift)
	}
}

// raise raises the eigenvalues of a symmetric matrix below the least to it, and says whether there were any.
func raise(m int, a []float64, least float64) bool {
	above := mat.NewSymDense(m, append([]float64(nil), a...))
	for i := range m {
		above.SetSym(i, i, a[i*m+i]-least)
	}
	if new(mat.Cholesky).Factorize(above) {
		return false
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(m, a), true) {
		return false
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	clear(a)
	for k, v := range eigen.Values(nil) {
		for i := range m {
			for l := range m {
				a[i*m+l] += math.Max(v, least) * vectors.At(i, k) * vectors.At(l, k)
			}
		}
	}
	return true
}

// togetherNormaliser is apartNormaliser of a group.
func (f *fit) togetherNormaliser(g *group) float64 {
	c := f.cavity(g)
	return f.priorOf(g.Candidate).logSum(c.factor) - c.logSize
}
