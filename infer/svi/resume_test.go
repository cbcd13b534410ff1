package svi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestResume interrupts fits by minibatches with rules of their own for steps, and of features, whose hyper-parameters
// are learned, after every so many iterations; going on from the checkpoint gives the numbers of a fit that was never
// interrupted, and the checkpoint of another seed is refused.
func TestResume(t *testing.T) {
	model, data := variantData(t)
	waves, features := wave(1200), model
	features.Features, features.Likelihood = fourier(t, 2, 8, true), likelihood.Poisson{}
	numbers := features
	numbers.Likelihood = likelihood.Gaussian{}
	for _, c := range []struct {
		model  credence.Model
		data   *memory
		config Config
	}{
		{model, data, Config{Batch: 64, Epochs: 5, Estimator: Sample, Optimiser: SGD, Components: 2, Diagnostics: 50}},
		{model, data, Config{Batch: 100, Epochs: 5, Optimiser: AdaDelta, Diagnostics: 50}},
		{features, waves, Config{ScreenRows: 100, PolishRows: 200, Batch: 100, Epochs: 4}},
		{numbers, waves, Config{ScreenRows: 100, PolishRows: 200, Covariance: Full}},
	} {
		cfg := c.config
		if cfg.Hyper = param.Mode; cfg.Covariance == Full {
			cfg.Hyper = param.Integrate
		}
		numbersOf := func(f *credence.Fitted) []any {
			return []any{f.Report, f.Members[0].Posterior, f.Members[0].Model.Prior, base.HyperValues(f.Members[0].Model.Features)}
		}
		whole := fitted(t, c.model, cfg, c.data)
		cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		for interrupted := 0; ; interrupted++ {
			ctx, cancel := context.WithCancel(context.Background())
			calls := 0
			cfg.Progress = func(credence.Progress) { // later attempts get further, from before the first checkpoint on
				if calls++; calls > interrupted && interrupted < 29 {
					cancel()
				}
			}
			got, err := must.Value(New(c.model, cfg))(t).Fit(ctx, c.data)
			cancel()
			if errors.Is(err, context.Canceled) {
				continue
			}
			must.Succeed(t, err)
			if !reflect.DeepEqual(numbersOf(got), numbersOf(whole)) || interrupted == 0 {
				t.Errorf("%+v: after %d interruptions %v, uninterrupted %v", cfg.Optimiser, interrupted, got.Report, whole.Report)
			}
			break
		}
		cfg.Seed, cfg.Progress = 99, nil
		if _, err := must.Value(New(c.model, cfg))(t).Fit(context.Background(), c.data); err == nil || !strings.Contains(err.Error(), "is of other data, another model or other options") {
			t.Errorf("the checkpoint of another seed: %v", err)
		}
	}
}

// TestIterationLimit: a start takes no more iterations than are stated, within rounds and after a
// resume. A tolerance that nothing meets keeps every one of them busy.
func TestIterationLimit(t *testing.T) {
	data := draw(t, likelihood.NegativeBinomial{}, 200, 20, 3)
	model := credence.Model{Features: plain{p: 20, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}
	for _, c := range []struct{ limit, starts int }{{10, 1}, {55, 1}, {55, 2}} {
		cfg := Config{Components: 5, Hyper: param.MaximumLikelihood, MaxIterations: c.limit, Starts: c.starts, Tolerance: 1e-100, Diagnostics: -1}
		whole := fitted(t, model, cfg, data)
		if got := whole.Report; got.Iterations != c.limit*c.starts || got.Status != credence.IterationLimit {
			t.Errorf("limit %d, %d starts: %s after %d iterations", c.limit, c.starts, got.Status, got.Iterations)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
		cfg.Progress = func(p credence.Progress) {
			if p.Done > c.limit {
				t.Errorf("limit %d: progress tells of %d iterations", c.limit, p.Done)
			}
			if p.Done == min(55, c.limit-1) {
				cancel()
			}
		}
		e := must.Value(New(model, cfg))(t)
		if _, err := e.Fit(ctx, data); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if resumed := fitted(t, model, cfg, data); !reflect.DeepEqual(resumed, whole) {
			t.Errorf("limit %d, %d starts: resumed %v, uninterrupted %v", c.limit, c.starts, resumed.Report, whole.Report)
		}
	}
}

// TestForeignCheckpoint: a file that is no checkpoint of this version is refused with the remedy, and
// left as it is.
func TestForeignCheckpoint(t *testing.T) {
	model, data := variantData(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	const content = "\x2d\xff\x81\x03\x01\x01\x0acheckpoint"
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
	e := must.Value(New(model, Config{Covariance: Full, Checkpoint: path}))(t)
	if _, err := e.Fit(context.Background(), data); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove this one to begin anew") {
		t.Errorf("a foreign checkpoint: %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != content {
		t.Errorf("the file became %q, %v", left, err)
	}
}
