package candidates

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Solver solves systems with XᵀBX + diag λ by conjugate gradients.
type Solver struct {
	*Table
	WS        *credence.Workspace
	Tolerance float64 // of the residual in units of the right side, both in the metric of the diagonal
	Limit     int     // steps

	diagonal, residual, scaled, direction, product []float64 // d
	rows                                           []float64 // n
}

// Solve takes w, length d, from where it is to (XᵀBX + diag λ)⁻¹b, for the precisions B of the rows. It
// returns the number of steps.
func (s *Solver) Solve(w, b, rows, lambda []float64) int {
	if s.rows == nil {
		d := s.Count()
		s.diagonal, s.residual, s.scaled = make([]float64, d), make([]float64, d), make([]float64, d)
		s.direction, s.product, s.rows = make([]float64, d), make([]float64, d), make([]float64, s.Rows)
	}
	s.Squares(s.diagonal, rows)
	kernel.Axpy(1, lambda, s.diagonal)
	s.times(w, rows, lambda)
	size := 0.0
	for j, v := range b {
		s.residual[j] = v - s.product[j]
		size += v * v / s.diagonal[j]
	}
	norm := s.precondition()
	copy(s.direction, s.scaled)
	for step := range s.Limit {
		if !(norm > s.Tolerance*s.Tolerance*size) {
			return step
		}
		s.times(s.direction, rows, lambda)
		length := norm / kernel.Dot(s.direction, s.product)
		kernel.Axpy(length, s.direction, w)
		kernel.Axpy(-length, s.product, s.residual)
		next := s.precondition()
		ratio := next / norm
		norm = next
		for j, r := range s.scaled {
			s.direction[j] = r + ratio*s.direction[j]
		}
	}
	return s.Limit
}

// times stores the product with v.
func (s *Solver) times(v, rows, lambda []float64) {
	s.Mul(s.WS, s.rows, v)
	for i, b := range rows {
		s.rows[i] *= b
	}
	s.MulTrans(s.WS, s.product, s.rows)
	for j, x := range v {
		s.product[j] += lambda[j] * x
	}
}

// precondition stores the residual over the diagonal, and returns their product.
func (s *Solver) precondition() float64 {
	for j, r := range s.residual {
		s.scaled[j] = r / s.diagonal[j]
	}
	return math.Max(0, kernel.Dot(s.residual, s.scaled))
}
