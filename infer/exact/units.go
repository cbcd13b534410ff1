package exact

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
)

// keepBytes is how much of the rows stays in memory where they are read again.
const keepBytes = 32 << 20

// Units are the units in which an engine computes: y' = (y − offset − centre)/scale.
// The shift is taken up by the prior mean of the intercept, so the model is the
// same, but sums of squares do not drown in a large mean. It is 0 without an
// intercept. The scale is a power of two, which costs no digits.
type Units struct {
	Centre float64 `json:"centre"`
	Scale  float64 `json:"scale"`
}

// unitRows are the rows of a fit, or an evenly spread part of them, whose targets are taken in units.
type unitRows struct {
	*problem.Rows
	units Units
}

// openRows prepares the reading of data, or of limit evenly spread rows of it
// if that is fewer. An intercept takes up the centre of the target. With repeat,
// rows that fit are kept in memory, and a part of them always is.
func (e *Engine) openRows(ctx context.Context, data credence.Data, limit int, repeat bool) (*unitRows, error) {
	all, err := problem.Open("exact", e.model, data, problem.AllRoles)
	if err != nil {
		return nil, err
	}
	r := &unitRows{Rows: all}
	if limit > 0 && limit < all.Count() {
		r.Rows = all.Sample(limit, 1)
	}
	budget := 0
	switch {
	case r.Sampled():
		budget = math.MaxInt
	case repeat:
		budget = keepBytes
	}
	if err := r.Keep(ctx, budget); err != nil {
		return nil, err
	}
	first, err := r.Block(ctx, 0)
	if err != nil {
		return nil, err
	}
	r.units = unitsOf(first, e.intercept)
	return r, nil
}

// unitsOf chooses the units from the first block: any order of magnitude does.
func unitsOf(first *credence.Batch, shift bool) Units {
	low, high, mean := math.Inf(1), math.Inf(-1), 0.0
	for i := range first.Target {
		y := residualTarget(first, i)
		low, high = math.Min(low, y), math.Max(high, y)
		mean += (y - mean) / float64(i+1)
	}
	centre := 0.0
	if shift {
		centre = math.Max(low, math.Min(high, mean)) // exactly y where y is constant
	}
	largest := math.Max(math.Abs(high-centre), math.Abs(low-centre))
	if largest == 0 {
		largest = math.Abs(centre)
	}
	return Units{Centre: centre, Scale: powerOfTwo(largest)}
}

// powerOfTwo returns the least power of two above x, and 1 for zero.
func powerOfTwo(x float64) float64 {
	if x == 0 {
		return 1
	}
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, max(-1020, min(exponent, 1020)))
}

// residualTarget is what Φw has to explain in row i.
func residualTarget(b *credence.Batch, i int) float64 { return b.Target[i] - b.OffsetOf(i) }

// targets returns y' of a block, in the memory of dst where that suffices.
func (u *Units) targets(dst []float64, b *credence.Batch) []float64 {
	dst = dst[:0]
	for i := range b.Target {
		dst = append(dst, (residualTarget(b, i)-u.Centre)/u.Scale)
	}
	return dst
}

// summary holds the sums over rows that involve no features, in units.
type summary struct {
	units        Units
	weight       float64 // Σw
	precise      float64 // Σwp, p the precision of a row
	logPrecision float64 // ½ Σw log p
	sum, square  float64 // Σwpy', Σwpy'²
	targetSum    float64 // Σwt, t the target before the offset is taken off
	targetSquare float64
}

// add adds a block with its y'.
func (s *summary) add(b *credence.Batch, y []float64) {
	for i, v := range y {
		w, p := b.WeightOf(i), 1.0
		if b.Precision != nil {
			p = b.Precision[i]
			s.logPrecision += w * math.Log(p) / 2
		}
		s.weight += w
		s.precise += w * p
		s.sum += w * p * v
		s.square += w * p * v * v
		t := v
		if b.Offset != nil {
			t = (b.Target[i] - s.units.Centre) / s.units.Scale
		}
		s.targetSum += w * t
		s.targetSquare += w * t * t
	}
}

// grow widens the scale for targets whose squares would overflow and returns the old scale by the new one.
func (s *summary) grow(b *credence.Batch) float64 {
	largest := 0.0
	for i := range b.Target {
		largest = math.Max(largest, math.Abs(residualTarget(b, i)-s.units.Centre))
	}
	if largest/s.units.Scale < 1e100 {
		return 1
	}
	return s.widen(powerOfTwo(largest))
}

// widen changes to a scale that is at least as wide and returns the old one by the new one.
func (s *summary) widen(scale float64) float64 {
	factor := s.units.Scale / scale
	s.units.Scale = scale
	s.sum *= factor
	s.square *= factor * factor
	s.targetSum *= factor
	s.targetSquare *= factor * factor
	return factor
}

// plus adds the sums over other rows in the same units.
func (s *summary) plus(o *summary) {
	s.weight += o.weight
	s.precise += o.precise
	s.logPrecision += o.logPrecision
	s.sum += o.sum
	s.square += o.square
	s.targetSum += o.targetSum
	s.targetSquare += o.targetSquare
}

// variance is the variance of y', in which the squares' own rounding is nothing.
func (s *summary) variance() float64 {
	mean := s.sum / s.precise
	v := s.square/s.precise - mean*mean
	if v <= 1e-15*s.square/s.precise {
		return 0
	}
	return v
}

// target returns mean and variance of the targets on their own scale.
func (s *summary) target() (mean, variance float64) {
	mean, u := s.targetSum/s.weight, s.units
	variance = math.Max(0, s.targetSquare/s.weight-mean*mean)
	return u.Centre + u.Scale*mean, math.Min(variance*u.Scale*u.Scale, math.MaxFloat64)
}
