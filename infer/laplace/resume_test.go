package laplace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestResume interrupts fits after one more step each time; going on from the checkpoint ends with what a fit
// has that was never interrupted, with everything learned, kept columns, and everything held.
func TestResume(t *testing.T) {
	s := conform.NewSelection(30, 20, 4, 0.3, 1, 0.3, false, 3)
	for _, c := range []struct {
		likelihood credence.Likelihood
		prior      prior.SpikeSlab
		kept       int
	}{{likelihood.Gaussian{}, prior.SpikeSlab{}, 0}, {likelihood.Gaussian{}, prior.SpikeSlab{}, 2}, {likelihood.Bernoulli{}, prior.SpikeSlab{}, 0}, {families[0], held(0.2, 1, 0.02), 0}} {
		s.Features = conform.Columns{Dense: 20, Intercept: true, Kept: c.kept}
		if _, classes := c.likelihood.(likelihood.Bernoulli); classes {
			s.Divide(0.7)
		}
		whole := fitOf(t, s, c.likelihood, c.prior, Config{})
		cfg := Config{Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
		interrupted := 0
		for steps := 1; ; steps += 3 {
			ctx, cancel := context.WithCancel(context.Background())
			calls := 0
			cfg.Progress = func(credence.Progress) {
				if calls++; calls == steps {
					cancel()
				}
			}
			fitted, err := engineOf(t, s, c.likelihood, c.prior, cfg).Fit(ctx, conform.Memory{All: &s.Batch})
			cancel()
			if errors.Is(err, context.Canceled) {
				interrupted++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(fitted, whole) {
				t.Errorf("%v, %d kept: resumed %+v, whole %+v", c.likelihood, c.kept, fitted.Report, whole.Report)
			}
			break
		}
		if interrupted < 3 {
			t.Errorf("%v: interrupted %d times", c.likelihood, interrupted)
		}
		again, err := engineOf(t, s, c.likelihood, c.prior, cfg).Fit(context.Background(), conform.Memory{All: &s.Batch})
		if err != nil || !reflect.DeepEqual(again, whole) {
			t.Errorf("%v: from the last checkpoint: %v", c.likelihood, err)
		}
		cfg.Seed = 7
		if _, err := engineOf(t, s, c.likelihood, c.prior, cfg).Fit(context.Background(), conform.Memory{All: &s.Batch}); err == nil || !strings.Contains(err.Error(), "other options") {
			t.Errorf("other options: %v", err)
		}
		if _, err := os.Stat(cfg.Checkpoint); err != nil {
			t.Error(err)
		}
	}
}
