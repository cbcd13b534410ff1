package convex

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Next picks what to measure next, one candidate after the other: the one whose measurements are expected to tell
// most of u, given those picked before. A candidate is rows of f, measured with the noise variance of the problem.
// Gains are in nats, ½ log det(I + FCFᵀ/σ²), C being the covariance of the draws: where a candidate has more rows
// than there are draws its gain is too small, as it is for the others.
//
// Gaussian information does not depend on what is measured, so that picks need no measurement between them; where
// sites are far from Gaussian, solve again after a few. It needs a solution with draws.
func (s *Solution) Next(f linop.Matrix, candidates [][]int, count, threads int) (picked []int, gains []float64, err error) {
	rows, cols := f.Dims()
	draws := len(s.Draws)
	if draws == 0 || len(s.Mean) != cols {
		return nil, nil, fmt.Errorf("convex: to rank measurements it takes draws of the %d unknowns of F, and there are %d draws of %d: solve with variances=sample", cols, draws, len(s.Mean))
	}
	away, seen := linop.NewDense(cols, draws), linop.NewDense(rows, draws)
	for k, draw := range s.Draws {
		for j, v := range draw {
			away.Row(j)[k] = (v - s.Mean[j]) / math.Sqrt(s.noise*float64(draws))
		}
	}
	linop.MulBlock(f, &seen, &away)
	pool := credence.NewWorkspace(threads).Pool()
	grams := make([][]float64, len(candidates)) // (FΞ)ᵀFΞ/(sσ²), upper: det(I + FCFᵀ/σ²) is that of I + these
	for c, of := range candidates {
		part := linop.NewDense(len(of), draws)
		for i, row := range of {
			if row < 0 || row >= rows {
				return nil, nil, fmt.Errorf("convex: candidate %d has row %d of %d", c, row, rows)
			}
			copy(part.Row(i), seen.Row(row))
		}
		grams[c] = make([]float64, draws*draws)
		pool.Gram(len(of), draws, part.Data, draws, nil, grams[c], draws)
	}
	known, trial := make([]float64, draws*draws), make([]float64, draws*draws)
	for k := range draws {
		known[k*draws+k] = 1
	}
	before := 0.0
	for range min(count, len(candidates)) {
		best, most := -1, math.Inf(-1)
		for c, gram := range grams {
			if gram == nil { // picked
				continue
			}
			copy(trial, known)
			kernel.Axpy(1, gram, trial)
			if pivot, ok := pool.Cholesky(draws, trial, draws); !ok {
				return nil, nil, singular(pivot)
			}
			if value := gauss.LogDeterminant(draws, trial); value > most {
				best, most = c, value
			}
		}
		kernel.Axpy(1, grams[best], known)
		grams[best] = nil
		picked, gains = append(picked, best), append(gains, (most-before)/2)
		before = most
	}
	return picked, gains, nil
}
