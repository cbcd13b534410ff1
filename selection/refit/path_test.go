package refit

import (
	"testing"

	"github.com/credence-ml/credence/selection"
)

// The sparsest model that is within one standard error of the best is told: not a sparser one that is surely worse, nor
// the best where a sparser one is as good.
func TestOneStandardError(t *testing.T) {
	const rows = 40
	path, densities := make([]selection.Step, 5), make([][]float64, 5)
	for k, mean := range []float64{-9, -3, -2.01, -2, -2.5} {
		for i := range rows { // the third differs from the fourth by more than their mean gap
			noise := 0.1 * float64(i%2*2-1)
			if k == 3 {
				noise = -noise
			}
			densities[k] = append(densities[k], mean+noise)
		}
	}
	weights := make([]float64, rows)
	for i := range weights {
		weights[i] = 1
	}
	OneStandardError(path, densities, &Folds{weights: weights})
	for k, step := range path {
		if step.OneSE != (k == 2) || step.LogDensity == nil {
			t.Errorf("step %d: %+v", k, step)
		}
	}
}
