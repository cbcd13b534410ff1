package frame

import "math"

// moments gathers the statistics of a column in one pass: blocks in order, each
// about its own mean, merged pairwise (Chan, Golub & LeVeque 1983, eq. 2.1), so
// that a large mean does not eat the variance. Sums of squares are kept in units of
// 4^Exponent, which is 0 unless they would overflow or vanish.
type moments struct {
	Count    int     `json:"count,omitempty"`   // observed values
	Missing  int     `json:"missing,omitempty"` // NaN
	Weight   float64 `json:"weight,omitempty"`  // Σw
	Mean     float64 `json:"mean,omitempty"`
	Squares  float64 `json:"squares,omitempty"` // Σw (x−mean)², in units of 4^Exponent
	Exponent int     `json:"exponent,omitempty"`
	Min      float64 `json:"min,omitempty"`
	Max      float64 `json:"max,omitempty"`
	// Low and High are Min and Max of values whose weight is not 0, where Weight is not.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Hash is a polynomial in hashBase whose coefficients are hashes of the values in order, so that
	// runs of rows merge: equal columns have equal hashes.
	Hash uint64 `json:"hash,omitempty"`
}

// hashBase is an odd 64-bit number, the multiplier of Knuth's MMIX generator.
const hashBase = 6364136223846793005

// hashed is the hash of one value of a column: bits that are close make hashes that are not.
func hashed(bits uint64) uint64 {
	bits = (bits ^ bits>>32) * 0x9e3779b97f4a7c15
	return bits ^ bits>>29
}

// add takes the next block; a nil weight means ones. A missing value counts as
// missing and nothing else.
func (m *moments) add(values, weight []float64) {
	sum, total, count, hash := 0.0, 0.0, 0, uint64(0)
	low, high := math.Inf(1), math.Inf(-1)
	least, most := low, high
	for i, v := range values {
		hash = hash*hashBase + hashed(math.Float64bits(v))
		if v != v {
			continue
		}
		count++
		if v <= low { // and only then, for min has NaN and signs of zero to see to
			low = min(low, v)
		}
		if v >= high {
			high = max(high, v)
		}
		if weight == nil {
			sum += v
			continue
		}
		w := weight[i]
		total += w
		sum += w * v
		if w > 0 {
			least, most = min(least, v), max(most, v)
		}
	}
	if weight == nil {
		total, least, most = float64(count), low, high
	}
	block := moments{Count: count, Missing: len(values) - count, Weight: total, Min: low, Max: high, Hash: hash}
	if total > 0 {
		block.Low, block.High = least, most
		block.Exponent = exponent(max(math.Abs(low), math.Abs(high)))
		if m.Squares != 0 || m.Mean != 0 { // the block is measured in the larger unit
			block.Exponent = max(block.Exponent, m.Exponent)
		}
		block.measure(values, weight, sum)
	}
	m.merge(&block)
}

// measure sets the mean of a block and the squares about it, in units of its exponent. sum is Σwx.
func (m *moments) measure(values, weight []float64, sum float64) {
	unit := math.Ldexp(1, -m.Exponent)
	if m.Exponent != 0 {
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
	mean, squares := sum/m.Weight, 0.0 // in units of 2^Exponent, like all that follows
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
	m.Mean, m.Squares = mean/unit, squares
}

// merge adds the statistics of the rows behind.
func (m *moments) merge(later *moments) {
	m.Hash = m.Hash*power(hashBase, later.Count+later.Missing) + later.Hash
	m.Missing += later.Missing
	if later.Count == 0 {
		return
	}
	if m.Count == 0 {
		m.Min, m.Max = later.Min, later.Max
	}
	m.Min, m.Max = min(m.Min, later.Min), max(m.Max, later.Max)
	m.Count += later.Count
	if later.Weight == 0 {
		return
	}
	if m.Weight == 0 {
		m.Low, m.High = later.Low, later.High
	}
	m.Low, m.High = min(m.Low, later.Low), max(m.High, later.High)
	// Small values do not narrow the unit of large ones, unless all before were 0.
	e := max(m.Exponent, later.Exponent)
	if m.Squares == 0 && m.Mean == 0 {
		e = later.Exponent
	} else if later.Squares == 0 && later.Mean == 0 {
		e = m.Exponent
	}
	m.Squares = math.Ldexp(m.Squares, 2*(m.Exponent-e))
	squares := math.Ldexp(later.Squares, 2*(later.Exponent-e))
	m.Exponent = e
	unit := math.Ldexp(1, -e)
	before := m.Mean * unit
	delta := later.Mean*unit - before
	share := later.Weight / (m.Weight + later.Weight)
	m.Squares += squares + delta*delta*m.Weight*share
	m.Mean = (before + delta*share) / unit
	m.Weight += later.Weight
}

// power is base to the n-th, modulo 2⁶⁴.
func power(base uint64, n int) uint64 {
	result := uint64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result *= base
		}
		base *= base
	}
	return result
}

// The largest value of a column may have a binary exponent in this range before
// squares, and their sums, need a unit of their own.
const (
	leastExponent = -400
	mostExponent  = 400
)

// exponent is that of the unit in which values of this magnitude can be squared.
func exponent(magnitude float64) int {
	if magnitude == 0 {
		return 0
	}
	_, e := math.Frexp(magnitude)
	if e >= leastExponent && e <= mostExponent {
		e = 0
	}
	return max(e, -1000) // 2^1000 still is a number
}

// constant reports whether all observed values are equal.
func (m *moments) constant() bool { return m.Min == m.Max }

// variance is the mean square about the mean; infinite where no number holds it.
func (m *moments) variance() float64 {
	if m.Weight == 0 || m.constant() {
		return 0
	}
	return math.Ldexp(m.Squares/m.Weight, 2*m.Exponent)
}

// centre is the mean, exact for a constant column.
func (m *moments) centre() float64 {
	if m.constant() {
		return m.Min
	}
	return m.Mean
}

// deviation is the standard deviation, 1 for a constant column. Where it is lost
// to rounding, or every weight is 0, it is half the range.
func (m *moments) deviation() float64 {
	if m.constant() {
		return 1
	}
	if m.Weight > 0 {
		if sd := math.Ldexp(math.Sqrt(m.Squares/m.Weight), m.Exponent); sd > 0 {
			return sd
		}
	}
	return max(m.Max/2-m.Min/2, math.SmallestNonzeroFloat64)
}
