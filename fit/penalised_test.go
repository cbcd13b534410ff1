package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestBaselines fits, saves, loads and predicts with every penalty; neither auto nor a refusal proposes them.
func TestBaselines(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	const n = 60
	x, z, y := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		x[i], z[i] = rng.NormFloat64(), rng.NormFloat64()
		y[i] = 3 - 2*x[i] + 0.3*rng.NormFloat64()
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Source())(t)
	for _, engine := range []string{"lasso", "elasticnet(alpha=0.3)", "ridge(folds=5)", "cappedl1", "lasso(rule=one_se)"} {
		fitted, err := fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ x + z", Engine: engine})
		if err != nil {
			t.Fatal(engine, err)
		}
		if fitted.Recipe.Prior != "" {
			t.Errorf("%s: a penalty is told as the prior %s", engine, fitted.Recipe.Prior)
		}
		path := filepath.Join(t.TempDir(), "m.safetensors")
		if err := modelfile.Save(path, fitted); err != nil {
			t.Fatal(engine, err)
		}
		again, err := modelfile.Load(path)
		if err != nil {
			t.Fatal(engine, err)
		}
		row, err := score.Row(again, map[string]any{"x": 1.0, "z": 0.0})
		if err != nil || !(math.Abs(row.Mean-1) <= 0.35) || !(row.SD > 0.2 && row.SD < 0.5) {
			t.Errorf("%s: %+v, %v", engine, row, err)
		}
		if count, ok := score.Selected(again); ok == strings.HasPrefix(engine, "ridge") || ok && (count < 1 || count > 2) {
			t.Errorf("%s: %d selected, %v", engine, count, ok)
		}
	}
	if _, err := fit.New(fit.Options{Engine: "lasso", Prior: "spikeslab", Family: "gaussian"}); err == nil || !strings.Contains(err.Error(), "leave --prior out") {
		t.Errorf("a prior: %v", err)
	}
	if _, err := fit.New(fit.Options{Engine: "exact", Family: "poisson"}); err == nil || strings.Contains(err.Error(), "ridge") {
		t.Errorf("a refusal: %v", err)
	}
}
