package credence

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// Quantile returns the smallest y with CDF(y) ≥ p in row i, for p in (0, 1).
func (d *Distribution) Quantile(i int, p float64) float64 {
	levels := [1]float64{p}
	var quantile [1]float64
	d.Quantiles(quantile[:], i, levels[:])
	return quantile[0]
}

// rowCounts is the distribution function of a row at the whole numbers that it has been asked for.
type rowCounts struct {
	*Distribution
	row       int
	table     *rowTable // nil where there is none
	at, value [64]float64
	known     int
}

// cdf is CDF, which several quantiles of counts ask for the same numbers.
func (c *rowCounts) cdf(y float64) float64 {
	for k, at := range c.at[:c.known] {
		if at == y {
			return c.value[k]
		}
	}
	value := c.CDF(c.row, y)
	if c.known < len(c.at) {
		c.at[c.known], c.value[c.known] = y, value
		c.known++
	}
	return value
}

// Quantiles stores in dst the quantiles of row i for every one of the probabilities,
// each in (0, 1).
func (d *Distribution) Quantiles(dst []float64, i int, probabilities []float64) {
	if d.scaledQuantiles(dst, i, probabilities) || d.countQuantiles(dst, i, probabilities) {
		return
	}
	counts := rowCounts{Distribution: d, row: i, table: d.rowTable(i)}
	defer d.release(counts.table)
	// wide intervals are asked for last: between their ends counts are near
	for k, p := range slices.Backward(probabilities) {
		dst[k] = d.quantile(&counts, i, p)
	}
}

// between returns the quantile of counts between two near ones that have been asked for, if there are such. No
// count is below lower.
func (c *rowCounts) between(p, lower float64) (_ float64, ok bool) {
	low, high, below, upTo := lower-1, math.Inf(1), 0.0, 1.0
	for k, v := range c.value[:c.known] {
		if at := c.at[k]; v < p && at > low {
			low, below = at, v
		} else if v >= p && at < high {
			high, upTo = at, v
		}
	}
	if !(high-low <= nearCounts) { // nor where lower is infinite
		return 0, false
	}
	from, to := special.NormalQuantile(below), special.NormalQuantile(upTo)
	share := (special.NormalQuantile(p) - from) / (to - from)
	if math.IsInf(from, 0) || math.IsInf(to, 0) || math.IsNaN(share) {
		share = 0.5
	}
	return quad.Count(c.cdf, p, math.Ceil(low+share*(high-low)), 1, low+1, high), true
}

func (d *Distribution) quantile(counts *rowCounts, i int, p float64) float64 {
	if y, ok := counts.table.quantile(d, i, p); ok {
		return y
	}
	// The likelihood in the middle, at the moments that f has in all, is near the mixture.
	likelihood, m, v := d.parts[len(d.parts)/2].at(i)
	support, ok := likelihood.(interface{ Discrete() bool })
	discrete := ok && support.Discrete()
	lower, upper := math.Inf(-1), math.Inf(1)
	if bounded, ok := likelihood.(interface{ Support() (lower, upper float64) }); ok {
		lower, upper = bounded.Support()
	}
	if discrete && len(d.parts) > 1 {
		if count, ok := counts.between(p, lower); ok {
			return count
		}
	}
	if len(d.parts) > 1 {
		m, v = d.Latent(i)
	}
	guess := likelihood.PredictiveQuantile(p, m, v)
	if len(d.parts) == 1 || math.IsNaN(guess) {
		return guess
	}
	logDensity, _, _ := likelihood.TiltedMoments(guess, m, v)
	scale := special.NormalDensity(special.NormalQuantile(p)) / math.Exp(logDensity)
	start, unit, own, at := guess, 1.0, 0.0, func(s float64) float64 { return s }
	if lower == 0 && guess > 0 { // the logarithm of what is positive is nearer to normal
		start, unit, own, at = 0, guess, 1, func(s float64) float64 { return guess * math.Exp(s) }
	}
	cdf := func(s float64) float64 { return d.CDF(i, at(s)) }
	if discrete {
		if scale > wideCounts {
			if root, ok := secant(cdf, p, start, scale/unit, math.Inf(1), 0.5/unit); ok {
				guess = math.Ceil(at(root))
				if scale > vastCounts {
					return math.Min(math.Max(guess, lower), upper)
				}
			}
		}
		return quad.Count(counts.cdf, p, guess, math.Max(1, math.Abs(guess)*0x1p-50), lower, upper)
	}
	if 0x1p-53*p*scale <= secantRounding*special.NormalDensity(special.NormalQuantile(p))*math.Abs(guess) {
		if root, ok := secant(cdf, p, start, scale/unit, own, 0); ok {
			return at(root)
		}
	}
	low, high := d.bracket(i, p)
	if low == high || math.IsInf(low, 0) || math.IsInf(high, 0) || math.IsNaN(low) || math.IsNaN(high) {
		return high
	}
	return d.search(i, p, low, high, guess)
}

