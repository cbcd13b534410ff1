package problem

import (
	"math"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
)

// Priors are the priors of what is learned beside the weights: of the standard deviation τ of each
// group, τ² ~ A²·BetaPrime(1, b) with A = s/c, where c² is the mean over rows of the square of the
// group's columns, so that A·c is the prior size of the group's part of f; and of the family's learned
// parameters. Under automatic relevance determination A is α/c of each weight, with a common α that is
// learned: half-Cauchy about s/√d, as the standard deviations are about α/c (the horseshoe).
//
// Nil is no priors: type-II maximum likelihood.
type Priors struct {
	Groups []hyper.Prior // of log τ, then of half the logarithms of odds; flat where it is not learned
	Scales []float64     // A of each group, 0 where it is not learned; under ARD 1/c

	Common hyper.Prior // of log α; nil without
	Centre float64     // s/√d, the scale of α
	hung   []bool      // the groups whose scale is α's

	family *Family
	scale  float64
}

// newPriors makes the priors of a problem. It holds a group whose columns are constant, of which
// nothing can be learned, at s.
func (p *Problem) newPriors(s *Start) *Priors {
	priors := &Priors{Groups: make([]hyper.Prior, len(p.Groups)), Scales: make([]float64, len(p.Groups)), hung: make([]bool, len(p.Groups)), family: s.Family, scale: s.Scale}
	weights := 0
	for k := range p.Groups {
		g := &p.Groups[k]
		priors.Groups[k] = hyper.Flat{}
		if !g.Learned {
			continue
		}
		size := s.Sizes[k]
		if size == 0 {
			g.Learned = false
			s.Prior[k], p.References[k] = s.Scale*s.Scale, Reference{s.Scale * s.Scale, s.Scale * s.Scale}
			continue
		}
		priors.Scales[k] = s.Scale / size
		if priors.hung[k] = p.Prior.ARD && !g.Covaried; priors.hung[k] {
			weights += g.Count
			priors.Scales[k] = 1 / size
		}
		priors.Groups[k] = hyper.BetaPrime{A: 1, B: likelihood.PriorTail(p.Likelihood), Scale: priors.Scales[k]}
	}
	for _, t := range p.Together {
		for r := range t.K {
			for c := range r {
				prior := hyper.Prior(hyper.Flat{})
				if t.Learned {
					prior = hyper.LKJ(t.K, c)
				}
				priors.Groups, priors.hung = append(priors.Groups, prior), append(priors.hung, false)
			}
		}
	}
	if p.Prior.ARD && weights > 0 {
		priors.Centre = s.Scale / math.Sqrt(float64(weights))
		priors.Common = hyper.HalfCauchy(priors.Centre)
	}
	return priors
}

// At returns the priors of the groups where log α is common.
func (p *Priors) At(common float64) []hyper.Prior {
	if p.Common == nil {
		return p.Groups
	}
	list := make([]hyper.Prior, len(p.Groups))
	for k, prior := range p.Groups {
		if list[k] = prior; p.hung[k] {
			list[k] = hyper.BetaPrime{A: 0.5, B: 0.5, Scale: p.Scales[k] * math.Exp(common)}
		}
	}
	return list
}

// Hung says whether there is a common scale.
func (p *Priors) Hung() bool { return p != nil && p.Common != nil }

// Share is by what the common scale multiplies the scale of a group.
func (p *Priors) Share(k int, common float64) float64 {
	if !p.hung[k] {
		return 1
	}
	return math.Exp(common)
}

// Settle returns the log α that the prior variances make most likely; 0 without one. The log density
// is concave in it.
func (p *Priors) Settle(variances []float64) float64 {
	if !p.Hung() {
		return 0
	}
	return top(math.Log(p.Centre)-40, math.Log(p.Centre)+40, func(common float64) float64 { return p.CommonSlope(common, variances) })
}

