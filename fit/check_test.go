package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestCheck sees the selection come near the best that rows left out allow, and gain on ridge
// regression where few of many features matter.
func TestCheck(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	const n, d = 40, 30
	columns, y := make([][]float64, d), make([]float64, n)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range n {
			columns[j][i] = rng.NormFloat64()
		}
	}
	for i := range n {
		y[i] = 2*columns[0][i] - columns[1][i] + 0.5*rng.NormFloat64()
	}
	all := table.New().Numbers("y", y)
	for j, column := range columns {
		all = all.Numbers(fmt.Sprint("x", j), column)
	}
	rows := must.Value(all.Source())(t)
	o := fit.Options{Formula: "y ~ .", Prior: "spikeslab(inclusion=0.1, slab=1)", Family: "gaussian(variance=0.25)", Engine: "ep", Threads: 1}
	fitted := must.Value(fit.Select(context.Background(), rows, o, selection.Options{Check: 10}))(t)
	c := fitted.Selection.Check
	if c.Folds != 10 || len(c.Engines) != 3 || c.Engines[0].Engine != "ep" || c.Engines[1].Engine != "lasso" || c.Engines[2].Engine != "ridge" {
		t.Fatalf("%+v", c)
	}
	if *c.Engines[0].Gain != 0 || !(*c.Engines[2].Gain > 2**c.Engines[2].GainError) {
		t.Errorf("gain on itself %g, on ridge %g ± %g", *c.Engines[0].Gain, *c.Engines[2].Gain, *c.Engines[2].GainError)
	}
	if got := *c.Engines[0].LogDensity - *c.Engines[1].LogDensity; !(math.Abs(got-*c.Engines[1].Gain) <= 1e-12) {
		t.Errorf("the gain on the lasso is %g, the densities differ by %g", *c.Engines[1].Gain, got)
	}
	// Var y is 0.25 beyond the best fit, which a rough one misses by some.
	best := -(math.Log(2*math.Pi*0.25) + 1) / 2
	if got := *c.Engines[0].LogDensity; got > best+0.2 || got < best-0.4 {
		t.Errorf("log density %g, %g at best", got, best)
	}
	if _, err := fit.NewSelection(o, selection.Options{Check: 1}); err == nil || !strings.Contains(err.Error(), "--check 1") {
		t.Error(err)
	}
	if _, err := fit.Select(context.Background(), rows, o, selection.Options{Check: n + 1}); err == nil || !strings.Contains(err.Error(), "state fewer") {
		t.Error(err)
	}
}