const (
	// secantSteps is how many steps the secant method may take from a guess.
	secantSteps = 8
	// secantError is what it may leave uncorrected in its units: about the product of the last two steps.
	secantError = 1e-7
	// secantRounding is how far rounding may move it, relative to the quantile.
	secantRounding = 1e-11
	// wideCounts is the scale of counts, from which on that method is faster than trying counts one by one.
	wideCounts = 8
	// vastCounts is the scale from which on distribution functions do not tell neighbours apart: that method is as
	// good as it is for continuous numbers.
	vastCounts = 1e12
	// nearCounts is how far apart two counts may be between which counts are tried.
	nearCounts = 64
)

// secant returns the root of Φ⁻¹(cdf(y)) = Φ⁻¹(p), which is a straight line where the mixture is
// normal, by the secant method from y and from dy/dz ≈ scale there, or what is within a step of length
// resolution of it. Its error is in units of the scale, and of |y| where that is less and own is not. It is a root
// only if ok, which is false where the iteration has not settled.
func secant(cdf func(float64) float64, p, y, scale, own, resolution float64) (_ float64, ok bool) {
	z := special.NormalQuantile(p)
	last, before := math.Inf(1), 0.0 // step, and Φ⁻¹(cdf(y)) ahead of it
	for range secantSteps {
		at := special.NormalQuantile(cdf(y))
		if !math.IsInf(last, 1) {
			scale = last / (at - before)
		}
		step := (z - at) * scale
		if !(scale > 0) || math.IsInf(scale, 1) || math.IsInf(step, 0) || math.IsNaN(step) {
			break
		}
		least := math.Min(math.Max(math.Abs(y), own), scale)
		if math.Abs(step) < resolution || math.Abs(step)*math.Max(math.Abs(last), math.Abs(step)) <= secantError*least*least {
			return y + step, true
		}
		last, before = step, at
		y += step
	}
	return y, false
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

const (
	// quantileMargin, relative, is how far beyond the root that it expects search steps, so
	// that the bracket closes from both sides.
	quantileMargin = 1e-13
	// quantileWidth, relative, is the width of a bracket that is a quantile: a step of the
	// margin to either side of the root and as much again for rounding.
	quantileWidth = 4 * quantileMargin
)

// search returns the smallest y with CDF ≥ p in [low, high], to quantileWidth, by the same iteration
// from y within a bracket. Wherever a step leaves the bracket, or three steps have not halved it, the
// bracket is bisected; sixty-four bisections in the order of float64 end with neighbours, so that no
// mixture, however its parts lie, takes more than a few hundred evaluations.
func (d *Distribution) search(i int, p, low, high, y float64) float64 {
	z := special.NormalQuantile(p)
	width, steps, bisections := high-low, 0, 0
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
		if low >= 0 && y > 0 { // a mixture of positive parts is nearer to log-normal
			y *= math.Exp(step / y)
		} else {
			y += step
		}
		if high-low <= width/2 {
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