// top returns where a falling slope is 0 between two numbers.
func top(low, high float64, slope func(x float64) float64) float64 {
	for range 100 {
		if middle := (low + high) / 2; slope(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}

// CommonSlope is the slope of the log density in log α.
func (p *Priors) CommonSlope(common float64, variances []float64) float64 {
	_, sum, _ := p.Common.At(common)
	for k, prior := range p.At(common) {
		if p.hung[k] {
			_, slope, _ := prior.At(math.Log(variances[k]) / 2)
			sum -= slope // α and τ count by their ratio
		}
	}
	return sum
}

// Density is the log density of prior variances and of free parameters of the family, in θ = (log τ,
// free parameters, log α) at the most likely α. Without priors it is 0.
func (p *Priors) Density(variances, free []float64) float64 {
	return p.DensityAt(variances, free, p.Settle(variances))
}

// DensityAt is Density where log α is common.
func (p *Priors) DensityAt(variances, free []float64, common float64) float64 {
	if p == nil {
		return 0
	}
	sum := p.family.LogPrior(free, p.scale, nil, nil)
	for k, prior := range p.At(common) {
		value, _, _ := prior.At(math.Log(variances[k]) / 2)
		sum += value
	}
	if p.Common != nil {
		value, _, _ := p.Common.At(common)
		sum += value
	}
	return sum
}

// Slopes returns the slope of Density in the logarithm of each prior variance; all 0 without priors.
func (p *Priors) Slopes(variances []float64) []float64 {
	slopes := make([]float64, len(variances))
	if p == nil {
		return slopes
	}
	for k, prior := range p.At(p.Settle(variances)) {
		_, slope, _ := prior.At(math.Log(variances[k]) / 2)
		slopes[k] = slope / 2
	}
	return slopes
}

// AddFree adds slope and second derivatives of Density in the free parameters of the family; bend may
// be nil.
func (p *Priors) AddFree(free, slope, bend []float64) {
	if p != nil {
		p.family.LogPrior(free, p.scale, slope, bend)
	}
}

// commonSteps is the number of times that prior variances and α are set in turn.
const commonSteps = 30

// Fill stores in variances those of learned groups at which Density − ½ Σ (sum/variance + count log
// variance) is greatest, given the sum of the expected squares of the weights of each group and their
// count. With a common α it goes up, to the top but for what commonSteps leave.
func (p *Problem) Fill(variances []float64, squares func(k int) (sum float64, count int)) {
	steps := 1
	if p.Priors.Hung() {
		steps = commonSteps
	}
	for range steps {
		var priors []hyper.Prior
		if p.Priors != nil {
			priors = p.Priors.At(p.Priors.Settle(variances))
		}
		for k, g := range p.Groups {
			if !g.Learned || g.Stride > 0 { // columns that vary together wait for a step by the evidence
				continue
			}
			sum, count := squares(k)
			x := math.Log(sum / float64(count))
			if priors != nil {
				x = balance(priors[k], sum, float64(count), x)
			}
			variances[k] = p.References[k].Bounded(math.Exp(x))
		}
	}
}

// balance returns the logarithm x of a prior variance at which sum e^−x/2 − count/2 + ½ slope(x/2) is
// 0, which falls with x; without the last term it is 0 at start, and the term is between −2b and 2.
func balance(prior hyper.Prior, sum, count, start float64) float64 {
	low, high := start-1, start+1
	slope := func(x float64) float64 {
		_, of, _ := prior.At(x / 2)
		return sum*math.Exp(-x) - count + of
	}
	for slope(low) < 0 {
		low -= high - low
	}
	for slope(high) > 0 {
		high += high - low
	}
	return top(low, high, slope)
}

// Reference is the prior variance of a group at which it alone would explain the target. Wide holds
// if all its columns are like the one that varies least, Narrow if all are as large as they are
// together; the two differ only where columns are of different sizes.
type Reference struct{ Wide, Narrow float64 }

// priorRange bounds learned prior variances to e^±12 of their references.
const priorRange = 12

// oddsReference bounds odds of partial correlations.
var oddsReference = Reference{Wide: math.Exp(base.LongestOdds - priorRange), Narrow: math.Exp(priorRange - base.LongestOdds)}

// Bounded returns the prior variance within the range that is tried that is closest to v.
func (r Reference) Bounded(v float64) float64 {
	return math.Max(r.Narrow*math.Exp(-priorRange), math.Min(v, r.Wide*math.Exp(priorRange)))
}

// priorStep bounds the change of the logarithm of a prior variance in one step, since the normal likelihood that stands
// for the rows is theirs only nearby.
const priorStep = 3

// LogBounds returns the bounds of the logarithm of a prior variance for a step from log v.
func (r Reference) LogBounds(logV float64) (lower, upper float64) {
	return math.Max(logV-priorStep, math.Log(r.Bounded(0))), math.Min(logV+priorStep, math.Log(r.Bounded(math.Inf(1))))
}

// columnSums are Σ w φ², Σ w φ and the weight of the rows where φ is not 0.
type columnSums struct{ square, total, present float64 }

func (c *columnSums) add(v, w float64) {
	c.square += w * v * v
	c.total += w * v
	if v != 0 {
		c.present += w
	}
}

// size returns the mean square about the mean where an intercept takes that up. The size of a column
// that is mostly 0 is that of the rows where it is not: a rare level is not a small one.
func (c *columnSums) size(weight float64, centred bool) float64 {
	if c.present < weight/2 {
		return c.square / max(c.present, math.SmallestNonzeroFloat64)
	}
	size := c.square / weight
	if centred {
		size -= c.total / weight * c.total / weight
	}
	return base.Size(c.square/weight, size)
}

// sizes returns the sum of squares of a group's columns in a mean row, and before it, where they are
// of different sizes, what it would be if all were like the one that varies least. A block of
// features with hyper-parameters has columns of one size by construction.
func (p *Problem) sizes(g base.Group, columns []columnSums, weight float64) (fine, all float64) {
	sum, least := 0.0, math.Inf(1)
	for _, c := range columns {
		if c.square == 0 {
			continue
		}
		sum += c.square / weight
		least = math.Min(least, c.size(weight, p.Intercept != nil))
	}
	oneSize := g.Tuned && !p.Prior.ARD
	if finest := least * float64(g.Count); finest*base.MixedRatio < sum && !oneSize {
		return finest, sum
	}
	return sum, sum
}
