package frame

import "math"

// moments gathers the statistics of a column in one pass: blocks in order, each
// about its own mean, merged pairwise (Chan, Golub & LeVeque 1983, eq. 2.1), so
// that a large mean does not eat the variance.
type moments struct {
	count    int     // observed values
	missing  int     // NaN
	weight   float64 // Σw
	mean     float64
	squares  float64 // Σw (x−mean)²
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
	mean := sum / total
	squares := 0.0
	for i, v := range values {
		if v != v {
			continue
		}
		d := v - mean
		if weight != nil {
			squares += weight[i] * d * d
		} else {
			squares += d * d
		}
	}
	delta := mean - m.mean
	share := total / (m.weight + total)
	m.squares += squares + delta*delta*m.weight*share
	m.mean += delta * share
	m.weight += total
}

// constant reports whether all observed values are equal.
func (m *moments) constant() bool { return m.min == m.max }

// variance is the mean square about the mean.
func (m *moments) variance() float64 {
	if m.weight == 0 || m.constant() {
		return 0
	}
	return m.squares / m.weight
}

// centre is the mean, exact for a constant column.
func (m *moments) centre() float64 {
	if m.constant() {
		return m.min
	}
	return m.mean
}

// deviation is the standard deviation, 1 for a constant column. Of values so
// small that their squares vanish it is half the range.
func (m *moments) deviation() float64 {
	if m.constant() {
		return 1
	}
	if sd := math.Sqrt(m.variance()); sd > 0 {
		return sd
	}
	return max((m.max-m.min)/2, math.SmallestNonzeroFloat64)
}
