package folds

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Each class is in every fold as often as in any other, give or take one, and rows without a weight are in none.
func TestDeal(t *testing.T) {
	weights, classes := make([]float64, 103), make([]float64, 103)
	for i := range weights {
		weights[i], classes[i] = float64(i%7), float64(i*i%3%2)
	}
	fold, folds := Deal(rand.New(rand.NewPCG(1, 1)), weights, classes, 5)
	var in [2][5]int
	for i, k := range fold {
		if k < 0 != (weights[i] == 0) {
			t.Fatalf("row %d of weight %v is in fold %d", i, weights[i], k)
		}
		if k >= 0 {
			in[int(classes[i])][k]++
		}
	}
	for class := range in {
		for k := range in[class] {
			if d := in[class][k] - in[class][0]; folds != 5 || d < -1 || d > 1 {
				t.Errorf("%d folds, class %d: %v rows", folds, class, in[class])
			}
		}
	}
	if fold, folds = Deal(rand.New(rand.NewPCG(1, 1)), []float64{1, 0, 1}, nil, 5); folds != 2 || fold[0] == fold[2] || fold[1] != -1 {
		t.Errorf("two rows of three: %v, %d folds", fold, folds)
	}
}

// A share is of each class the same, to one row, and to the nearest row of all.
func TestSplit(t *testing.T) {
	weights, classes := make([]float64, 91), make([]float64, 91)
	for i := range weights {
		weights[i], classes[i] = float64(i%7), float64(i%5/4) // 78 rows have a weight
	}
	var held, all [2]int
	for i, k := range Split(rand.New(rand.NewPCG(1, 1)), weights, classes, 0.3) {
		if weights[i] > 0 {
			all[int(classes[i])]++
		}
		if k == 0 {
			held[int(classes[i])]++
		}
		if k > 0 || k == 0 && weights[i] == 0 {
			t.Fatalf("row %d of weight %v is in fold %d", i, weights[i], k)
		}
	}
	for class := range all {
		if gap := float64(held[class]) - 0.3*float64(all[class]); gap < -1 || gap > 1 {
			t.Errorf("%d of %d rows of class %d", held[class], all[class], class)
		}
	}
	if held[0]+held[1] != 23 { // .3 · 78 = 23.4
		t.Errorf("%d rows in all", held[0]+held[1])
	}
}

// Windows have as many times as each other, whatever the rows of a time, and a share the last; rows without a weight
// have no time.
func TestAhead(t *testing.T) {
	times := []float64{5, 1, 1, 1, 4, 2, 3, 9, 6}
	weights := []float64{1, 1, 2, 1, 1, 1, 1, 0, 1}
	for _, c := range []struct {
		count     int
		share     float64
		want      []int
		different int
	}{
		{2, 0, []int{1, -1, -1, -1, 0, -1, 0, -1, 1}, 6},
		{5, 0, []int{3, -1, -1, -1, 2, 0, 1, -1, 4}, 6},
		{0, 0.4, []int{0, -1, -1, -1, -1, -1, -1, -1, 0}, 6},
	} {
		if fold, different := Ahead(times, weights, c.count, c.share); different != c.different || !slices.Equal(fold, c.want) {
			t.Errorf("%d windows, share %v: %v of %d times", c.count, c.share, fold, different)
		}
	}
}
