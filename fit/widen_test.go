package fit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// A wave that is too short for 30 functions is fitted again with as many as its lengthscale asks for, and found; functions that are stated stay,
// with a warning. Beyond the box a smooth keeps to the value at its edge.
func TestProcessesAreWidened(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var x, y []float64
	for range 500 {
		v := 10 * rng.Float64()
		x, y = append(x, v), append(y, math.Sin(4*v)+.3*rng.NormFloat64())
	}
	source := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	fitted := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ hsgp(x)"}))(t)
	term := fitted.Members[0].Model.Features.(*feature.Set).Terms()[1].(*feature.HSGP)
	if term.Functions[0] < 33 || term.Boundary[0] != 1.5 {
		t.Errorf("%d functions, boundary %v, at ℓ = %v", term.Functions[0], term.Boundary, term.Lengthscale.Values)
	}
	at := []float64{1, 3.3, 5, 7.7, 9}
	mean, sd := latents(t, fitted, "x", at)
	for i, v := range at {
		if off := math.Abs(mean[i] - math.Sin(4*v)); off > 4*sd[i] || sd[i] > .15 {
			t.Errorf("f(%g) = %.3f ± %.3f, of %.3f", v, mean[i], sd[i], math.Sin(4*v))
		}
	}
	mean, _ = latents(t, fitted, "x", []float64{500, 1e9})
	if mean[0] != mean[1] {
		t.Errorf("beyond the box f is %v and %v", mean[0], mean[1])
	}
	fitted = must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ hsgp(x, m=20, boundary=1.1, lengthscale=0.1)"}))(t)
	if !slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "hsgp(x): the lengthscale [0.1] asks for m=[34], boundary=1.1")
	}) {
		t.Errorf("warnings %q", fitted.Report.Warnings)
	}
}
