package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// A job says what it needs and what it chose, and fills in whatever a stored model has beside the
// engine's answer.
func TestJob(t *testing.T) {
	rows := must.Value(table.Structs(sold()))(t)
	steps := 0
	job := must.Value(fit.New(fit.Options{Formula: "zip ~ size + log(rooms)", Positive: "b", Seed: 3, Progress: func(credence.Progress) { steps++ }}))(t)
	columns, err := job.Columns(rows.Schema())
	if slices.Sort(columns); err != nil || !slices.Equal(columns, []string{"rooms", "size", "zip"}) {
		t.Errorf("columns %q, %v", columns, err)
	}
	run := must.Value(job.Prepare(context.Background(), rows))(t)
	want := []fit.Note{
		{Topic: "target", Text: "zip: the positive class is b"},
		{Topic: "model", Text: "zip ~ size + log(rooms)   bernoulli, normal prior"},
		{Topic: "engine", Text: "svi: variational Bayes, since this family has no closed form"},
	}
	if got := run.Explain(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	fitted := must.Value(run.Fit(context.Background()))(t)
	if recipe := (credence.Recipe{Formula: "zip ~ size + log(rooms)", Family: "bernoulli", Prior: "normal", Engine: "svi(covariance=full)", Seed: 3, Positive: "b"}); !reflect.DeepEqual(fitted.Recipe, recipe) {
		t.Errorf("recipe %+v", fitted.Recipe)
	}
	if fitted.Frame.TargetName() != "zip" || !(math.Abs(fitted.TargetMean-1.0/3) <= 1e-15) || fitted.TargetVariance == 0 || fitted.Report.Inputs != 2 || steps == 0 {
		t.Errorf("target %s of mean %v, %d inputs, %d steps", fitted.Frame.TargetName(), fitted.TargetMean, fitted.Report.Inputs, steps)
	}
}

// What the fit is unlikely to be meant to do is a warning of its report.
func TestWarnings(t *testing.T) {
	rows := must.Value(table.Structs(sold()))(t)
	for _, c := range []struct {
		options fit.Options
		want    string // "" for none
	}{
		{fit.Options{Formula: "price ~ 0 + size"}, "the formula has no intercept and columns are centred"},
		{fit.Options{Formula: "price ~ 0 + size", Raw: true}, ""},
		{fit.Options{Formula: "price ~ 0 + size + zip"}, ""},
		{fit.Options{Formula: "price ~ size", Checkpoint: t.TempDir() + "/c"}, "engine exact writes no checkpoint"},
		{fit.Options{Formula: "price ~ size", Prior: "horseshoe", Engine: "gibbs(draws=20)", Checkpoint: t.TempDir() + "/c"}, "engine gibbs writes no checkpoint"},
	} {
		fitted := must.Value(fit.Table(context.Background(), rows, c.options))(t)
		all := strings.Join(fitted.Report.Warnings, "\n")
		if c.want == "" && strings.Contains(all, "intercept") || !strings.Contains(all, c.want) {
			t.Errorf("%+v: %q", c.options, all)
		}
	}
}

// Data that cannot be fitted are no misuse; a formula that names a file is one, unless someone opens it.
func TestRefusals(t *testing.T) {
	rows, err := table.Structs(sold())
	if err != nil {
		t.Fatal(err)
	}
	_, err = fit.Table(context.Background(), rows, fit.Options{Formula: "price ~ volume"})
	if err == nil || errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "volume") {
		t.Errorf("%v", err)
	}
	_, err = fit.Table(context.Background(), rows, fit.Options{Formula: "price ~ size", Memory: 100})
	if err == nil || !strings.Contains(err.Error(), "weights, for which engine exact needs 256 bytes of memory, and 100 bytes are available") {
		t.Errorf("%v", err)
	}
	options := fit.Options{Formula: "price ~ rbf(size, frequencies=@secret.csv)"}
	if _, err := fit.New(options); !errors.Is(err, fit.ErrMisuse) || strings.Contains(err.Error(), "no such file") {
		t.Errorf("%v", err)
	}
	asked := ""
	options.ReadFile = func(path string) ([]byte, error) { asked = path; return []byte("0.5\n1\n2\n"), nil }
	fitted, err := fit.Table(context.Background(), rows, options)
	if err != nil || asked != "secret.csv" || fitted.Report.Weights != 7 {
		t.Errorf("%s was asked for, %v", asked, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fit.Table(ctx, rows, fit.Options{Formula: "price ~ size"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestManyWeights: what is beyond the closed form is fitted all the same, by another engine.
func TestManyWeights(t *testing.T) {
	type row struct {
		Y   float64
		X   float64
		Zip string
	}
	list := make([]row, 10_002)
	for i := range list {
		list[i] = row{float64(i % 7), float64(i), fmt.Sprint("z", i)}
	}
	rows := must.Value(table.Structs(list))(t)
	for formula, engine := range map[string]string{"Y ~ X + Zip": "exact", "Y ~ X + Zip + rbf(X, n=5)": "exact", "Y ~ X + hash(X, Zip)": "convex", "Y ~ hash(X, Zip) + rbf(X, n=5)": "svi", "Y ~ hash(X, Zip) + rbf(X, n=5, lengthscale=1)": "convex"} {
		job := must.Value(fit.New(fit.Options{Formula: formula}))(t)
		run, err := job.Prepare(context.Background(), rows)
		if err != nil {
			t.Fatalf("%s: %v", formula, err)
		}
		notes := run.Explain()
		if text := notes[len(notes)-1].Text; !strings.HasPrefix(text, engine+":") {
			t.Errorf("%s goes to %q, want %s", formula, text, engine)
		}
	}
}

// TestEnginesMeanTheirModel: an engine that fits one prior, or one family, need not be told it; what is stated holds.
func TestEnginesMeanTheirModel(t *testing.T) {
	records := make([][]any, 60)
	for i := range records {
		records[i] = []any{float64(i%7) - 3, float64((i*i + i/7) % 2)}
	}
	rows := must.Value(table.Records([]string{"x", "y"}, records))(t)
	for engine, want := range map[string][2]string{
		"":        {"bernoulli", "normal"},
		"ep":      {"bernoulli", "spikeslab"},
		"gibbs":   {"bernoulli", "spikeslab"},
		"laplace": {"bernoulli", "normal"},
		"sep":     {"bernoulli(link=probit)", "spikeslab"},
		"convex":  {"bernoulli", "normal"},
	} {
		fitted, err := fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ x", Engine: engine})
		if err != nil {
			t.Errorf("%s: %v", engine, err)
			continue
		}
		if got := [2]string{fitted.Recipe.Family, fitted.Recipe.Prior}; got != want {
			t.Errorf("%s: %v, want %v", engine, got, want)
		}
	}
	for _, stated := range []fit.Options{
		{Formula: "y ~ x", Engine: "ep", Prior: "normal"}, {Formula: "y ~ x", Engine: "sep", Family: "bernoulli"}, {Formula: "y ~ x", Engine: "sep", Prior: "normal"},
	} {
		if _, err := fit.New(stated); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "--prior spikeslab") {
			t.Errorf("%+v: %v", stated, err)
		}
	}
}

// Options of rows that are learned online are refused of a table, where nothing would come of them.
func TestOnlineOptionsAreRefused(t *testing.T) {
	for want, o := range map[string]fit.Options{"hold_out: ": {Formula: "y ~ x", HoldOut: 10}, "time: ": {Formula: "y ~ x", Time: "day"}} {
		if _, err := fit.New(o); !errors.Is(err, fit.ErrMisuse) || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "use package learn") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
