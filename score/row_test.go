package score_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

func fitted(t testing.TB, rows any, o fit.Options) *credence.Fitted {
	t.Helper()
	var source credence.Source
	var err error
	switch rows := rows.(type) {
	case credence.Source:
		source = rows
	default:
		source, err = table.Structs(rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := fit.Table(context.Background(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// A row alone, a bound row, a map and a table give one answer.
func TestOneAnswer(t *testing.T) {
	all := houses(60)
	for _, o := range []fit.Options{
		{Formula: "Price ~ ."},
		{Formula: "Price ~ log(Size) + Zip:Rooms + Garden"},
		{Formula: "Price ~ . + rbf(Size, Rooms, n=8)", Engine: "exact(draws=2, starts=2)"},
		{Formula: "Garden ~ Size + Zip"},
		{Formula: "Rooms ~ Size + Zip", Family: "ordinal"},
	} {
		model := fitted(t, all, o)
		source, err := table.Structs(all)
		if err != nil {
			t.Fatal(err)
		}
		scorer, err := score.New(model, score.Options{Interval: 0.8})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := score.Bind[house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		pointers, err := score.Bind[*house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		scored, err := scorer.Table(source, score.UseTargets)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = scored.Each(context.Background(), func(rows *score.Rows) error {
			for i := range rows.Len() {
				h := all[n]
				n++
				want := rows.Predict(i)
				got, err := bound.Score(h)
				if err != nil || got != want {
					t.Fatalf("%s: bound %v, %v; want %v", o.Formula, got, err, want)
				}
				if got, err = pointers.Score(&h); err != nil || got != want {
					t.Fatalf("%s: bound %v, %v; want %v", o.Formula, got, err, want)
				}
				values := map[string]any{"Size": h.Size, "Rooms": int(h.Rooms), "Zip": h.Zip, "Garden": h.Garden}
				narrow, err := score.Row(model, values)
				if wide, errWide := score.Row(model, h); err != nil || errWide != nil || narrow != wide || narrow.Mean != want.Mean || narrow.Lower > want.Lower {
					t.Fatalf("%s: row %v, %v; struct %v, %v; table %v", o.Formula, narrow, err, wide, errWide, want)
				}
			}
			return nil
		})
		if err != nil || n != len(all) {
			t.Fatal(n, err)
		}
	}
}

// What a row lacks is named.
func TestRowRefusals(t *testing.T) {
	model := fitted(t, houses(60), fit.Options{Formula: "Price ~ Size + Zip"})
	for _, c := range []struct {
		row  any
		want string
	}{
		{map[string]any{"Size": 3.0}, `table: the map lacks the column "Zip": give nil where the value is missing`},
		{struct{ Size float64 }{3}, `table: struct { Size float64 } has no field for the column "Zip": add one, or name it with the tag ` + "`credence:\"Zip\"`"},
		{map[string]any{"Size": "large", "Zip": "a"}, `table: column "Size": "large" is not a number; declare it with --missing large`},
		{map[string]any{"Size": nil, "Zip": "a"}, `frame: row 1: column "Size" is missing: fill in the value, or let --missing mean fill in the mean of training`},
		{map[string]any{"Size": 3.0, "Zip": "new"}, `frame: row 1: column "Zip": level "new" was not seen in training: correct it, or let --unseen prior score it by the variance of the levels`},
		{7, "table: a int is no row: give a struct, or a map[string]any"},
	} {
		if _, err := score.Row(model, c.row); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v", c.row, err)
		}
	}
}

// A bound row of a struct or of a map is scored without allocating.
func TestBoundRowAllocatesNothing(t *testing.T) {
	all := houses(60)
	for _, o := range []fit.Options{
		{Formula: "Price ~ ."},
		{Formula: "Garden ~ Size + Zip"},
		{Formula: "Price ~ . + rbf(Size, Rooms, n=8)", Engine: "exact(draws=2, starts=2)"},
	} {
		scorer, err := score.New(fitted(t, all, o), score.Options{})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := score.Bind[*house](scorer)
		if err != nil {
			t.Fatal(err)
		}
		if allocated := testing.AllocsPerRun(100, func() {
			if _, err := bound.Score(&all[7]); err != nil {
				t.Fatal(err)
			}
		}); allocated != 0 && !raced() {
			t.Errorf("%s: %v allocations a row", o.Formula, allocated)
		}
	}
}

// raced says whether the test runs under the race detector, in whose presence a sync.Pool drops things at random.
func raced() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestBoundOfManyGoroutines: eight goroutines that score on one bound scorer get, of every kind of posterior, the bits
// that one gets alone.
func TestBoundOfManyGoroutines(t *testing.T) {
	all := houses(60)
	models := map[string]*credence.Fitted{"sep": learned(t, all)}
	for _, o := range []fit.Options{
		{Formula: "Price ~ . + rbf(Size, Rooms, n=8)", Engine: "exact(draws=2, starts=2)"}, {Formula: "Price ~ . + poly(Size, 2)"},
		{Formula: "Garden ~ Size + Zip"}, {Formula: "Rooms ~ Size + Zip", Family: "ordinal"}, {Formula: "Rooms ~ Size + Zip", Family: "binomial(trials=Size)"},
		{Formula: "Rooms ~ Size + Zip", Family: "negbinomial"}, {Formula: "Garden ~ Size + Zip", Engine: "convex"}, {Formula: "Price ~ Size + Zip", Family: "studentt"},
		{Formula: "Price ~ .", Prior: "spikeslab", Engine: "ep"}, {Formula: "Price ~ Size + Rooms", Prior: "horseshoe", Engine: "gibbs(sweeps=200)"},
		{Formula: "log(Price) ~ . + onehot(Zip)"}, {Formula: "Garden ~ rbf(Size, Rooms, n=20)", Engine: "laplace"},
	} {
		models[o.Formula+", "+o.Engine] = fitted(t, all, o)
	}
	for name, model := range models {
		scorer := must.Value(score.New(model, score.Options{}))(t)
		bound := must.Value(score.Bind[*house](scorer))(t)
		var want []score.Prediction
		for i := range all {
			want = append(want, must.Value(bound.Score(&all[i]))(t))
		}
		var tasks []*task.Task
		for k := range 8 {
			tasks = append(tasks, task.Go(func() error {
				for i := range 3 * len(all) {
					i = (i*7 + k*13) % len(all)
					if got, err := bound.Score(&all[i]); err != nil || got != want[i] {
						return fmt.Errorf("%s, row %d: %v, %v, alone %v", name, i, got, err, want[i])
					}
					if _, err := bound.Score(nil); err == nil {
						return errors.New("a nil row is scored")
					}
				}
				return nil
			}))
		}
		for _, one := range tasks {
			if err := one.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
}

// learned is a model of keys.
func learned(t testing.TB, all []house) *credence.Fitted {
	l := must.Value(learn.New(fit.Options{Formula: "Garden ~ Size + hash(Zip)"}))(t)
	for i := range all {
		must.Value(l.Row(&all[i]))(t)
	}
	return must.Value(l.Fitted())(t)
}

// TestRowsBeyondNumbers: an input that makes the mean, the standard deviation or f no number is refused with its name
// and value, whichever kind of number it is, and a value next to it is not.
func TestRowsBeyondNumbers(t *testing.T) {
	type visit struct{ Count, Age, Months, Exact float64 }
	var rows []visit
	for i := range 40 {
		rows = append(rows, visit{float64(i * 7 % 5), 30 + float64(i%10), 1 + float64(i%3), 1 + float64(i%2)})
	}
	counts := fitted(t, rows, fit.Options{Formula: "Count ~ Age + offset(Months)", Family: "poisson"})
	sums := fitted(t, rows, fit.Options{Formula: "Count ~ Age + precision(Exact)"})
	logs := fitted(t, rows, fit.Options{Formula: "log(Months) ~ Age"})
	heavy := fitted(t, rows, fit.Options{Formula: "Months ~ Age", Family: "studentt(df=1.5)"})
	for name, c := range map[string]struct {
		model    *credence.Fitted
		row      visit
		original bool
		want     string // "" where the row is scored
	}{
		"ordinary":           {counts, visit{Age: 35, Months: 2}, false, ""},
		"SD of counts":       {counts, visit{Age: 35, Months: 500}, false, ""},
		"mean of counts":     {counts, visit{Age: 35, Months: 1e4}, false, "row 1: offset(Months) is 10000, so far"},
		"below all numbers":  {counts, visit{Age: 35, Months: -1e4}, false, ""},
		"f":                  {sums, visit{Age: -1e300, Exact: 1}, false, "row 1: Age is -1e+300, so far from the rows of training that its prediction is no number"},
		"precision":          {sums, visit{Age: 35, Exact: 1e-320}, false, "row 1: precision(Exact) is 9.99989e-321, so far"},
		"large":              {sums, visit{Age: 1e9, Exact: 1}, false, ""},
		"log":                {logs, visit{Age: 1e9}, false, ""},
		"log, original":      {logs, visit{Age: 1e9}, true, "row 1: Age is 1e+09, so far"},
		"no variance at all": {heavy, visit{Age: 1e9}, false, ""},
		"no variance, and f": {heavy, visit{Age: 1e300}, false, "row 1: Age is 1e+300, so far"},
	} {
		scorer, err := score.New(c.model, score.Options{Original: c.original})
		if err != nil {
			t.Fatal(err)
		}
		bound, err := score.Bind[visit](scorer)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bound.Score(c.row); (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, want %q", name, got, err, c.want)
		} else if name == "SD of counts" {
			text := string(must.Value(json.Marshal(got))(t))
			if !(got.Mean > 1e200) || !math.IsNaN(got.SD) || !(got.Lower < got.Upper) || math.IsInf(got.Upper, 0) || strings.Contains(text, "sd") || !strings.Contains(text, `"upper":`) {
				t.Errorf("%s: %v, in JSON %s", name, got, text)
			}
		}
	}
	var far []visit
	for _, months := range []float64{2, 500, 600} {
		far = append(far, visit{Count: 1, Age: 35, Months: months})
	}
	table := must.Value(must.Value(score.New(counts, score.Options{}))(t).Table(must.Value(table.Structs(far))(t), score.RequireTargets))(t)
	e := score.NewEvaluation(counts)
	must.Succeed(t, table.Each(t.Context(), e.Add))
	if result, err := e.Result(); err != nil || table.Counts().Momentless != 2 || result.Rows != 3 {
		t.Errorf("%d rows have no moments, %v", table.Counts().Momentless, err)
	}
}

// A model that cannot predict says so for every run of rows, and scores none of them.
func TestRowsThatCannotBePredicted(t *testing.T) {
	all := houses(8)
	model := fitted(t, all, fit.Options{Formula: "Price ~ Size"})
	good := model.Members[0]
	for want, spoil := range map[string]func(m *credence.Member){
		"has no predictive distribution": func(m *credence.Member) {
			m.Model.Likelihood = struct{ credence.Likelihood }{m.Model.Likelihood}
		},
		"sum to 0.5": func(m *credence.Member) { m.Weight = 0.5 },
	} {
		model.Members = []credence.Member{good}
		spoil(&model.Members[0])
		s, visited := scorer(t, model), 0
		err := must.Value(s.Table(structs(t, all), score.UseTargets))(t).Each(t.Context(), func(*score.Rows) error { visited++; return nil })
		if err == nil || !strings.Contains(err.Error(), want) || visited != 0 {
			t.Errorf("%d runs of rows are scored, want %q: %v", visited, want, err)
		}
	}
}
