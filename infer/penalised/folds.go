package penalised

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates/descent"
	"github.com/credence-ml/credence/internal/special"
)

// folds deals the rows out at random, each class evenly.
func (f *fit) folds() (fold []int, count int, err error) {
	t := f.problem.Table
	var rows []int
	for _, i := range credence.Rand(f.config.Seed, credence.FoldRows, 0).Perm(t.Rows) {
		if t.Unit()[i] > 0 {
			rows = append(rows, i)
		}
	}
	if f.problem.Classes {
		slices.SortStableFunc(rows, func(a, b int) int { return int(f.problem.Target[a] - f.problem.Target[b]) })
	}
	count = min(f.config.Folds, len(rows))
	if count < 2 {
		return nil, 0, fmt.Errorf("%s: cross-validation needs two rows at the least: add rows, or state lambda", f.config.Name)
	}
	fold = slices.Repeat([]int{-1}, t.Rows)
	for k, i := range rows {
		fold[i] = k % count
	}
	return fold, count, nil
}

// crossValidate returns the mean loss of rows that were left out at every λ, squared error of normal
// targets and −log p of classes, and its standard error over the folds.
func (f *fit) crossValidate(ctx context.Context) (losses, spread []float64, err error) {
	fold, count, err := f.folds()
	if err != nil {
		return nil, nil, err
	}
	points := len(f.lambdas)
	sums, weights, failures := make([][]float64, count), make([]float64, count), make([]error, count)
	f.ws.Pool().Run(count, func(k, _ int) {
		p := f.problem
		p.Out = make([]bool, p.Rows)
		for i := range p.Out {
			p.Out[i] = fold[i] == k
		}
		sums[k] = make([]float64, points)
		failures[k] = p.Path(ctx, credence.NewWorkspace(1), f.lambdas, func(at int, s *descent.Solution) bool {
			sums[k][at], weights[k] = outside(&p, s)
			return true
		})
	})
	if err := errors.Join(failures...); err != nil {
		return nil, nil, err
	}
	losses, spread = make([]float64, points), make([]float64, points)
	for at := range points {
		total := 0.0
		for k := range count {
			losses[at] += sums[k][at]
			total += weights[k]
		}
		losses[at] /= total
		for k := range count {
			gap := sums[k][at]/weights[k] - losses[at]
			spread[at] += weights[k] / total * gap * gap / float64(count-1)
		}
		spread[at] = math.Sqrt(spread[at])
	}
	return losses, spread, nil
}

// outside is the loss of the rows that are left out, and their weight.
func outside(p *descent.Problem, s *descent.Solution) (sum, weight float64) {
	latent, shift := make([]float64, p.Rows), 0.0
	for _, j := range s.Active {
		p.AddStored(latent, j, s.Weights[j], nil)
		shift += s.Weights[j] * p.Mean(j)
	}
	for i, u := range p.Unit() {
		if !p.Out[i] {
			continue
		}
		f := latent[i] - shift*u
		weight += u * u
		if p.Classes {
			sum -= u * u * special.LogSigmoid((2*p.Target[i]-1)*(f/u+p.OffsetOf(i)))
			continue
		}
		sum += (p.Target[i] - f) * (p.Target[i] - f)
	}
	return sum, weight
}
