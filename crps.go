package credence

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// CRPS returns the continuous ranked probability score of y in row i,
//
//	∫ (P(Y ≤ x) − 1{x ≥ y})² dx = E|Y − y| − ½ E|Y − Y'|,
//
// and of whole numbers and classes the sum over them, which is the ranked probability score (Gneiting & Raftery 2007).
// It is in units of y, least on average for the distribution that y comes from, and |Y − y| for one that is certain.
// With a slope, which is dx/dy, it is that of an ascending function x of a continuous y. It is NaN where it is
// infinite, and for counts of which so little is known that a thousandth of it lies where fewer than 1e-9 are left.
//
// Mixtures of normal distributions and one Student t have closed forms; counts are added up from 0 by the tables of
// [Distribution.Share], and else by parts between which the distribution function is smooth; other distributions are
// integrated. All are within 1e-8 of the score's size, counts whose logarithm is hardly known within 1e-7 and what lies
// beyond the quantile of 1 − 1e-9.
func (d *Distribution) CRPS(i int, y float64, slope func(y float64) float64) float64 {
	family := d.parts[len(d.parts)/2].likelihood
	if support, ok := family.(interface{ Discrete() bool }); ok && support.Discrete() {
		return d.countsCRPS(i, y)
	}
	if slope == nil {
		if score, ok := d.normalCRPS(i, y); ok {
			return score
		}
		slope = func(float64) float64 { return 1 }
	}
	return d.integratedCRPS(i, y, slope)
}

// mostPairs is how many normal parts are taken in pairs; more are integrated.
const mostPairs = 64

// standardScored is the ability of a family whose predictive distributions differ in their places and scales alone.
type standardScored interface {
	scaled
	StudentPredictive() bool
	StandardCRPS(z float64) float64
}

// normalCRPS is CRPS of a mixture of normal distributions (Grimit et al. 2006), or of one Student t; false for others.
func (d *Distribution) normalCRPS(i int, y float64) (score float64, ok bool) {
	var memory [2][mostPairs]float64
	means, scales := memory[0][:0], memory[1][:0]
	for k := range d.parts {
		l, mean, variance := d.parts[k].at(i)
		family, ok := l.(standardScored)
		if !ok || len(d.parts) > mostPairs || len(d.parts) > 1 && family.StudentPredictive() {
			return 0, false
		}
		scale := family.PredictiveScale(variance)
		if len(d.parts) == 1 {
			return scale * family.StandardCRPS((y-mean)/scale), true
		}
		means, scales = append(means, mean), append(scales, scale)
	}
	for j, mean := range means {
		share := d.parts[j].share / d.total
		apart := -share * scales[j] / math.Sqrt(math.Pi) // with itself, ½ E|Y − Y'|
		for k, other := range means[:j] {
			apart -= d.parts[k].share / d.total * normalDistance(mean-other, math.Hypot(scales[j], scales[k]))
		}
		score += share * (normalDistance(y-mean, scales[j]) + apart)
	}
	return score, true
}

// normalDistance is the mean of the absolute value of a normal variable.
func normalDistance(mean, sd float64) float64 {
	z := mean / sd
	return 2*sd*special.NormalDensity(z) + mean*(1-2*special.NormalCDF(-z))
}

// integratedCRPS is CRPS by integration over t, x being centre + width·sinh(t), or exp(t) where y is positive, between
// quantiles and on intervals beyond them until nothing is left, which power tails are far out for.
func (d *Distribution) integratedCRPS(i int, y float64, slope func(y float64) float64) float64 {
	var memory [len(knots) + 2*mostTails + 1]float64
	breaks := memory[:len(knots)]
	d.Quantiles(breaks, i, knots[:])
	centre, width := breaks[len(knots)/2], (breaks[len(knots)-2]-breaks[1])/2
	to := func(x float64) float64 { return math.Asinh((x - centre) / width) }
	from := func(t float64) (x, speed float64) { return centre + width*math.Sinh(t), width * math.Cosh(t) }
	if bounded, ok := d.parts[0].likelihood.(interface{ Support() (lower, upper float64) }); ok {
		if lower, _ := bounded.Support(); lower == 0 {
			to, from = math.Log, func(t float64) (x, speed float64) { x = math.Exp(t); return x, x }
		}
	}
	at, least := to(y), 1e-10*width*slope(centre)
	if !(width > 0) || math.IsInf(width, 1) || math.IsNaN(at) {
		return math.NaN()
	}
	low, high := breaks[0], breaks[len(knots)-1]
	table := d.rowTable(i)
	defer d.release(table)
	tabled := !math.IsNaN(table.at(low)) && !math.IsNaN(table.at(high))
	for k, x := range breaks {
		breaks[k] = to(x)
	}
	square := func(t float64) float64 {
		x, speed := from(t)
		p := math.NaN()
		if tabled {
			p = table.at(x)
			// Tables that reach 1e-4 end where a tail squared is nothing beside the rest, and would be dear to compute.
			if math.IsNaN(p) && (x < low && t < at || x > high && t >= at) {
				return 0
			}
		}
		if math.IsNaN(p) {
			p = d.CDF(i, x)
		}
		if t >= at {
			p = 1 - p
		}
		return p * p * slope(x) * speed
	}
	for _, side := range [2]float64{-1, 1} {
		t := side * math.Max(side*breaks[0], side*breaks[len(knots)-1])
		step := side / 2
		for k := 0; side*(t-at) < 0 || square(t) > least; k++ {
			if k == mostTails {
				return math.NaN()
			}
			t += step
			step *= 1.25
			breaks = append(breaks, t)
		}
	}
	breaks = append(breaks, at)
	slices.Sort(breaks)
	score, _, _ := quad.Adaptive(func(t float64) (float64, float64, float64) { return square(t), 0, 0 }, breaks, 1e-6)
	return score
}

