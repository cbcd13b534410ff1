package exact

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
)

// TestMeasuredCurvature compares the measured Hessian at a maximum with central differences of the
// gradient along other directions than those it was measured in.
func TestMeasuredCurvature(t *testing.T) {
	ctx := context.Background()
	const n = 500
	data := randomTable(88, n, 2, 0)
	rng := credence.Rand(89, "noise", 0)
	for i := range n {
		x := data.x.Row(i)
		data.target[i] = math.Sin(2*x[0]) + x[1]*x[1]/3 + 0.2*rng.NormFloat64()
	}
	run := opened(t, fourierSet(t, 2, 60, feature.RBF), data)
	from := run.starts(1)[0]
	from.tune, from.maxIterations, from.tolerance = true, 200, 1e-9
	end := must.Value(run.climb(ctx, run.form, from))(t)
	must.Succeed(t, run.measureCurvature(ctx, run.form, from, end))
	from.before = end
	o := must.Value(run.objective(ctx, run.form, from))(t)
	x := o.coordinates()
	if len(end.pairs) != len(x) {
		t.Fatalf("%d directions of %d", len(end.pairs), len(x))
	}
	gradient := func(step float64, direction []float64) []float64 {
		t.Helper()
		trial, g := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			trial[i] = x[i] + step*direction[i]
		}
		must.Value(o.at(trial, g))(t)
		return g
	}
	for range 3 {
		direction := make([]float64, len(x))
		for i := range direction {
			direction[i] = rng.NormFloat64()
		}
		const step = 1e-4
		up, down := gradient(step, direction), gradient(-step, direction)
		want, got := make([]float64, len(x)), make([]float64, len(x))
		scale := 0.0
		for i := range x {
			want[i] = (up[i] - down[i]) / (2 * step)
			scale = math.Max(scale, math.Abs(want[i]))
		}
		for _, p := range end.pairs { // H = Σ change stepᵀ, as the steps are orthonormal
			along := 0.0
			for i, v := range p.Step {
				along += v * direction[i]
			}
			for i, v := range p.Change {
				got[i] += along * v
			}
		}
		for i := range x {
			// Forward differences are wrong by half of the step times the third derivative, and
			// flat directions are raised.
			if !(math.Abs(got[i]-want[i]) <= 0.01*scale+leastCurvature*math.Abs(direction[i])) {
				t.Errorf("the Hessian times a direction has %v at %d, by central differences %v", got[i], i, want[i])
			}
		}
	}
}
