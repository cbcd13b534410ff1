// Package folds deals rows out for cross-validation.
package folds

import (
	"math/rand/v2"
	"slices"
)

// Deal puts the rows that have a weight into folds at random, each class evenly where classes, the targets, are
// not nil. It returns the fold of each row, -1 of one without a weight, and the number of folds: count, or as many as rows.
func Deal(rng *rand.Rand, weights, classes []float64, count int) (fold []int, folds int) {
	order := slices.DeleteFunc(rng.Perm(len(weights)), func(i int) bool { return !(weights[i] > 0) })
	if classes != nil {
		slices.SortStableFunc(order, func(a, b int) int { return int(classes[a] - classes[b]) })
	}
	fold, folds = slices.Repeat([]int{-1}, len(weights)), min(count, len(order))
	for k, i := range order {
		fold[i] = k % folds
	}
	return fold, folds
}
