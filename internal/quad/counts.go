package quad

import "math"

const (
	// directCounts is how many counts are added up one by one.
	directCounts = 64
	// countsOrder is the degree of the polynomials that replace more of them.
	countsOrder = 16
	// countsCoarse is how far the polynomial of half the degree may be off, relative to the sum: the full one is off by
	// the square of it or so.
	countsCoarse = 1e-6
	// countsHalvings bounds how often an interval is halved, which single counts end before.
	countsHalvings = 60
)

// Counts returns the sum over the whole numbers from first to below last of a g ≥ 0 that only rises or only falls, and
// from 64 after origin on is smooth in k on the scale of √(k − origin) or of a greater one. Where g is smooth in
// log(k − origin) it takes some hundreds of evaluations, whatever the range is. An interval may be off by tolerance,
// and by what g(k) is uncertain by, noise(g(k)), in each of its counts.
func Counts(g func(k float64) float64, origin, first, last, tolerance float64, noise func(g float64) float64) (sum float64) {
	direct := math.Min(last, math.Max(first, origin+directCounts))
	return eachCount(g, first, direct) + countsBetween(g, origin, direct, last, tolerance, noise, countsHalvings)
}

// eachCount adds up g one by one.
func eachCount(g func(float64) float64, first, last float64) (sum float64) {
	for k := first; k < last; {
		next := max(k+1, math.Nextafter(k, last)) // beyond 2⁵³ numbers are more than 1 apart
		sum += (next - k) * g(k)
		k = next
	}
	return sum
}

// countsBetween is Counts by a polynomial in s = log(k − origin + 1), counted from first, or by halves.
func countsBetween(g func(float64) float64, origin, first, last, tolerance float64, noise func(float64) float64, halvings int) float64 {
	unit := math.Max(1, math.Nextafter(last, math.Inf(1))-last)
	if last-first <= directCounts*unit || halvings == 0 {
		return eachCount(g, first, last)
	}
	ahead := first - origin + 1
	place := func(k float64) float64 { return math.Log1p((k - first) / ahead) }
	top := place(last - unit)
	var at, value [countsOrder + 1]float64 // at whole numbers next to the nodes of Clenshaw and Curtis
	for j := range at {
		at[j] = math.Round(first + ahead*math.Expm1(top*(1-math.Cos(math.Pi*float64(j)/countsOrder))/2))
		if j > 0 {
			at[j] = math.Max(at[j], at[j-1]+unit)
		}
	}
	beyond, largest := last, 0.0
	for j := countsOrder; j >= 0; j-- {
		k := math.Min(at[j], beyond-unit)
		beyond = k
		v := g(k)
		largest = math.Max(largest, v)
		at[j], value[j] = place(k), v*(ahead+(k-first))
	}
	fine, coarse := newBarycentric(at[:], value[:], 1), newBarycentric(at[:], value[:], 2)
	from, to := place(first-0.5), place(last-0.5)
	middle, half := (from+to)/2, (to-from)/2
	sum, rough := 0.0, 0.0
	for _, k := range kronrod {
		weight := k[1] * half
		if k[0] == 0 {
			weight /= 2
		}
		for _, s := range [2]float64{middle - half*k[0], middle + half*k[0]} {
			sum += weight * fine.at(s)
			rough += weight * coarse.at(s)
		}
	}
	if math.IsNaN(sum) { // halves have no number either
		return sum
	}
	if !(math.Abs(sum-rough) <= countsCoarse*math.Abs(sum)+tolerance+noise(largest)*(last-first)) {
		split := math.Floor(first + ahead*math.Expm1(top/2))
		split = math.Min(math.Max(split, first+unit), last-unit)
		return countsBetween(g, origin, first, split, tolerance, noise, halvings-1) +
			countsBetween(g, origin, split, last, tolerance, noise, halvings-1)
	}
	// The sum is the integral between half numbers but for the ends, which Euler and Maclaurin's formula has, here in
	// central differences.
	end := func(k float64) float64 {
		smooth := func(k float64) float64 { return fine.at(place(k)) / (ahead + (k - first)) }
		before, after := smooth(k-1), smooth(k)
		return (before-after)/24 + 17./5760*(smooth(k+1)-3*after+3*before-smooth(k-2))
	}
	return sum + end(last) - end(first)
}

// barycentric is the polynomial through values at distinct nodes (Berrut & Trefethen 2004, equation 4.2).
type barycentric struct {
	nodes, values, weights [countsOrder + 1]float64
	count                  int
}

// newBarycentric takes every stride-th node.
func newBarycentric(nodes, values []float64, stride int) *barycentric {
	b := &barycentric{}
	for j := 0; j < len(nodes); j += stride {
		b.nodes[b.count], b.values[b.count] = nodes[j], values[j]
		b.count++
	}
	unit := 4 / (b.nodes[b.count-1] - b.nodes[0]) // the products are near 1
	for j := range b.count {
		b.weights[j] = 1
		for k := range b.count {
			if k != j {
				b.weights[j] /= (b.nodes[j] - b.nodes[k]) * unit
			}
		}
	}
	return b
}

// at evaluates the polynomial.
func (b *barycentric) at(x float64) float64 {
	above, below := 0.0, 0.0
	for j := range b.count {
		if x == b.nodes[j] {
			return b.values[j]
		}
		w := b.weights[j] / (x - b.nodes[j])
		above += w * b.values[j]
		below += w
	}
	return above / below
}
