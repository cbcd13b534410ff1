package gibbs

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// chain is the state of one chain: which columns are in, and for every column how it would fare.
type chain struct {
	*candidates.Table
	*candidates.Setting         // of which the kept columns' variances are the chain's own
	explore             float64 // ε: what a flip weighs beside the probability of the column
	ws                  *credence.Workspace
	rng                 *rand.Rand

	in       []bool
	active   int      // candidates that are in, those with prior odds of their own aside
	groups   []*group // candidates of several columns
	groupOf  []*group // of every column, nil for one that stands for itself
	flips    bool     // there are candidates to choose flips from
	logSlab  float64
	logNoise float64
	logKept  []float64 // prior standard deviations of the kept blocks
	noise    []float64 // variance of every row, times its weight
	y        []float64 // normal targets of the rows, times the roots of their weights

	fares
	shared       [][]float64 // products of all columns, or nil
	plain        bool        // no column is kept, and none is of a group
	told         bool        // some candidates have prior odds of their own
	odds         []float64   // of inclusion given the rest
	share        []float64   // 1 − vS of a column that is in, else 1 + vS, v its prior variance
	cumulative   []float64   // of the weights of flips
	total        float64     // their sum
	column, row  []float64   // n
	change       []float64   // d
	near, solved []float64   // k numbers
	panel        []float64   // rows of products, one after the other
}

// explore is ε for a thousand candidates or fewer.
const explore = 0.02

func newChain(t *candidates.Table, setting *candidates.Setting, ws *credence.Workspace, rng *rand.Rand) *chain {
	n, d := t.Rows, t.Count()
	own := *setting
	setting = &own
	setting.Kept = slices.Clone(setting.Kept)
	c := &chain{
		Table: t, Setting: setting, ws: ws, rng: rng, explore: explore * math.Min(1, 1000/float64(len(setting.Candidates))),
		logSlab: setting.Slab.Start, logNoise: setting.Noise.Start,
		in: make([]bool, d), noise: make([]float64, n), y: make([]float64, n),
		odds: make([]float64, d), share: make([]float64, d), cumulative: make([]float64, d), column: make([]float64, n), row: make([]float64, n),
		change: make([]float64, d),
	}
	c.fares = newFares(d)
	for _, b := range setting.KeptBlocks {
		c.logKept = append(c.logKept, b.Start)
	}
	for j, v := range setting.Kept {
		c.in[j] = v > 0
	}
	c.takeGroups()
	some := func(v float64) bool { return v != 0 }
	c.plain = len(c.groups) == 0 && !slices.ContainsFunc(c.Kept, some) && !slices.ContainsFunc(c.KeptMean, some)
	c.told = slices.ContainsFunc(c.Candidates, func(g candidates.Candidate) bool {
		_, own := c.OddsOf(g.First, 0)
		return own
	})
	return c
}

// variance is the prior variance of column j where it is in.
func (c *chain) variance(j int) float64 {
	if v := c.Kept[j]; v > 0 {
		return v
	}
	return math.Exp(2 * c.logSlab)
}

// slab returns mean and variance of the weight of column j where it is in, given all other columns,
// for its prior variance v.
func (c *chain) slab(j int, v float64) (mean, variance float64) {
	if c.in[j] {
		return v * c.q[j], v * max(1-v*c.s[j], leastShare)
	}
	share := 1 / (1 + v*c.s[j])
	return v * c.q[j] * share, v * share
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
	return math.Log((c.OddsA + float64(others)) / (c.OddsB + float64(c.Shared-1-others)))
}

