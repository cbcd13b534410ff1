package svi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
)

// TestResume interrupts fits after every so many iterations; going on from the checkpoint gives the
// bytes of a fit that was never interrupted.
func TestResume(t *testing.T) {
	model, data := variantData(t)
	for _, cfg := range chosen() {
		cfg.Diagnostics = 50
		resumes(t, model, cfg, data)
	}
}

// TestResumeOfFeatures: the same with learned hyper-parameters of features, warnings included, and
// for a Gaussian family, whose rows are read once.
func TestResumeOfFeatures(t *testing.T) {
	data := wave(1200)
	model := credence.Model{Features: fourier(t, 2, 8, true), Likelihood: likelihood.Poisson{}, Prior: normal}
	few := Config{ScreenRows: 100, PolishRows: 200}
	full, batches := few, few
	full.Covariance, batches.Batch, batches.Epochs = Full, 100, 4
	for _, cfg := range []Config{full, batches} {
		resumes(t, model, cfg, data)
	}
	model.Likelihood = likelihood.Gaussian{}
	resumes(t, model, full, data)
	model.Features = plain{p: 2, intercept: true}
	resumes(t, model, Config{Covariance: Full, Tolerance: 1e-9}, data)
}

// sameBytes says whether two fits are the same in all that a model file has: features keep more, to
// compute with.
func sameBytes(a, b *credence.Fitted) bool {
	plainly := func(f *credence.Fitted) (credence.Fitted, []feature.Term) {
		copied := *f
		set, ok := f.Members[0].Model.Features.(*feature.Set)
		if !ok {
			return copied, nil
		}
		copied.Members = slices.Clone(f.Members)
		copied.Members[0].Model.Features = nil
		return copied, set.Terms()
	}
	one, oneTerms := plainly(a)
	two, twoTerms := plainly(b)
	return reflect.DeepEqual(one, two) && reflect.DeepEqual(oneTerms, twoTerms)
}

// resumes interrupts a fit again and again.
func resumes(t *testing.T, model credence.Model, cfg Config, data *memory) {
	t.Helper()
	if cfg.Hyper = hyper.Mode; cfg.Covariance == Full {
		cfg.Hyper = hyper.Integrate
	}
	whole := fitted(t, model, cfg, data)
	cfg.Checkpoint = filepath.Join(t.TempDir(), "checkpoint")
	interrupted, step := 0, 1 // progress comes from Newton iterations and epochs, or
	if cfg.Components == 2 && cfg.Batch == 0 || cfg.Covariance == "" && cfg.Batch == 0 {
		step = 5 // from quasi-Newton iterations
	}
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cfg.Progress = func(credence.Progress) {
			// Later attempts get further, from before the first checkpoint on.
			if calls++; calls >= step*attempt && attempt < 30 {
				cancel()
			}
		}
		e := must.Value(New(model, cfg))(t)
		got, err := e.Fit(ctx, data)
		cancel()
		if errors.Is(err, context.Canceled) {
			interrupted++
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !sameBytes(got, whole) {
			t.Errorf("%+v: after %d interruptions %v, uninterrupted %v", cfg.Optimiser, interrupted, got.Report, whole.Report)
		}
		break
	}
	if interrupted == 0 {
		t.Errorf("%+v was never interrupted", cfg)
	}
	other := cfg
	other.Seed, other.Progress = 99, nil
	e := must.Value(New(model, other))(t)
	if _, err := e.Fit(context.Background(), data); err == nil || !strings.Contains(err.Error(), "is of other data, another model or other options") {
		t.Errorf("the checkpoint of another seed: %v", err)
	}
}

// TestIterationLimit: a start takes no more iterations than are stated, within rounds and after a
// resume. A tolerance that nothing meets keeps every one of them busy.
func TestIterationLimit(t *testing.T) {
	data := draw(t, likelihood.NegativeBinomial{}, 200, 20, 3)
	model := credence.Model{Features: plain{p: 20, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}
	for _, c := range []struct{ limit, starts int }{{10, 1}, {55, 1}, {55, 2}} {
		cfg := Config{Components: 5, Hyper: hyper.MaximumLikelihood, MaxIterations: c.limit, Starts: c.starts, Tolerance: 1e-100, Diagnostics: -1}
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
