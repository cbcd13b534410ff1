// Package folds deals rows out for cross-validation.
package folds

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Deal puts the rows that have a weight into folds at random, each class evenly where classes, the targets, are
// not nil. It returns the fold of each row, -1 of one without a weight, and the number of folds: count, or as many as
// rows.
func Deal(rng *rand.Rand, weights, classes []float64, count int) (fold []int, folds int) {
	order := shuffled(rng, weights, classes)
	fold, folds = slices.Repeat([]int{-1}, len(weights)), min(count, len(order))
	for k, i := range order {
		fold[i] = k % folds
	}
	return fold, folds
}

// Split puts a share of the rows that have a weight into fold 0 at random, of each class the same share, and the others
// into none, -1: as many rows as are nearest to the share.
func Split(rng *rand.Rand, weights, classes []float64, share float64) (fold []int) {
	order := shuffled(rng, weights, classes)
	fold = slices.Repeat([]int{-1}, len(weights))
	held := int(math.Round(share * float64(len(order))))
	for k, i := range order {
		if (k+1)*held/len(order) > k*held/len(order) {
			fold[i] = 0
		}
	}
	return fold
}

// shuffled returns the rows that have a weight in random order, one class behind the other.
func shuffled(rng *rand.Rand, weights, classes []float64) []int {
	order := slices.DeleteFunc(rng.Perm(len(weights)), func(i int) bool { return !(weights[i] > 0) })
	if classes != nil {
		slices.SortStableFunc(order, func(a, b int) int { return int(classes[a] - classes[b]) })
	}
	return order
}

// Ahead puts rows into windows by their times: those of the first of count+1 windows of as many different times are in
// fold -1, those of the windows behind it in folds 0, 1, …, so that each fold is later than those before it. With a
// share, fold 0 has that share of the times, the last. It returns the number of different times; where they are too
// few, a window has no rows. Rows without a weight are in fold -1.
func Ahead(times, weights []float64, count int, share float64) (fold []int, different int) {
	var sorted []float64
	for i, t := range times {
		if weights[i] > 0 {
			sorted = append(sorted, t)
		}
	}
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	// of the times, the first that is held out of a share
	last := len(sorted) - int(math.Round(share*float64(len(sorted))))
	fold = slices.Repeat([]int{-1}, len(times))
	for i, t := range times {
		rank, _ := slices.BinarySearch(sorted, t)
		switch {
		case !(weights[i] > 0):
		case share == 0:
			fold[i] = rank*(count+1)/len(sorted) - 1
		case rank >= last:
			fold[i] = 0
		}
	}
	return fold, len(sorted)
}
