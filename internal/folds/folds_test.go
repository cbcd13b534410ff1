package folds

import (
	"math/rand/v2"
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
