package metric

import (
	"fmt"
	"math"
)

// A Score is a result that may be undefined (NaN) or infinite. It is then
// absent in JSON: its fields are tagged omitzero.
type Score float64

// Defined reports whether s is a finite number.
func (s Score) Defined() bool { return !math.IsNaN(float64(s)) && !math.IsInf(float64(s), 0) }

// IsZero makes encoding/json leave out what it cannot write; the number 0 stays.
func (s Score) IsZero() bool { return !s.Defined() }

// A sum adds with the rounding errors carried along (Neumaier 1974), as if in
// twice the precision.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	t := s.high + x
	if math.Abs(s.high) >= math.Abs(x) {
		s.low += (s.high - t) + x
	} else {
		s.low += (x - t) + s.high
	}
	s.high = t
}

func (s *sum) value() float64 {
	if math.IsInf(s.high, 0) {
		return s.high // low is NaN, from Inf - Inf
	}
	return s.high + s.low
}

// moments holds the weight, mean and sum of squared deviations of a stream.
type moments struct{ weight, mean, squares float64 }

// add is West (1979), which stays exact for a constant stream: r2 relies on it.
func (m *moments) add(x, weight float64) {
	if m.weight == 0 { // also keeps Inf·0 of a huge first value out of squares
		*m = moments{weight: weight, mean: x}
		return
	}
	total := m.weight + weight
	delta := x - m.mean
	fraction := weight / total
	m.mean += delta * fraction
	m.squares += delta * delta * m.weight * fraction
	m.weight = total
}

// A guard counts rows and keeps the first thing that was wrong with one.
type guard struct {
	rows int64
	err  error
}

// row starts a row and reports whether it is to be used.
func (g *guard) row(weight float64) bool {
	if g.err != nil {
		return false
	}
	g.rows++
	if !(weight >= 0) || math.IsInf(weight, 0) {
		g.fail("weight is %g: weights must be finite and not negative", weight)
		return false
	}
	return true
}

// finite refuses NaN and infinities.
func (g *guard) finite(what string, x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		g.fail("%s is %g: it must be finite", what, x)
		return false
	}
	return true
}

func (g *guard) fail(format string, args ...any) {
	g.err = fmt.Errorf("metric: row %d: %s", g.rows, fmt.Sprintf(format, args...))
}
