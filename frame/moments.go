package frame

import "math"

// moments gathers the statistics of a column in one pass: blocks in order, each
// about its own mean, merged pairwise (Chan, Golub & LeVeque 1983, eq. 2.1), so
// that a large mean does not eat the variance. Sums of squares are kept in units of
// 4^exponent, which is 0 unless they would overflow or vanish.
type moments struct {
	count    int     // observed values
	missing  int     // NaN
	weight   float64 // Σw
	mean     float64
	squares  float64 // Σw (x−mean)², in units of 4^exponent
	exponent int
	min, max float64
	hash     uint64 // of all values in order
}

// add takes the next block; a nil weight means ones. A missing value counts as
// missing and nothing else.
func (m *moments) add(values, weight []float64) {
	sum, total := 0.0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	hash, count := m.hash, 0
	for i, v := range values {
		// FNV-1a with whole words, and a shift so that high bits reach low ones.
		hash = (hash ^ math.Float64bits(v)) * 1099511628211
		hash ^= hash >> 29
		if v != v {
			continue
		}
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		count++
		total += w
		sum += w * v
		low, high = min(low, v), max(high, v)
	}
	m.hash = hash
	m.missing += len(values) - count
	if count == 0 {
		return
	}
	if m.count == 0 {
		m.min, m.max = low, high
	}
	m.min, m.max = min(m.min, low), max(m.max, high)
	m.count += count
	if total == 0 {
		return
	}
	m.measure(max(math.Abs(low), math.Abs(high)))
	unit := math.Ldexp(1, -m.exponent)
	if m.exponent != 0 {
		sum = 0
		for i, v := range values {
			if v == v {
				w := 1.0
				if weight != nil {
					w = weight[i]
				}
				sum += w * (v * unit)
			}
		}
	}
	mean := sum / total // in units of 2^exponent, like all that follows
	squares := 0.0
	for i, v := range values {
		if v != v {
			continue
		}
		d := v*unit - mean
		if weight != nil {
			squares += weight[i] * d * d
		} else {
			squares += d * d
		}
	}
	before := m.mean * unit
	delta := mean - before
	share := total / (m.weight + total)
	m.squares += squares + delta*delta*m.weight*share
	m.mean = (before + delta*share) / unit
	m.weight += total
}

// The largest value of a column may have a binary exponent in this range before
// squares, and their sums, need a unit of their own.
const (
	leastExponent = -400
	mostExponent  = 400
)

// measure widens the unit so that values of this magnitude can be squared.
func (m *moments) measure(magnitude float64) {
	if magnitude == 0 {
		return
	}
	_, e := math.Frexp(magnitude)
	if e >= leastExponent && e <= mostExponent {
		e = 0
	}
	e = max(e, -1000) // 2^1000 still is a number
	// A block of small values does not narrow the unit of large ones, unless all
	// before were 0.
	if m.squares == 0 && m.mean == 0 || e > m.exponent {
		m.squares = math.Ldexp(m.squares, 2*(m.exponent-e))
		m.exponent = e
	}
}

// constant reports whether all observed values are equal.
func (m *moments) constant() bool { return m.min == m.max }

// variance is the mean square about the mean; infinite where no number holds it.
func (m *moments) variance() float64 {
	if m.weight == 0 || m.constant() {
		return 0
	}
	return math.Ldexp(m.squares/m.weight, 2*m.exponent)
}

// centre is the mean, exact for a constant column.
func (m *moments) centre() float64 {
	if m.constant() {
		return m.min
	}
	return m.mean
}

// deviation is the standard deviation, 1 for a constant column. Where it is lost
// to rounding, or every weight is 0, it is half the range.
func (m *moments) deviation() float64 {
	if m.constant() {
		return 1
	}
	if m.weight > 0 {
		if sd := math.Ldexp(math.Sqrt(m.squares/m.weight), m.exponent); sd > 0 {
			return sd
		}
	}
	return max(m.max/2-m.min/2, math.SmallestNonzeroFloat64)
}