// probabilities takes p_j of every candidate, and the sum of the weights of all flips. With S
// and Q taken without column j, its odds are those of the prior times exp(½ r₁Q²/(1 + r₁S))/√(1 +
// r₁S).
func (c *chain) probabilities() {
	out := c.logPriorOdds(c.active)
	in := out
	if c.active > 0 {
		in = c.logPriorOdds(c.active - 1)
	}
	v := math.Exp(2 * c.logSlab)
	size := len(c.q) // of all lists: what is known of their lengths is not looked at in every round
	list, is, s, share, cumulative := c.odds[:size], c.in[:size], c.s[:size], c.share[:size], c.cumulative[:size]
	for j, q := range c.q {
		prior := out
		if share[j] = 1 + v*s[j]; is[j] {
			prior, share[j] = in, max(1-v*s[j], leastShare)
		}
		if c.told {
			prior, _ = c.OddsOf(j, prior)
		}
		list[j] = min(prior+v*q*q/share[j]/2, farOdds)
	}
	kernel.Exp(list, list)
	total, explore := leastTotal, c.explore
	for j, odds := range list {
		var g *group
		if !c.plain {
			g = c.groupOf[j]
		}
		switch {
		case !c.plain && c.Kept[j] > 0:
			odds = math.Inf(1)
		case g != nil && j > g.First: // its first column has the weight of its flip
			odds = c.odds[g.First]
		case g != nil:
			within, _ := c.OddsOf(j, in)
			without, _ := c.OddsOf(j, out)
			if odds = c.takeGroup(g, within, without); !g.large {
				total += c.weight(j, odds)
			}
		case is[j]:
			odds *= math.Sqrt(share[j])
			total += weightIn(odds, explore)
		default:
			odds /= math.Sqrt(share[j])
			total += weightOut(odds, explore)
		}
		list[j], cumulative[j] = odds, total
	}
	c.total = total
}

// leastTotal is next to nothing beside the weight of a flip.
const leastTotal = 1e-300

// weight is that of a flip of column j, (p + ε)/P(z as it is): odds + ε(1 + odds) of one that is out, and
// 1 + ε(1 + odds)/odds of one that is in.
func (c *chain) weight(j int, odds float64) float64 {
	if c.in[j] {
		return weightIn(odds, c.explore)
	}
	return weightOut(odds, c.explore)
}

func weightIn(odds, explore float64) float64 { return 1 + explore*(1+1/math.Max(odds, 1e-300)) }

func weightOut(odds, explore float64) float64 { return odds + explore*(1+odds) }

// probability is that of the inclusion of column j given the rest.
func (c *chain) probability(j int) float64 { return 1 / (1 + 1/c.odds[j]) }

// choose returns the first column of the candidate whose flip a number between 0 and the sum of all weights falls on.
func (c *chain) choose() int {
	at := c.rng.Float64() * c.total
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
		if c.logNoise < hyper.LeastLogNoise {
			return math.Inf(-1)
		}
		v, _, _ := c.NoisePrior.At(c.logNoise)
		sum += v
	}
	if c.Slab.Learned {
		v, _, _ := c.SlabPrior.At(c.logSlab)
		sum += v
	}
	for k, b := range c.KeptBlocks {
		v, _, _ := b.Prior.At(c.logKept[k])
		sum += v
	}
	for _, candidate := range c.Candidates {
		if !c.told {
			break
		}
		switch odds, own := c.OddsOf(candidate.First, 0); {
		case own && c.in[candidate.First]:
			sum += special.LogSigmoid(odds)
		case own:
			sum += special.LogSigmoid(-odds)
		}
	}
	if !c.Odds.Learned {
		return sum + float64(c.active)*special.LogSigmoid(c.Odds.Start) + float64(c.Shared-c.active)*special.LogSigmoid(-c.Odds.Start)
	}
	return sum + special.LogBeta(c.OddsA+float64(c.active), c.OddsB+float64(c.Shared-c.active)) - special.LogBeta(c.OddsA, c.OddsB)
}

// extraNoise is what a row of weight 2 has twice of the constant, in which M has it once.
func (c *chain) extraNoise() float64 {
	if c.Classes {
		return 0
	}
	return math.Log(2*math.Pi)/2 + c.logNoise
}
