package gibbs

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/kernel"
)

// largestInformed is the largest number of columns of a group whose odds are known at every step. Larger
// ones are flipped where values move.
const largestInformed = 64

// group is a candidate of m columns, with mean and variances of the weights where they are in, given all
// other columns.
type group struct {
	candidates.Candidate
	products       []float64 // XᵀWX, m×m, under the row weights of c.products
	of             *products // what they were taken with
	mean, variance []float64
	large          bool
}

func (c *chain) takeGroups() {
	c.groupOf = make([]*group, len(c.in))
	for _, candidate := range c.Candidates {
		m := candidate.Count
		c.flips = c.flips || m <= largestInformed
		if m == 1 {
			continue
		}
		g := &group{Candidate: candidate, mean: make([]float64, m), variance: make([]float64, m), large: m > largestInformed}
		c.groups = append(c.groups, g)
		for j := g.First; j < g.End(); j++ {
			c.groupOf[j] = g
		}
	}
}

// count counts the candidates that are in.
func (c *chain) count() {
	c.active = 0
	for _, candidate := range c.Candidates {
		if _, own := c.OddsOf(candidate.First, 0); c.in[candidate.First] && !own {
			c.active++
		}
	}
}

// toggle takes the candidate whose first column is j in or out.
func (c *chain) toggle(j int) {
	end := j + 1
	if g := c.groupOf[j]; g != nil {
		end = g.End()
	}
	for l := j; l < end; l++ {
		c.flip(l)
	}
	switch _, own := c.OddsOf(j, 0); {
	case own:
	case c.in[j]:
		c.active++
	default:
		c.active--
	}
}

// reverse takes a group in or out, and leaves how columns fare to refresh.
func (c *chain) reverse(g *group) {
	for j := g.First; j < g.End(); j++ {
		c.in[j] = !c.in[j]
	}
	c.count()
}

// takeGroup stores in a group mean and variances of its weights, as takeProducts does its products, and returns its
// odds, for logarithms of its prior odds where it is in and where it is out. With S and Q without the group and
// A = I + r₁S they are those of the prior times exp(½ r₁QᵀA⁻¹Q)/√|A|, and the weights are N(r₁A⁻¹Q, r₁A⁻¹). Where the
// group is in, r₁A⁻¹ is its part of C and the mean r₁ times Q as it stands. A large group has odds of 0 or of 1 to 0.
func (c *chain) takeGroup(g *group, in, out float64) float64 {
	m, v, pool := g.Count, math.Exp(2*c.logSlab), c.ws.Pool()
	if g.large {
		for i := range m {
			g.mean[i], g.variance[i] = c.slab(g.First+i, v)
		}
		if c.in[g.First] {
			return math.Inf(1)
		}
		return 0
	}
	upper, solved := make([]float64, m*m), make([]float64, m)
	if c.in[g.First] {
		places, k := make([]int, m), len(c.order)
		for i := range m {
			places[i] = slices.Index(c.order, g.First+i)
		}
		for i, a := range places {
			g.mean[i], g.variance[i] = v*c.q[g.First+i], c.inverse[a*k+a]
			solved[i] = g.mean[i]
			for l, b := range places {
				upper[i*m+l] = c.inverse[a*k+b]
			}
		}
	} else {
		c.outside(g, upper)
		for i := range m {
			for l := range m {
				upper[i*m+l] *= v
			}
			upper[i*m+i]++
			solved[i] = math.Sqrt(v) * c.q[g.First+i]
		}
	}
	kept := slices.Clone(upper)
	for jitter := 1e-15; ; jitter *= 100 { // rounding may leave next to nothing of a variance
		if _, ok := pool.Cholesky(m, upper, m); ok || jitter > 1 {
			break
		}
		copy(upper, kept)
		for i := range m {
			upper[i*m+i] += jitter * (kept[i*m+i] + 1e-300)
		}
	}
	pool.TrsmLeft(true, m, 1, upper, m, solved, 1)
	log := kernel.Dot(solved, solved) / 2
	for i := range m {
		log -= math.Log(upper[i*m+i])
	}
	if c.in[g.First] { // the determinant is that of C/r₁ = A⁻¹
		log = kernel.Dot(solved, solved) - log - float64(m)*math.Log(v)/2
		return math.Exp(min(in+log, farOdds))
	}
	pool.TrsmLeft(false, m, 1, upper, m, solved, 1)
	inverse := make([]float64, m*m)
	pool.CholeskyInverse(m, upper, m, inverse, m)
	for i, x := range solved {
		g.mean[i], g.variance[i] = math.Sqrt(v)*x, v*inverse[i*m+i]
	}
	return math.Exp(min(out+log, farOdds))
}

// outside stores S of a group that is out, XᵀN⁻¹X − BCBᵀ with B = XᵀN⁻¹X_A.
func (c *chain) outside(g *group, dst []float64) {
	m, k, tau := g.Count, len(c.order), c.precision()
	if g.of != c.products {
		c.takeProducts(g)
	}
	near, half := make([]float64, m*k), make([]float64, m*k)
	for a, l := range c.order {
		for i, x := range c.of[l][g.First:g.End()] {
			near[i*k+a] = tau * x
		}
	}
	c.ws.Pool().Gemm(false, false, m, k, k, 1, near, k, c.inverse, k, 0, half, k)
	for i := range m {
		for l := range m {
			dst[i*m+l] = tau*g.products[i*m+l] - kernel.Dot(half[i*k:(i+1)*k], near[l*k:(l+1)*k])
		}
	}
}

// takeProducts takes XᵀWX of a group.
func (c *chain) takeProducts(g *group) {
	m, n := g.Count, c.Rows
	g.of, g.products = c.products, make([]float64, m*m)
	rows, weighed := make([]float64, m*n), make([]float64, n)
	for i := range m {
		c.Column(rows[i*n:(i+1)*n], g.First+i)
	}
	for i := range m {
		copy(weighed, rows[i*n:(i+1)*n])
		c.weigh(weighed)
		for l := range m {
			g.products[i*m+l] = kernel.Dot(weighed, rows[l*n:(l+1)*n])
		}
	}
}
