package gibbs

import (
	"context"
	"errors"
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
