package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestBootstrap: what matters is called in nearly every sample of the rows, what does not in few, and twins in a
// part; the path has coefficients, and its sparsest good step the features that matter; the share of variance
// explained is about that of the truth, 1.25 of 1.5.
func TestBootstrap(t *testing.T) {
	for _, engine := range []string{"ep", "gibbs(flips=2000)"} {
		options := fit.Options{Formula: "Y ~ .", Prior: "spikeslab(inclusion_prior=[1, 9])", Engine: engine}
		fitted := must.Value(fit.Select(context.Background(), twinRows(t, 80), options, selection.Options{Bootstrap: 20, Path: selection.PathAlways, Check: 4}))(t)
		s := fitted.Selection
		for _, f := range s.Features {
			switch {
			case f.Frequency == nil || math.Abs(*f.Frequency*20-math.Round(*f.Frequency*20)) > 1e-9:
				t.Fatalf("%s: %+v", engine, f)
			case f.Name == "A" && *f.Frequency < 0.99, f.Name != "A" && f.Name != "B" && f.Name != "Twin" && *f.Frequency > 0.5:
				t.Errorf("%s: %s is called in %.2f of the samples", engine, f.Name, *f.Frequency)
			}
		}
		if e := s.Explained; s.Bootstrap != 20 || e == nil || !(math.Abs(e.Mean-1.25/1.5) <= 0.1) || !(e.Lower < e.Mean && e.Mean < e.Upper) || e.Upper-e.Lower > 0.2 || e.Upper-e.Lower < 0.05 {
			t.Errorf("%s: variance explained %+v", engine, e)
		}
		marked := 0
		for k, step := range s.Path {
			best := math.Inf(-1)
			for _, other := range s.Path {
				best = math.Max(best, *other.LogDensity)
			}
			if step.OneSE {
				marked++
				if *step.LogDensity < best-0.3 {
					t.Errorf("%s: step %d has the log density %g, the best %g", engine, k, *step.LogDensity, best)
				}
			}
			for _, c := range step.Coefficients {
				if c.Name == "A" && (!(math.Abs(c.Mean-1) <= 0.3) || c.Inclusion < 0.9) {
					t.Errorf("%s: step %d has the coefficient %+v", engine, k, c)
				}
			}
		}
		if marked != 1 {
			t.Errorf("%s: %d steps are marked", engine, marked)
		}
	}
}

// TestBootstrapWeighs: rows that weigh next to nothing say nothing in a sample of the rows either.
func TestBootstrapWeighs(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var x, z, y, w []float64
	for i := range 120 {
		weight, slope := 1.0, 1.0
		if i%2 == 1 { // against what the others say
			weight, slope = 1e-9, -1
		}
		x, z, w = append(x, rng.NormFloat64()), append(z, rng.NormFloat64()), append(w, weight)
		y = append(y, slope*x[i]+0.5*rng.NormFloat64())
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("z", z).Numbers("y", y).Numbers("w", w).Source())(t)
	fitted := must.Value(fit.Select(t.Context(), rows, fit.Options{Formula: "y ~ x + z + weight(w)", Engine: "ep"}, selection.Options{Bootstrap: 4}))(t)
	for _, f := range fitted.Selection.Features {
		if want := map[string]float64{"x": 1, "z": 0}[f.Name]; *f.Frequency != want {
			t.Errorf("%s is called in %v of the samples", f.Name, *f.Frequency)
		}
	}
}
