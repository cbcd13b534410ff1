package fit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// The seed reaches the engine, and not the features alone: with the features of one seed, engines of
// other seeds go other ways, and those of equal seeds the same.
func TestSeedOfTheEngine(t *testing.T) {
	rows := must.Value(table.Structs(sold()))(t)
	for _, options := range []fit.Options{
		{Formula: "price ~ rbf(size, n=4)", Engine: "exact(starts=4, iterations=2)"},
		{Formula: "zip ~ size", Positive: "b", Engine: "svi(diagnostics=50)"},
	} {
		way := func(seed uint64) string {
			var told strings.Builder
			o := options
			o.Registry = fit.Default()
			for k := range o.Registry.Engines {
				e := &o.Registry.Engines[k]
				batch := e.Batch
				if batch == nil {
					continue
				}
				e.Batch = func(run fit.Settings, a *spec.Arguments) (fit.Maker, error) {
					run.Seed = seed
					return batch(run, a)
				}
			}
			o.Threads, o.Progress = 1, func(p credence.Progress) { fmt.Fprintln(&told, p) }
			fitted := must.Value(fit.Table(context.Background(), rows, o))(t)
			if k := fitted.Report.ParetoK; k != nil {
				fmt.Fprintln(&told, *k)
			}
			return told.String()
		}
		one := way(1)
		if one != way(1) {
			t.Errorf("%s: equal seeds go different ways", options.Engine)
		}
		if one == way(2) {
			t.Errorf("%s: seeds 1 and 2 go the same way:\n%s", options.Engine, one)
		}
	}
}

// warner is an engine that warns.
type warner struct{ credence.Engine }

func (w warner) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	fitted, err := w.Engine.Fit(ctx, data)
	if err == nil {
		fitted.Report.Warnings = []string{"of the engine"}
	}
	return fitted, err
}

// Warnings stand in the order in which a fit goes: those of the model, of the options, of the engine,
// and what the data say against the model.
func TestOrderOfWarnings(t *testing.T) {
	houses := sold()
	houses[17].Price = 1e6
	rows := must.Value(table.Structs(houses))(t)
	registry := fit.Default()
	batch := registry.Engines[0].Batch
	registry.Engines[0].Batch = func(run fit.Settings, a *spec.Arguments) (fit.Maker, error) {
		maker, err := batch(run, a)
		return func(model credence.Model) (credence.Engine, error) {
			engine, err := maker(model)
			return warner{engine}, err
		}, err
	}
	fitted, err := fit.Table(context.Background(), rows, fit.Options{
		Formula: "price ~ 0 + size", Engine: "exact(hyper=ml)", Checkpoint: t.TempDir() + "/c", Registry: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the formula has no intercept", "engine exact writes no checkpoint", "of the engine", "1 row (row 18) is impossible"}
	if !slices.EqualFunc(fitted.Report.Warnings, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", fitted.Report.Warnings, want)
	}
}
