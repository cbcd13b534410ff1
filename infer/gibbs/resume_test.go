package gibbs

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
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

// TestResumedDraws: chains of a logit that are taken from a checkpoint give the draws that they gave, which go on from
// the noise of the rows.
func TestResumedDraws(t *testing.T) {
	s := conform.NewSelection(40, 5, 2, 0, 1, 0.3, false, 3)
	s.Divide(0)
	model := credence.Model{Features: s.Features, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}
	cfg := Config{Chains: 2, Flips: 200, Draws: 6, Checkpoint: filepath.Join(t.TempDir(), "chains")}
	var draws [2][]float64
	for k := range draws {
		e, err := New(model, cfg)
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := e.Fit(context.Background(), conform.Memory{All: &s.Batch})
		if err != nil {
			t.Fatal(err)
		}
		draws[k] = fitted.Members[0].Posterior.(*posterior.Draws).Values
	}
	if !slices.Equal(draws[0], draws[1]) {
		t.Errorf("draws are %v, resumed %v", draws[0], draws[1])
	}
}
