package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestLaplace fits with every method, and by itself where a spike is stated, saves, loads and predicts.
func TestLaplace(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 60
	x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = rng.NormFloat64(), rng.NormFloat64()
		y[i] = 3 - 2*x[i] + 0.3*rng.NormFloat64()
	}
	rows, err := table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []fit.Options{
		{Prior: "spikeslab(spike=0.001)"}, {Prior: "spikeslab", Engine: "laplace"}, {Prior: "spikeslab(inclusion=0.5, slab=4, spike=0.001)", Engine: "laplace(method=gist)"},
		{Prior: "spikeslab", Engine: "laplace(variances=nystrom, anneal=true)"}, {Prior: "spikeslab(inclusion_prior=[1, 3])", Engine: "laplace(variances=random, vectors=8)"},
	} {
		o.Formula, o.Threads = "y ~ x + z", 1
		fitted, err := fit.Select(context.Background(), rows, o, selection.Options{})
		if err != nil {
			t.Fatal(o, err)
		}
		if fitted.Report.Engine != "laplace" || fitted.Report.Status != credence.Converged {
			t.Errorf("%+v: %+v", o, fitted.Report)
		}
		o.Threads = 2
		twice, err := fit.Select(context.Background(), rows, o, selection.Options{})
		if err != nil {
			t.Fatal(o, err)
		}
		for k, f := range fitted.Selection.Features {
			if f != twice.Selection.Features[k] {
				t.Errorf("%+v: threads matter: %+v, %+v", o, f, twice.Selection.Features[k])
			}
			if f.Selected != (f.Name == "x") {
				t.Errorf("%+v: %+v", o, f)
			}
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := modelfile.Save(path, fitted); err != nil {
			t.Fatal(err)
		}
		again, err := modelfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		row, err := score.Row(again, map[string]any{"x": 1.0, "z": 0.0})
		if err != nil || math.Abs(row.Mean-1) > 0.35 || !(row.SD > 0.2 && row.SD < 0.5) {
			t.Errorf("%+v: %+v, %v", o, row, err)
		}
	}
	if _, err := fit.New(fit.Options{Engine: "laplace", Prior: "spikeslab(spike=0)", Family: "gaussian"}); err == nil || !strings.Contains(err.Error(), "state spike above 0") {
		t.Errorf("a point: %v", err)
	}
}
