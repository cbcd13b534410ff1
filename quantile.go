package credence

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
)

// Quantile returns the smallest y with CDF(y) ≥ p in row i, for p in (0, 1).
func (d *Distribution) Quantile(i int, p float64) float64 {
	levels := [1]float64{p}
	var quantile [1]float64
	d.Quantiles(quantile[:], i, levels[:])
	return quantile[0]
}

// Quantiles stores in dst the quantiles of row i for every one of the probabilities,
// each in (0, 1). It needs the moments of the row once for all of them.
func (d *Distribution) Quantiles(dst []float64, i int, probabilities []float64) {
	support, ok := d.parts[0].likelihood.(interface{ Discrete() bool })
	discrete := ok && support.Discrete()
	mean, sd := math.NaN(), math.NaN() // of the normal with the mixture's moments, when it is needed
	for k, p := range probabilities {
		low, high := d.bracket(i, p)
		switch {
		case low == high || math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low) || math.IsNaN(high):
			dst[k] = high
		case discrete:
			dst[k] = d.searchWhole(i, p, low, high)
		default:
			if mean != mean {
				var variance float64
				mean, variance = d.Moments(i)
				sd = math.Sqrt(variance)
			}
			dst[k] = d.search(i, p, low, high, mean, sd)
		}
	}
}

// bracket returns the least and the largest quantile of the parts, between which that
// of the mixture lies.
func (d *Distribution) bracket(i int, p float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for k := range d.parts {
		l, m, v := d.parts[k].at(i)
		q := l.PredictiveQuantile(p, m, v)
		low, high = math.Min(low, q), math.Max(high, q)
	}
	return low, high
}

// searchWhole returns the smallest whole number with CDF ≥ p, by bisection.
func (d *Distribution) searchWhole(i int, p, low, high float64) float64 {
	for high-low > 1 {
		middle := math.Floor(low + (high-low)/2)
		if middle <= low || middle >= high { // beyond 2⁵³ neighbours are further apart than 1
			break
		}
		if d.CDF(i, middle) >= p {
			high = middle
		} else {
			low = middle
		}
	}
	if d.CDF(i, low) >= p {
		return low
	}
	return high
}

const (
	// quantileMargin, relative, is how far beyond the root that it expects search steps, so
	// that the bracket closes from both sides.
	quantileMargin = 1e-13
	// quantileWidth, relative, is the width of a bracket that is a quantile: a step of the
	// margin to either side of the root and as much again for rounding.
	quantileWidth = 4 * quantileMargin
)

// search returns the smallest y with CDF ≥ p in [low, high], to quantileWidth, by Newton's
// iteration on Φ⁻¹(CDF(y)) = Φ⁻¹(p), which is a straight line where the mixture is normal. It
// begins at the quantile of the normal with the mixture's mean and standard deviation. Wherever a
// step leaves the bracket, or three steps have not halved it, the bracket is bisected; sixty-four
// bisections in the order of float64 end with neighbours, so that no mixture, however its parts
// lie, takes more than a few hundred evaluations.
func (d *Distribution) search(i int, p, low, high, mean, sd float64) float64 {
	z := special.NormalQuantile(p)
	y, width, steps, bisections := mean+sd*z, high-low, 0, 0
	for {
		if !(low < y && y < high) || steps >= 3 {
			if y = low + (high-low)/2; bisections > 60 || !(low < y && y < high) {
				y = between(low, high)
			}
			if !(low < y && y < high) {
				return high // the two are neighbours
			}
			bisections++
		}
		c := d.CDF(i, y)
		at := special.NormalQuantile(c)
		// The step to the root is infinite or NaN where the density or the distribution function vanishes.
		step := (z - at) * special.NormalDensity(at) / math.Exp(d.LogDensity(i, y))
		margin := quantileMargin * math.Abs(y)
		if c >= p {
			high, step = y, step-margin
		} else {
			low, step = y, step+margin
		}
		if high-low <= quantileWidth*math.Abs(high) {
			return high
		}
		if y += step; high-low <= width/2 {
			width, steps = high-low, 0
		} else {
			steps++
		}
	}
}

// between returns the float64 that stands halfway from low to high in the order of all
// float64, whatever their magnitudes.
func between(low, high float64) float64 {
	rank := func(v float64) int64 {
		if b := int64(math.Float64bits(v)); b >= 0 {
			return b
		} else {
			return math.MinInt64 - b
		}
	}
	a, b := rank(low), rank(high)
	middle := a/2 + b/2 + (a%2+b%2)/2
	if middle >= 0 {
		return math.Float64frombits(uint64(middle))
	}
	return math.Float64frombits(uint64(math.MinInt64 - middle))
}
