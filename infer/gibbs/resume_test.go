package gibbs

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestResume interrupts fits as soon as a chain has ended; going on from the checkpoint ends with what a fit has
// that was never interrupted, with kept columns and with classes.
func TestResume(t *testing.T) {
	s := conform.NewSelection(30, 20, 4, 0.3, 1, 0.3, false, 3)
	for _, c := range []struct {
		likelihood credence.Likelihood
		kept       int
	}{{likelihood.Gaussian{}, 0}, {likelihood.Gaussian{}, 2}, {likelihood.Bernoulli{}, 0}} {
		s.Features = conform.Columns{Dense: 20, Intercept: true, Kept: c.kept}
		if _, classes := c.likelihood.(likelihood.Bernoulli); classes {
			s.Divide(0.7)
		}
		cfg := Config{Flips: 4000, Draws: 40, Threads: 1}
		whole := fitOf(t, s, c.likelihood, prior.SpikeSlab{}, cfg)
		cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		run := func(ctx context.Context, cfg Config) (*credence.Fitted, error) {
			e, err := New(credence.Model{Features: s.Features, Likelihood: c.likelihood, Prior: prior.SpikeSlab{}}, cfg)
			if err != nil {
				t.Fatal(err)
			}
			return e.Fit(ctx, conform.Memory{All: &s.Batch})
		}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(cfg.Checkpoint); err == nil {
					cancel()
				}
				time.Sleep(time.Millisecond)
			}
		}()
		if _, err := run(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Errorf("%v: not interrupted: %v", c.likelihood, err)
		}
		cancel()
		for _, name := range []string{"interrupted", "whole"} {
			if fitted, err := run(context.Background(), cfg); err != nil || !reflect.DeepEqual(fitted, whole) {
				t.Errorf("%v, %d kept, from an %s checkpoint: %v", c.likelihood, c.kept, name, err)
			}
		}
		cfg.Seed = 7
		if _, err := run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "other options") {
			t.Errorf("other options: %v", err)
		}
	}
}

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
