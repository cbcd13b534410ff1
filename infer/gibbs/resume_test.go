package gibbs

import (
	"math"
	"testing"
)

// TestStoredFits: numbers that would be taken for those of other rows or columns are refused.
func TestStoredFits(t *testing.T) {
	whole := func() *stored {
		return &stored{sums: []float64{1}, y: make([]float64, 3), noise: make([]float64, 3), inclusion: make([]float64, 2), mean: make([]float64, 2),
			square: make([]float64, 2), states: []float64{1, 0, 2, 0, 0, 0, 0.5}, active: []float64{0, 1}}
	}
	if !whole().fits(3, 2, 1) {
		t.Error("a chain does not fit its own numbers")
	}
	for name, damage := range map[string]func(s *stored){
		"sums": func(s *stored) { s.sums = nil }, "rows": func(s *stored) { s.y = s.y[1:] }, "noise": func(s *stored) { s.noise = nil },
		"inclusion": func(s *stored) { s.inclusion = nil }, "mean": func(s *stored) { s.mean = s.mean[1:] }, "square": func(s *stored) { s.square = nil },
		"half a state": func(s *stored) { s.states = s.states[1:] }, "from": func(s *stored) { s.states[1] = -1 }, "to": func(s *stored) { s.states[2] = 3 },
		"no number": func(s *stored) { s.states[2] = math.NaN() }, "column": func(s *stored) { s.active[1] = 2 }, "negative": func(s *stored) { s.active[0] = -1 },
	} {
		s := whole()
		if damage(s); s.fits(3, 2, 1) {
			t.Errorf("%s: a damaged chain fits", name)
		}
	}
}
