package main

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/bench/data"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// line returns rows of y = 3 + 2x + noise of standard deviation 0.5.
func line(t *testing.T, n int, block uint64) credence.Source {
	rng := credence.Rand(1, "trial.test", block)
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = rng.NormFloat64()
		y[i] = 3 + 2*x[i] + 0.5*rng.NormFloat64()
	}
	rows, err := table.New().Numbers("x", x).Numbers("y", y).Source()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func trial(t *testing.T, train, test credence.Source, o fit.Options) *result {
	t.Helper()
	r := &result{}
	if err := r.fit(t.Context(), train, o); err != nil {
		t.Fatal(err)
	}
	if err := r.score(t.Context(), test, o.Threads, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// On a straight line the scores are those of the noise: RMSE 0.5, log density
// −½ log(2πe·0.25), and nine tenths of the targets in their 90 % intervals.
func TestScoresAreThoseOfTheNoise(t *testing.T) {
	const n = 4000
	r := trial(t, line(t, n, 0), line(t, n, 1), fit.Options{Formula: ".", Target: "y", Engine: "exact", Threads: 1})
	// Five standard errors: of the root mean square σ/√2n, of the mean log density √½/√n.
	within := func(name string, got, want, standardError float64) {
		if !(math.Abs(got-want) <= 5*standardError) {
			t.Errorf("%s %v, want %v ± %v", name, got, want, standardError)
		}
	}
	within("RMSE", float64(r.RMSE), 0.5, 0.5/math.Sqrt(2*n))
	within("log density", float64(r.LogDensity), -0.5*math.Log(2*math.Pi*math.E*0.25), math.Sqrt(0.5/n))
	within("coverage", r.Coverage90, 0.9, math.Sqrt(0.9*0.1/n))
	// Var y = 4.25, so R² = 1 − 0.25/4.25; the relative spread is that of two variances.
	within("R²", float64(r.R2), 1-0.25/4.25, 0.25/4.25*math.Sqrt(4.0/n))
	if r.TrainRows != n || r.TestRows != n || r.Status != credence.Converged || !(r.Evidence < 0) {
		t.Errorf("result %+v", r)
	}
}

func TestResultsRepeatThemselves(t *testing.T) {
	var results []*result
	for _, threads := range []int{1, 2} {
		o := fit.Options{Formula: ". + rbf(., n=20)", Target: "y", Engine: "exact(starts=2, iterations=5)", Seed: 3, Threads: threads}
		r := trial(t, line(t, 150, 0), line(t, 50, 1), o)
		r.WallSeconds, r.CPUSeconds, r.PeakBytes, r.fitted = 0, 0, 0, nil
		results = append(results, r)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("one thread %+v\ntwo threads %+v", results[0], results[1])
	}
}

// Values that exact learned are held by fits after it, whose scores are nearly its own; and
// scores of two classes are probabilities.
func TestTasks(t *testing.T) {
	train, test, err := data.Smooth(data.Real, 300, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	set := &data.Set{Name: "smooth", Target: "y"}
	b := &bench{progress: t.Output()}
	b.json, b.out = true, t.Output()
	var tasks []*task
	for i, way := range exactFits[:2] {
		k := &task{result: result{Set: "smooth", Model: way.name}, options: b.options(exactFormula(set, ""), "", "gaussian", way.engine),
			load: func(context.Context) (*data.Table, *data.Table, error) { return train, test, nil }}
		if i > 0 {
			k.hold = func(o *fit.Options, first *result) error { return hold(o, set, first.fitted.Members[0].Model) }
		}
		tasks = append(tasks, k)
	}
	rows, err := b.run(t.Context(), tasks)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	// Both have the posterior of the same linear model; svi stops within 1e-6 nats a row.
	if a, b := rows[0].results[0].SMSE, rows[1].results[0].SMSE; !(math.Abs(float64(a/b)-1) <= 1e-4) {
		t.Errorf("SMSE %v and %v", a, b)
	}
	train, test, err = data.Smooth(data.Class, 1000, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	if r := trial(t, train, test, b.options("rbf(., n=20)", "y", "bernoulli", full)); !(r.LogLoss > 0.05 && r.LogLoss < 0.7) || r.TestRows != 10000 {
		t.Errorf("%+v", r)
	}
}
