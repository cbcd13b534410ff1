package svi

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// rowwise is a Gaussian family that the engine does not know for one.
type rowwise struct{ likelihood.Gaussian }

// TestSufficient: the sums of a Gaussian family give what a pass over the rows gives, with weights,
// offsets, sparse columns and targets far from zero: 1e-9 relative, for sums of squares about a
// mean of 1,000 whose differences are of order 1; derivatives in the noise, which the pass takes as
// differences over 1e-4, to 1e-3.
func TestSufficient(t *testing.T) {
	data := draw(t, likelihood.Gaussian{}, 700, 5, 11)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range data.y {
		data.y[i] += 1000
		data.weight = append(data.weight, float64(i%3))
		data.offset = append(data.offset, rng.NormFloat64())
	}
	features := plain{p: 5, sparse: 2, intercept: true}
	r := newFit(t, credence.Model{Features: features, Likelihood: likelihood.Gaussian{}, Prior: normal}, Config{Covariance: Full}, data)
	n := newNewton(r.ws, r.d, r.groups)
	m := []float64{999, 0.1, -0.2, 0.3, 0.4, -0.5}
	factor := make([]float64, 36)
	for i := range 6 {
		for j := i; j < 6; j++ {
			factor[i*6+j] = 0.2 * rng.NormFloat64()
		}
	}
	for _, f := range [][]float64{nil, factor} {
		for _, noise := range []float64{1, 0.3} {
			by := func(l Likelihood) *statistics {
				family := newFamily(l)
				s := newStatistics(6, family.count()).keepSites(700)
				table := r.open(0)
				if l == (likelihood.Gaussian{NoiseVariance: param.From(noise)}) {
					// The reference is where the sums are first asked for.
					if err := n.pass(context.Background(), table, s, []float64{1000, 0, 0, 0, 0, 0}, nil, family); err != nil {
						t.Fatal(err)
					}
				}
				if err := n.pass(context.Background(), table, s, m, f, family); err != nil {
					t.Fatal(err)
				}
				return s
			}
			got := by(likelihood.Gaussian{NoiseVariance: param.From(noise)})
			want := by(rowwise{likelihood.Gaussian{NoiseVariance: param.From(noise)}})
			near := func(what string, a, b []float64, tolerance float64) {
				t.Helper()
				size := 0.0
				for _, v := range b {
					size = math.Max(size, math.Abs(v))
				}
				for i := range b {
					if math.Abs(a[i]-b[i]) > tolerance*size {
						t.Errorf("%s %d is %g, by rows %g", what, i, a[i], b[i])
					}
				}
			}
			near("value", []float64{got.value, got.trace}, []float64{want.value, want.trace}, 1e-9)
			near("gradient", got.gradient, want.gradient, 1e-9)
			for i := range 6 {
				near("curvature", got.curvature[i*6+i:(i+1)*6], want.curvature[i*6+i:(i+1)*6], 1e-9)
			}
			near("slope", got.slope, want.slope, 1e-9)
			near("bend", got.bend, want.bend, 1e-3)
			near("cross", got.cross, want.cross, 1e-3)
			near("sites", got.beta, want.beta, 1e-12)
			near("sites", got.b, want.b, 1e-12)
		}
	}
}
