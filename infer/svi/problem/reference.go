package problem

import (
	"math"

	base "github.com/credence-ml/credence/infer/problem"
)

// Reference is the prior variance of a group at which it alone would explain the target. Wide holds
// if all its columns are like the one that varies least, Narrow if all are as large as they are
// together; the two differ only where columns are of different sizes.
type Reference struct{ Wide, Narrow float64 }

// priorRange bounds learned prior variances to e^±12 of their references.
const priorRange = 12

// Bounded returns the prior variance within the range that is tried that is closest to v.
func (r Reference) Bounded(v float64) float64 {
	return math.Max(r.Narrow*math.Exp(-priorRange), math.Min(v, r.Wide*math.Exp(priorRange)))
}

// LogBounds returns the bounds of the logarithm of a prior variance for a step of at most step from
// log v.
func (r Reference) LogBounds(logV, step float64) (lower, upper float64) {
	return math.Max(logV-step, math.Log(r.Bounded(0))), math.Min(logV+step, math.Log(r.Bounded(math.Inf(1))))
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
