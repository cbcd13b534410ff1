package convex

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestSlopes: at the mode of one prior deviation τ = eᵘ the slopes of the moments of normal rows are ∂m/∂u = 2Vm/τ² and
// ∂V/∂u = 2VV/τ², whether what goes by them then integrates or not.
func TestSlopes(t *testing.T) {
	const d = 4
	ctx := context.Background()
	e := must.Value(New(credence.Model{Features: conform.Columns{Dense: d}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(4)}, Prior: prior.Normal{}}, Config{}))(t)
	f := must.Value(e.newFit(ctx, conform.Memory{All: conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(4)}, 12, d, 2)}))(t)
	if _, _, err := f.climb(ctx); err != nil {
		t.Fatal(err)
	}
	from := must.Value(f.point(ctx))(t)
	top, err := f.rules().Mode(ctx, hyper.Each(f.evaluate), from)
	if err != nil || len(top.At.Theta) != 1 {
		t.Fatal(top, err)
	}
	mode, slopes := top.At, top.Slopes
	share := 2 * math.Exp(-2*mode.Theta[0])
	covariance := func(i, j int) float64 { return mode.Linear[min(i, j)*d+max(i, j)] }
	for i := range d {
		mean, variance := 0.0, 0.0
		for j := range d {
			mean += share * covariance(i, j) * mode.Mean[j]
			variance += share * covariance(i, j) * covariance(i, j)
		}
		if sd := math.Sqrt(mode.Variance[i]); !(math.Abs(slopes.Mean[i]-mean) <= 0.01*sd) || !(math.Abs(slopes.Variance[i]/variance-1) <= 0.01) {
			t.Errorf("weight %d ± %v: slopes %v and %v, want %v and %v", i, sd, slopes.Mean[i], slopes.Variance[i], mean, variance)
		}
	}
}
