package gibbs

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// fares say how every column would fare.
type fares struct {
	inverse, upper []float64 // M⁻¹, n×n, symmetric; factor of M
	s, q           []float64 // of every column
	logDensity     float64   // of y given the state
}

func newFares(n, d int) fares {
	return fares{inverse: make([]float64, n*n), upper: make([]float64, n*n), s: make([]float64, d), q: make([]float64, d)}
}

// chain is the state of one chain: which columns are in, and for every column how it would fare.
type chain struct {
	*candidates.Table
	*candidates.Setting
	explore float64 // ε: what a flip weighs beside the probability of the column
	ws      *credence.Workspace
	rng     *rand.Rand

	in       []bool
	active   int // columns that are in, kept ones not counted
	logSlab  float64
	logNoise float64
	noise    []float64 // variance of every row, times its weight
	y        []float64 // normal targets of the rows, times the roots of their weights

	fares
	probability []float64 // of inclusion given the rest
	odds        []float64
	cumulative  []float64 // of the weights of flips
	column, row []float64 // n
	gap         []float64 // n
	change      []float64 // d
}

// explore is ε for a thousand candidates or fewer.
const explore = 0.02

func newChain(t *candidates.Table, setting *candidates.Setting, ws *credence.Workspace, rng *rand.Rand) *chain {
	n, d := t.Rows, t.Count()
	c := &chain{
		Table: t, Setting: setting, ws: ws, rng: rng, explore: explore * math.Min(1, 1000/float64(setting.Count)),
		logSlab: setting.Slab.Start, logNoise: setting.Noise.Start,
		in: make([]bool, d), noise: make([]float64, n), y: make([]float64, n),
		probability: make([]float64, d), odds: make([]float64, d), cumulative: make([]float64, d), column: make([]float64, n), row: make([]float64, n),
		change: make([]float64, d),
	}
	c.fares = newFares(n, d)
	for j, v := range setting.Kept {
		c.in[j] = v > 0
	}
	return c
}

// variance is the prior variance of column j where it is in.
func (c *chain) variance(j int) float64 {
	if v := c.Kept[j]; v > 0 {
		return v
	}
	return math.Exp(2 * c.logSlab)
}

// refresh takes M⁻¹, S and Q anew.
func (c *chain) refresh() error {
	n, d, pool := c.Rows, c.Table.Count(), c.ws.Pool()
	scales := make([]float64, d)
	for j := range d {
		if c.in[j] {
			scales[j] = c.variance(j)
		}
	}
	c.outerOf(c.upper, scales)
	for i, v := range c.noise {
		c.upper[i*n+i] += v
	}
	if pivot, ok := pool.Cholesky(n, c.upper, n); !ok {
		return fmt.Errorf("gibbs: the covariance of the rows is not positive definite (row %d): scale the columns", pivot+1)
	}
	pool.CholeskyInverse(n, c.upper, n, c.inverse, n)
	kernel.Symmetrize(n, c.inverse, n)
	c.Quadratics(c.ws, c.s, c.upper)
	c.gap = append(c.gap[:0], c.y...)
	for j, m := range c.KeptMean {
		if m != 0 {
			c.Column(c.column, j)
			kernel.Axpy(-m, c.column, c.gap)
		}
	}
	pool.Gemv(false, n, n, 1, c.inverse, n, c.gap, 0, c.row)
	c.MulTrans(c.ws, c.q, c.row)
	c.logDensity = -kernel.Dot(c.gap, c.row) / 2
	for i := range n {
		c.logDensity -= math.Log(c.upper[i*n+i]) + math.Log(2*math.Pi)/2
	}
	return nil
}

// outerOf stores X diag(scales) Xᵀ, from the few columns whose scale is not 0.
func (c *chain) outerOf(dst, scales []float64) {
	n := c.Rows
	clear(dst)
	for j, v := range scales {
		if v == 0 {
			continue
		}
		c.Column(c.column, j)
		for i, x := range c.column {
			if x != 0 {
				kernel.Axpy(v*x, c.column[i:], dst[i*n+i:(i+1)*n])
			}
		}
	}
}

