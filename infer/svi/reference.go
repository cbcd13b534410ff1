package svi

import (
	"math"

	"github.com/credence-ml/credence"
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

// mixedRatio is that of the mean square of a block's columns to the variance of the one that varies
// least from which on they are of different sizes. A column that varies by less than constantShare
// of its mean square is a constant, with the rounding of sums.
const (
	mixedRatio    = 100
	constantShare = 1e-9
)

// sizes returns the sum of squares of a group's columns in a mean row, and before it, where they
// are of different sizes, what it would be if all were like the one that varies least. Features
// with hyper-parameters are of one size by construction.
func (e *Engine) sizes(g group, squares, totals []float64, weight float64, centred bool) (fine, all float64) {
	sum, least := 0.0, math.Inf(1)
	for j := g.first; j < g.first+g.count; j++ {
		square, variance := squares[j]/weight, squares[j]/weight
		sum += square
		if centred {
			variance -= totals[j] / weight * totals[j] / weight
		}
		if variance > constantShare*square {
			least = math.Min(least, variance)
		}
	}
	if finest := least * float64(g.count); finest*mixedRatio < sum && !credence.OwnsHyper(e.model.Features, g.name) {
		return finest, sum
	}
	return sum, sum
}