// knots are probabilities between whose quantiles a distribution function is smooth, and mostTails is how many
// intervals there are beyond them on one side, which reach e⁶⁰ widths.
var knots = [...]float64{1e-4, 0.16, 0.5, 0.84, 1 - 1e-4}

const mostTails = 16

// countsCRPS is CRPS of whole numbers, up to the quantile from where on distribution functions are rounding. It is NaN
// where that leaves much out.
func (d *Distribution) countsCRPS(i int, y float64) float64 {
	if score, ok := d.recursiveCRPS(i, y); ok {
		return score
	}
	family := d.parts[0].likelihood
	if d.parts[0].perRow != nil {
		family = d.parts[0].perRow[i]
	}
	first, last := family.(interface{ Support() (lower, upper float64) }).Support()
	var ends [3]float64
	d.Quantiles(ends[:], i, []float64{0.1, 0.9, 1 - cdfError})
	if math.IsInf(first, -1) {
		first = d.Quantile(i, 1e-7)
	}
	origin, most := first, last
	if math.IsInf(last, 1) {
		last, most = ends[1]+1, ends[2]
	}
	first, last = math.Min(first, y), math.Max(last, y)
	above := func(k float64) float64 { p := 1 - d.CDF(i, k); return p * p }
	rises := func(k float64) bool { return above(k)*k > above(k/2)*(k/2) }
	if !(last-first <= 1<<53) || math.IsInf(most, 1) || most > last && rises(most) {
		return math.NaN()
	}
	tolerance := countsError * math.Max(1, ends[1]-ends[0])
	// What a distribution function is off by is no reason to take smaller steps: a tail of 1e14 counts would come down
	// to single ones.
	noise := func(square float64) float64 { return 2 * cdfNoise * math.Sqrt(square) }
	sum := func(g func(float64) float64, from, to float64) float64 {
		return quad.Counts(g, math.Min(origin, from), from, to, tolerance, noise)
	}
	score := sum(func(k float64) float64 { p := d.CDF(i, k); return p * p }, first, y) + sum(above, y, last)
	for last < most {
		if above(last)*last <= leftCounts*score {
			return score
		}
		next := math.Min(math.Floor(last+tailGrowth*(last-origin+1)), most)
		score += sum(above, last, next)
		last = next
	}
	if above(most)*most > unknownCounts*score {
		return math.NaN()
	}
	return score
}

// cdfError is how far off distribution functions may be: beyond where so little is left they are nothing but rounding.
// Those of counts, which no table has, differ by cdfNoise from what is smooth.
const cdfError, cdfNoise = 1e-9, 1e-11

// leftCounts is what counts may add to a score, as a part of it, that are not looked at, and tailGrowth how much
// further each part of the tail reaches than all before; unknownCounts is what may be left out since it is not known.
const leftCounts, tailGrowth, unknownCounts = 1e-8, 255, 1e-3

// countsError is the error of a sum by parts in each part, relative to where 80 % of the counts lie.
const countsError = 1e-10

// mostRecursive is the largest count up to which all are added up for a score.
const mostRecursive = 1 << 15

// recursiveCRPS is CRPS of counts up to some thousands, whose probabilities are added up from 0; false for other rows.
func (d *Distribution) recursiveCRPS(i int, y float64) (score float64, ok bool) {
	ok = d.eachCount(i, mostRecursive, func(most int, next func(count float64) float64) bool {
		score = 0
		upTo, k := 0.0, 0.0
		for ; k <= float64(most); k++ {
			upTo += next(k)
			rest := upTo
			if k >= y {
				rest = 1 - upTo
			}
			score += rest * rest
			if k >= y && rest*rest*(k+1) <= leftCounts*score {
				return true
			}
		}
		return false
	})
	return score, ok
}
