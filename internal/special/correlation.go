package special

import (
	"fmt"
	"math"
)

// Correlations of k columns are coordinates too: the inverse hyperbolic tangents of the partial correlations of column
// r and column c < r given the columns before c (Joe 2006; Lewandowski, Kurowicka & Joe 2009), which are any numbers.
// As a value a coordinate z is the odds e^{2z} = (1+ρ)/(1−ρ), so that z is half its logarithm, as that of a variance
// is. They stand by the rows of the lower triangle.

// Pairs is the number of correlations of k columns.
func Pairs(k int) int { return k * (k - 1) / 2 }

// partial is the partial correlation of some odds, and 1 − its square.
func partial(odds float64) (rho, rest float64) {
	return (odds - 1) / (odds + 1), 4 * odds / ((odds + 1) * (odds + 1))
}

// CorrelationRoot stores L, k×k and lower triangular, with the correlations LLᵀ of partial correlations of these odds.
func CorrelationRoot(l []float64, k int, odds []float64) {
	clear(l[:k*k])
	at := 0
	for r := range k {
		left := 1.0
		for c := range r {
			rho, rest := partial(odds[at])
			l[r*k+c] = rho * left
			left *= math.Sqrt(rest)
			at++
		}
		l[r*k+r] = left
	}
}

// CorrelationSlope stores ∂L/∂z for the coordinate of row r and column c.
func CorrelationSlope(slope, l []float64, k, r, c int, odds []float64) {
	clear(slope[:k*k])
	rho, rest := partial(odds[Pairs(r)+c])
	left := 1.0
	for j := range c {
		_, other := partial(odds[Pairs(r)+j])
		left *= math.Sqrt(other)
	}
	slope[r*k+c] = rest * left
	for j := c + 1; j <= r; j++ {
		slope[r*k+j] = -rho * l[r*k+j]
	}
}

// Odds returns those of the partial correlations that correlations stand for, by the rows of the lower triangle. It
// refuses what are no correlations of k columns.
func Odds(k int, correlations []float64) ([]float64, error) {
	l, odds := make([]float64, k*k), make([]float64, 0, Pairs(k))
	l[0] = 1
	for r := 1; r < k; r++ {
		left := 1.0
		for c := range r {
			v := correlations[Pairs(r)+c]
			for j := range c {
				v -= l[r*k+j] * l[c*k+j]
			}
			l[r*k+c] = v / l[c*k+c]
			rho := l[r*k+c] / math.Sqrt(left)
			if !(math.Abs(rho) < 1) {
				return nil, fmt.Errorf("%v are no correlations of %d columns: no matrix with them is positive definite", correlations, k)
			}
			odds = append(odds, (1+rho)/(1-rho))
			left -= l[r*k+c] * l[r*k+c]
		}
		l[r*k+r] = math.Sqrt(left)
	}
	return odds, nil
}

// Correlations returns those of odds, by the rows of the lower triangle.
func Correlations(k int, odds []float64) (list []float64) {
	l := make([]float64, k*k)
	CorrelationRoot(l, k, odds)
	for r := range k {
		for c := range r {
			sum := 0.0
			for j := range c + 1 {
				sum += l[r*k+j] * l[c*k+j]
			}
			list = append(list, sum)
		}
	}
	return list
}
