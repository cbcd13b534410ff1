package ep

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestResume interrupts fits again and again; going on from the checkpoint ends with what a fit has that was never
// interrupted: groups among many columns, numbers without covariances, sites that do not settle.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		rows, columns, relevant int
		correlation             float64
		classes                 bool
		kept                    int
		together                []credence.Block
		config                  Config
		sweeps                  int // 0: not looked at
	}{
		"columns":       {20, 30, 4, 0.3, false, 0, []credence.Block{{First: 4, Count: 3}}, Config{Hyper: param.Integrate}, 0},
		"diagonal":      {30, 20, 4, 0.3, false, 2, nil, Config{Hyper: param.Mode, Covariance: Diagonal}, 0},
		"diagonal, sum": {30, 20, 4, 0.3, false, 0, nil, Config{Hyper: param.Integrate, Covariance: Diagonal}, 0},
		"calmest":       {40, 20, 4, 0.3, true, 0, nil, Config{Hyper: param.Mode, MaxIterations: 125, Tolerance: 1e-15}, 125},
		"sparse":        {20, 30, 4, 0.3, false, 0, nil, Config{Hyper: param.Mode, MaxIterations: 15}, 30},
		"ran away":      {60, 10000, 10, 0, false, 0, nil, Config{Hyper: param.Mode, MaxIterations: 25}, 47},
	} {
		s := conform.NewSelection(c.rows, c.columns, c.relevant, c.correlation, 1, 0.1, false, 6)
		s.Features = conform.Columns{Dense: c.columns, Intercept: true, Kept: c.kept, Together: c.together}
		var l credence.Likelihood = likelihood.Gaussian{}
		if c.classes {
			l = likelihood.Bernoulli{}
			s.Divide(0.7)
		}
		whole := fitOf(t, s, l, prior.SpikeSlab{}, c.config)
		if got := whole.Report.Iterations; c.sweeps > 0 && got != c.sweeps {
			t.Errorf("%s: %d sweeps", name, got)
		}
		cfg := c.config
		cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		run := func(ctx context.Context, cfg Config) (*credence.Fitted, error) {
			e := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: prior.SpikeSlab{}}, cfg))(t)
			return e.Fit(ctx, conform.Memory{All: &s.Batch})
		}
		for interrupted := 0; ; interrupted++ {
			ctx, cancel := context.WithCancel(context.Background())
			calls := 0
			cfg.Progress = func(credence.Progress) {
				if calls++; calls == 7+interrupted*interrupted {
					cancel()
				}
			}
			fitted, err := run(ctx, cfg)
			cancel()
			if errors.Is(err, context.Canceled) {
				continue
			}
			must.Succeed(t, err)
			if interrupted < 2 {
				t.Errorf("%s: interrupted %d times", name, interrupted)
			}
			if !reflect.DeepEqual(fitted, whole) {
				t.Errorf("%s: resumed %+v, whole %+v", name, fitted.Report, whole.Report)
			}
			break
		}
		calls := 0
		cfg.Progress = func(p credence.Progress) {
			if p.Stage == "sites" {
				calls++
			}
		}
		if again, err := run(context.Background(), cfg); err != nil || calls > 0 || !reflect.DeepEqual(again, whole) {
			t.Errorf("%s: from the last checkpoint, in %d sweeps: %v", name, calls, err)
		}
		cfg.Seed = 7
		if _, err := run(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "other options") {
			t.Errorf("%s: other options: %v", name, err)
		}
	}
}
