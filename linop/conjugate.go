package linop

import (
	"context"
	"errors"
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// Conjugate solves A X = B for a symmetric positive definite A by conjugate gradients (Hestenes & Stiefel
// 1952). The columns of B go in step, so that they share passes over A; each has a solution of its own,
// whatever the others are. X holds the start, and then the solution.
//
// The inverse of a matrix near A, symmetric and positive definite, is the preconditioner. A column ends where
// its error is below tolerance times the solution, both in the norm √(xᵀAx): for a draw of N(0, A⁻¹) that is
// the error of every standardised direction alike, and for a step of Newton's method the square root of the
// share of the decrement that is left. The error is extrapolated from the last steps (Hestenes & Stiefel 1952,
// theorem 6:1; Strakoš & Tichý 2002). At most so many products with A are made.
func Conjugate(ctx context.Context, a, inverse Matrix, x, b *Dense, tolerance float64, most int) (Convergence, error) {
	if a == nil || inverse == nil || x == nil || b == nil {
		return Convergence{}, errors.New("linop: a matrix, its approximate inverse, x and b are needed")
	}
	n, count := b.Rows, b.Cols
	residual, near := NewDense(n, count), NewDense(n, count)
	direction, product := NewDense(n, count), NewDense(n, count)
	now, curvature, alpha, beta := make([]float64, count), make([]float64, count), make([]float64, count), make([]float64, count)
	columns := make([]column, count)
	residual.copyOf(b)
	report := Convergence{}
	if !x.zero() {
		MulBlock(a, &product, x)
		report.Products++
		dots(now, x, &product)
		for i := range n {
			kernel.Axpy(-1, product.Row(i), residual.Row(i))
		}
		for k, energy := range now {
			columns[k].energy = energy
		}
	}
	for {
		MulBlock(inverse, &near, &residual)
		dots(now, &residual, &near) // rᵀM⁻¹r
		ended := true
		for k := range columns {
			beta[k] = columns[k].turn(now[k], tolerance*tolerance)
			ended = ended && columns[k].ended
		}
		if ended || report.Products >= most {
			break
		}
		if err := ctx.Err(); err != nil {
			return report, err
		}
		for i := range n {
			p := direction.Row(i)
			for k, z := range near.Row(i) {
				p[k] = z + beta[k]*p[k]
			}
		}
		MulBlock(a, &product, &direction)
		report.Products++
		dots(curvature, &direction, &product)
		for k := range columns {
			alpha[k] = columns[k].step(now[k], curvature[k])
		}
		for i := range n {
			at, r, q := x.Row(i), residual.Row(i), product.Row(i)
			for k, p := range direction.Row(i) {
				at[k] += alpha[k] * p
				r[k] -= alpha[k] * q[k]
			}
		}
	}
	for k := range columns {
		report.Error = math.Max(report.Error, math.Sqrt(columns[k].share()))
	}
	return report, nil
}

// Convergence says what a solution by [Conjugate] took: products with A, and the largest relative error of a
// column that is left, by its estimate.
type Convergence struct {
	Products int
	Error    float64
}

// column is what a right side has of its own.
type column struct {
	last   float64              // rᵀM⁻¹r before
	energy float64              // xᵀAx of the start
	gained float64              // xᵀAx of the steps
	gains  [2 * horizon]float64 // of the last steps, in turn
	steps  int
	ended  bool
}

// horizon is the number of steps whose gain is compared with that of as many before.
const horizon = 3

// turn takes rᵀM⁻¹r, and returns how much of the last direction the next one keeps.
func (c *column) turn(now, square float64) (beta float64) {
	before := c.last
	c.last = now
	c.ended = c.ended || !(now > 0) || math.IsInf(now, 0) || c.share() <= square
	if c.steps > 0 && !c.ended {
		beta = now / before
	}
	return beta
}

// step returns how far the column goes along a direction.
func (c *column) step(now, curvature float64) (alpha float64) {
	alpha = now / curvature
	if c.ended = c.ended || !(curvature > 0) || math.IsInf(alpha, 0); c.ended {
		return 0
	}
	c.gains[c.steps%len(c.gains)] = alpha * now
	c.gained += alpha * now
	c.steps++
	return alpha
}

// share estimates the square of the relative error: gains go on falling as they did.
func (c *column) share() float64 {
	if c.last == 0 {
		return 0
	}
	if c.steps < 2*horizon {
		return 1
	}
	recent, before := 0.0, 0.0
	for k, gain := range c.gains {
		if (c.steps-1-k)%len(c.gains) < horizon {
			recent += gain
		} else {
			before += gain
		}
	}
	ratio := math.Min(recent/before, slowest)
	return recent * ratio / (1 - ratio) / math.Max(c.energy, c.gained)
}

// slowest bounds the rate at which gains fall, which rounding and a first slow stretch raise above 1.
const slowest = 0.999

// dots stores the inner products of the columns of a with those of b.
func dots(dst []float64, a, b *Dense) {
	clear(dst)
	for i := range a.Rows {
		other := b.Row(i)
		for k, v := range a.Row(i) {
			dst[k] += v * other[k]
		}
	}
}

func (a *Dense) zero() bool {
	for i := range a.Rows {
		for _, v := range a.Row(i) {
			if v != 0 {
				return false
			}
		}
	}
	return true
}
