package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A measure taken up from its state answers with the same bits.
func TestProgressiveState(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole, pieces := &Progressive{}, &Progressive{}
	for i := range 5000 {
		p := rng.Float64()
		y := 0.0
		if rng.Float64() < p {
			y = 1
		}
		w := rng.Float64()
		whole.Add(y, p, w)
		pieces.Add(y, p, w)
		if i%500 == 250 {
			state, err := pieces.State()
			if err != nil {
				t.Fatal(err)
			}
			if pieces, err = ProgressiveOf(state); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, errA := whole.Result()
	b, errB := pieces.Result()
	if errA != nil || errB != nil || a != b {
		t.Errorf("%+v (%v) at once, %+v (%v) in pieces", a, errA, b, errB)
	}
	for _, state := range [][]float64{nil, {1}, make([]float64, 11), {0, 0, 0, 0, 0, 0, 0, 0, 0, math.NaN()}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1e9, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, -1, 1, 1},
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1, -1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1, 1, -1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, cellCount, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6.5, 1, 1, 1}} {
		if _, err := ProgressiveOf(state); err == nil {
			t.Errorf("state %v is accepted", state)
		}
	}
	// Weights near the largest number are ranked, and a file's that add up to more than any number leave the ranking
	// without a value.
	if large, err := ProgressiveOf([]float64{2, 2, 0, 1, 0, 1, 0, 1, 0, 0, 7, 1, 1e308, 1, 9, 1, 1, 1}); err != nil {
		t.Error(err)
	} else if _, err := large.Result(); err != nil {
		t.Error(err)
	}
	overflows, err := ProgressiveOf([]float64{2, 2, 0, 1, 0, 1, 0, 1, 0, 0, 7, 1e308, 1e308, 1, 9, 1e308, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := overflows.Result(); err == nil && got.AUC.Defined() {
		t.Errorf("%+v", got)
	}
}
