package fit_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// A program adds an engine, a prior and a family of its own to a copy of the registry, a line each, and
// fits, predicts, saves and loads with them.
func TestPartsOfAProgram(t *testing.T) {
	registry := fit.Default()
	registry.Engines = append(registry.Engines, descentEngine())
	registry.Priors = append(registry.Priors, prior.Entry{Zero: pull{}, Read: readPull})
	registry.Families = append(registry.Families, likelihood.Entry{Zero: newSecant(), Read: readSecant})

	n := 80
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i*37%n) / 10
		y[i] = 3 - 2*x[i] + 0.5*math.Sin(float64(i*i))
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	for _, c := range []struct {
		options fit.Options
		engine  string
		sd      float64 // of y at the mean of x, at the least
	}{
		{fit.Options{Family: "gaussian(variance=0.2)", Prior: "pull(strength=0.5)"}, "descent", math.Sqrt(0.2)},
		{fit.Options{Family: "secant", Prior: "pull", Engine: "descent(sweeps=200)"}, "descent", 1},
		{fit.Options{Family: "secant"}, "svi", 1},
	} {
		c.options.Formula, c.options.Registry = "y ~ x", registry
		fitted, err := fit.Table(context.Background(), rows, c.options)
		if err != nil {
			t.Fatalf("%+v: %v", c.options, err)
		}
		if fitted.Report.Engine != c.engine {
			t.Errorf("%+v: engine %s", c.options, fitted.Report.Engine)
		}
		row := map[string]any{"x": 4.0}
		got, err := score.Row(fitted, row)
		if err != nil || !(math.Abs(got.Mean-(3-8)) <= 0.5) || got.SD < c.sd || got.SD > 1.5*c.sd || got.Lower > got.Mean-c.sd {
			t.Errorf("%+v: %+v, %v", c.options, got, err)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		must.Succeed(t, modelfile.SaveWith(path, fitted, registry.Parts))
		again := must.Value(modelfile.LoadWith(path, registry.Parts))(t)
		if loaded, err := score.Row(again, row); err != nil || loaded != got {
			t.Errorf("%+v: %+v once loaded, %v", c.options, loaded, err)
		}
		if _, err := modelfile.Load(path); err == nil || !strings.Contains(err.Error(), "is unknown") {
			t.Errorf("%+v: without the parts: %v", c.options, err)
		}
	}
	if len(fit.Default().Engines) != len(registry.Engines)-1 {
		t.Error("the registry of the module has changed")
	}
	if _, err := fit.New(fit.Options{Prior: "pull"}); err == nil {
		t.Error("the registry of the module knows pull")
	}
}

// The posterior mean of the engine is the closed form for one column through the origin.
func TestDescent(t *testing.T) {
	registry := fit.Default()
	registry.Engines = append(registry.Engines, descentEngine())
	registry.Priors = append(registry.Priors, prior.Entry{Zero: pull{}, Read: readPull})
	rows := must.Value(table.New().Numbers("x", []float64{1, 2, 3}).Numbers("y", []float64{2, 3, 7}).Source())(t)
	fitted := must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ 0 + x", Raw: true, Family: "gaussian(variance=1)", Prior: "pull(strength=2)", Registry: registry}))(t)
	terms, err := score.Terms(fitted, score.TermOptions{})
	if err != nil || len(terms) != 1 || !(math.Abs(terms[0].Mean-29.0/16) <= 1e-12) || !(math.Abs(float64(terms[0].SD)-0.25) <= 1e-12) {
		t.Errorf("%+v, %v, want mean 29/16 and sd 1/4", terms, err)
	}
}
