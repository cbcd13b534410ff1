package exact

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
)

// TestSummary: sums over blocks of rows that involve no features, in units that grow with what comes, are those of all
// rows on their own scale: weights, precisions and their logarithms, the mean and variance of the targets by their
// weights, offsets and all, and the variance of what is left of them, by weights times precisions; so are two sums
// added that were brought to the wider units.
func TestSummary(t *testing.T) {
	block := func(size float64, roles bool) *credence.Batch {
		b := &credence.Batch{Target: []float64{3 * size, -size, 2 * size, 0.5 * size}}
		if roles {
			b.Offset, b.Weight, b.Precision = []float64{size, 2, 0, -size}, []float64{1, 0, 2.5, 1}, []float64{1, 3, 0.5, 4}
		}
		return b
	}
	for _, roles := range []bool{false, true} {
		for _, shift := range []bool{false, true} {
			first, second := block(3, roles), block(1e110, roles)
			for i := range first.Target {
				first.Target[i] += 100
			}
			of := unitsOf(first, shift)
			if centre := of.Centre; !shift && centre != 0 || shift && (centre < 94 || centre > 109) {
				t.Errorf("roles %v: the centre is %v", roles, centre)
			}
			s := &summary{units: of}
			s.add(first, s.units.targets(nil, first))
			other := &summary{units: s.units}
			factor := other.grow(second)
			if s.grow(first) != 1 || !(factor < 1e-100) || other.units.Scale*factor != s.units.Scale {
				t.Errorf("the scale grows from %v to %v, by %v", s.units.Scale, other.units.Scale, factor)
			}
			other.add(second, other.units.targets(nil, second))
			alone := [2]float64{}
			alone[0], alone[1] = s.target()
			s.widen(other.units.Scale)
			s.plus(other)
			for k, got := range [][3]float64{{alone[0], alone[1], 0}, {0, 0, math.Sqrt(s.variance()) * s.units.Scale}} {
				blocks := []*credence.Batch{first, second}[:k+1]
				mean, square, weight := 0.0, 0.0, 0.0
				rest, squares, precise, logs := 0.0, 0.0, 0.0, 0.0
				for _, b := range blocks {
					for i, y := range b.Target {
						w, p := b.WeightOf(i), b.PrecisionOf(i)
						weight, precise, logs = weight+w, precise+w*p, logs+w*math.Log(p)/2
						mean, rest = mean+w*y, rest+w*p*(y-b.OffsetOf(i))
					}
				}
				mean, rest = mean/weight, rest/precise
				for _, b := range blocks {
					for i, y := range b.Target {
						gap := y - b.OffsetOf(i) - rest
						square, squares = square+b.WeightOf(i)*(y-mean)*(y-mean)/weight, squares+b.WeightOf(i)*b.PrecisionOf(i)*gap*gap/precise
					}
				}
				if k == 1 {
					got[0], got[1] = s.target()
				}
				near := func(what string, got, want float64) {
					t.Helper()
					if !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
						t.Errorf("roles %v, shift %v, %d blocks: %s %v, want %v", roles, shift, k+1, what, got, want)
					}
				}
				near("mean", got[0], mean)
				near("variance", got[1], square)
				if k == 1 {
					near("weight", s.weight, weight)
					near("weight times precision", s.precise, precise)
					near("logarithm of precisions", s.logPrecision, logs)
					near("deviation", got[2], math.Sqrt(squares))
				}
			}
		}
	}
}
