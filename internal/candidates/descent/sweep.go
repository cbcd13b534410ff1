package descent

import (
	"cmp"
	"math"

	"github.com/credence-ml/credence/internal/special"
)

// leastCurvature is that of a class whose probability is next to 0 or 1.
const leastCurvature = 1e-5

// reweigh makes the quadratic model of the loss at the present weights: its residual, the curvature of
// rows and that of columns.
func (s *state) reweigh() {
	copy(s.model, s.residual)
	s.drift = 0
	if s.Classes || s.Out != nil {
		if s.omega == nil {
			s.omega = make([]float64, s.Rows)
		}
		for i, u := range s.Unit() {
			s.omega[i] = 1
			switch {
			case s.out(i):
				s.omega[i] = 0
			case s.Classes && u > 0:
				f := s.latent[i]/u + s.OffsetOf(i)
				s.omega[i] = math.Max(special.Sigmoid(f)*special.Sigmoid(-f), leastCurvature)
			}
		}
	}
	s.mass, s.sum = 0, 0
	for i, u := range s.Unit() {
		s.squares[i] = s.curvature(i) * u
		s.mass += s.squares[i] * u
		s.sum += u * s.model[i]
	}
	if s.Sparse() {
		if s.unit == nil {
			s.unit = make([]float64, s.Count())
		}
		for _, j := range s.working {
			if s.stale(j) {
				s.unit[j] = s.StoredDot(j, s.squares)
			}
		}
	}
	for i := range s.squares {
		s.squares[i] = s.curvature(i)
	}
	for _, j := range s.working {
		if !s.stale(j) {
			continue
		}
		s.bend[j] = s.StoredSquare(j, s.squares)
		if mean := s.Mean(j); mean != 0 {
			s.bend[j] += mean * (mean*s.mass - 2*s.unit[j])
		}
		s.entry[j] = cmp.Or(s.entry[j], s.bend[j])
	}
}

// stale says whether the curvature of a column changes with the weights, or is not known.
func (s *state) stale(j int) bool { return s.Classes || s.bend[j] == 0 }

func (s *state) curvature(i int) float64 {
	if s.omega == nil {
		return 1
	}
	return s.omega[i]
}

// descend minimises the quadratic model under the penalty, to steps that lower it by less than enough,
// and returns the largest lowering of its first sweep.
func (s *state) descend(lambda, enough float64) (first float64) {
	var active []int
	for whole := 0; whole < mostSweeps; whole++ {
		moved := s.sweep(s.working, lambda)
		if whole == 0 {
			first = moved
		}
		if !(moved > enough) { // true for NaN, from which no sweep leads back
			return first
		}
		active = active[:0]
		for _, j := range s.working {
			if s.Weights[j] != 0 {
				active = append(active, j)
			}
		}
		for range mostSweeps {
			if s.sweep(active, lambda) <= enough {
				break
			}
		}
	}
	return first
}

// sweep moves each of the columns to its minimum, and returns the largest lowering of the quadratic.
func (s *state) sweep(columns []int, lambda float64) (moved float64) {
	s.Sweeps++
	absolute, square := lambda*s.Alpha*s.total, lambda*(1-s.Alpha)*s.total
	for _, j := range columns {
		h := s.bend[j]
		if !(h > 0) {
			continue
		}
		slope := s.StoredDot(j, s.model)
		mean := s.Mean(j)
		if s.unit != nil {
			slope += s.drift*s.unit[j] - mean*s.sum
		}
		b := s.Weights[j]
		next := b + slope/h
		if j != s.Intercept {
			next = soft(slope+h*b, absolute) / (h + square)
			if s.Cap > 0 {
				next = capped(b+slope/h, absolute/h, s.end(j, lambda))
			}
		}
		delta := next - b
		if delta == 0 {
			continue
		}
		s.Weights[j] = next
		s.AddStored(s.model, j, -delta, s.omega)
		if s.unit != nil {
			s.drift += delta * mean
			s.sum -= delta * (s.unit[j] - mean*s.mass)
		}
		moved = math.Max(moved, h*delta*delta)
	}
	return moved
}

// rounding is the share of the threshold up to which a weight beyond it is an error of sums: of two columns that say
// the same, the one that comes second stands at the threshold.
const rounding = 1e-12

// soft takes the threshold off the absolute value, down to 0.
func soft(x, threshold float64) float64 {
	rest := math.Abs(x) - threshold
	if rest <= rounding*threshold {
		rest = 0
	}
	return math.Copysign(rest, x)
}

// capped minimises ½(w−u)² + threshold·min(|w|, end) over w.
func capped(u, threshold, end float64) float64 {
	inner := math.Min(soft(math.Abs(u), threshold), end)
	outer := math.Max(math.Abs(u), end)
	cost := func(w float64) float64 { gap := w - math.Abs(u); return gap*gap/2 + threshold*math.Min(w, end) }
	if cost(outer) < cost(inner) {
		inner = outer
	}
	return math.Copysign(inner, u)
}