// flip takes column j in or out.
func (c *chain) flip(j int) {
	n, v := c.Rows, c.variance(j)
	c.Column(c.column, j)
	c.ws.Pool().Gemv(false, n, n, 1, c.inverse, n, c.column, 0, c.row)
	c.MulTrans(c.ws, c.change, c.row)
	scale := v / (1 + v*c.s[j])
	if c.in[j] {
		scale = -v / (1 - v*c.s[j])
	}
	c.logDensity += scale*c.q[j]*c.q[j]/2 + math.Log(scale/v*sign(c.in[j]))/2
	of := c.q[j]
	for l, t := range c.change {
		c.s[l] -= scale * t * t
		c.q[l] -= scale * t * of
	}
	for i, u := range c.row {
		kernel.Axpy(-scale*u, c.row, c.inverse[i*n:(i+1)*n])
	}
	c.in[j] = !c.in[j]
	if c.in[j] {
		c.active++
	} else {
		c.active--
	}
}

// sign is −1 for a column that goes out, for which scale/v is negative, and 1 for one that comes in.
func sign(out bool) float64 {
	if out {
		return -1
	}
	return 1
}

// slab returns mean and variance of the weight of column j where it is in, given all other columns.
func (c *chain) slab(j int) (mean, variance float64) {
	v := c.variance(j)
	if c.in[j] {
		return v * c.q[j], v * math.Max(1-v*c.s[j], leastShare)
	}
	total := 1 + v*c.s[j]
	return v * c.q[j] / total, v / total
}

// leastShare bounds 1 − r₁S of a column that is in, which rounding may take to 0 where the data
// determine its weight.
const leastShare = 1e-12

// farOdds bounds logarithms of odds.
const farOdds = 600

// logPriorOdds is that of a further candidate beside others that are in.
func (c *chain) logPriorOdds(others int) float64 {
	if !c.Odds.Learned {
		return c.Odds.Start
	}
	return math.Log((c.OddsA + float64(others)) / (c.OddsB + float64(c.Setting.Count-1-others)))
}

// probabilities takes p_j of every candidate, and returns the sum of the weights of all flips. With S
// and Q taken without column j, its odds are those of the prior times exp(½ r₁Q²/(1 + r₁S))/√(1 +
// r₁S).
func (c *chain) probabilities() float64 {
	out := c.logPriorOdds(c.active)
	in := out
	if c.active > 0 {
		in = c.logPriorOdds(c.active - 1)
	}
	v := math.Exp(2 * c.logSlab)
	for j, q := range c.q {
		if c.in[j] {
			c.odds[j] = math.Min(in+v*q*q/math.Max(1-v*c.s[j], leastShare)/2, farOdds)
		} else {
			c.odds[j] = math.Min(out+v*q*q/(1+v*c.s[j])/2, farOdds)
		}
	}
	kernel.Exp(c.odds, c.odds)
	total := 0.0
	for j, odds := range c.odds {
		switch {
		case c.Kept[j] > 0:
			c.probability[j] = 1
		case c.in[j]:
			odds *= math.Sqrt(math.Max(1-v*c.s[j], leastShare))
			p := odds / (1 + odds)
			c.probability[j] = p
			total += (p + c.explore) / math.Max(p, 1e-300)
		default:
			odds /= math.Sqrt(1 + v*c.s[j])
			p := odds / (1 + odds)
			c.probability[j] = p
			total += (p + c.explore) * (1 + odds)
		}
		c.cumulative[j] = total
	}
	return total
}

// choose returns the candidate whose flip a number between 0 and the sum of all weights falls on.
func (c *chain) choose(total float64) int {
	at := c.rng.Float64() * total
	low, high := 0, len(c.cumulative)-1
	for low < high {
		middle := (low + high) / 2
		if c.cumulative[middle] > at {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// logState is the log density of targets, noise, slab and the set of columns together.
func (c *chain) logState() float64 {
	sum := c.logDensity - (c.Total-float64(c.Rows))*c.extraNoise() - c.Rest/2*math.Exp(-2*c.logNoise)
	if c.Noise.Learned {
		v, _, _ := c.NoisePrior.At(c.logNoise)
		sum += v
	}
	if c.Slab.Learned {
		v, _, _ := c.SlabPrior.At(c.logSlab)
		sum += v
	}
	if !c.Odds.Learned {
		return sum + float64(c.active)*special.LogSigmoid(c.Odds.Start) + float64(c.Setting.Count-c.active)*special.LogSigmoid(-c.Odds.Start)
	}
	return sum + logBeta(c.OddsA+float64(c.active), c.OddsB+float64(c.Setting.Count-c.active)) - logBeta(c.OddsA, c.OddsB)
}

// extraNoise is what a row of weight 2 has twice of the constant, in which M has it once.
func (c *chain) extraNoise() float64 {
	if c.Classes {
		return 0
	}
	return math.Log(2*math.Pi)/2 + c.logNoise
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}
