package svi

import (
	"math"

	"github.com/credence-ml/credence/internal/blocks"
)

// reference is the prior variance of a group at which it alone would explain the target, if all its
// columns were like the one that varies least, and if all were as large as they are together: less,
// where they are of different sizes, and else the same.
type reference struct{ wide, narrow float64 }

// priorRange bounds learned prior variances to e^±12 of their references.
const priorRange = 12

func (r reference) bounded(v float64) float64 {
	return math.Max(r.narrow*math.Exp(-priorRange), math.Min(v, r.wide*math.Exp(priorRange)))
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

// size is the mean square about the mean where that is taken up by an intercept. That of a column
// which is mostly 0 is of the rows where it is not: a rare level is not a small one.
func (c *columnSums) size(weight float64, centred bool) float64 {
	if c.present < weight/2 {
		return c.square / max(c.present, math.SmallestNonzeroFloat64)
	}
	size := c.square / weight
	if centred {
		size -= c.total / weight * c.total / weight
	}
	return blocks.Size(c.square/weight, size)
}

// sizes returns the sum of squares of a group's columns in a mean row, and before it, where they
// are of different sizes, what it would be if all were like the one that varies least. Features
// with hyper-parameters are of one size by construction.
func (e *Engine) sizes(g group, columns []columnSums, weight float64, centred bool) (fine, all float64) {
	sum, least := 0.0, math.Inf(1)
	for j := g.first; j < g.first+g.count; j++ {
		c := &columns[j]
		if c.square == 0 {
			continue
		}
		sum += c.square / weight
		least = math.Min(least, c.size(weight, centred))
	}
	if finest := least * float64(g.count); finest*blocks.MixedRatio < sum && !g.oneSize {
		return finest, sum
	}
	return sum, sum
}
