package newton

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// rowwise is a Gaussian family that is not known for one.
type rowwise struct{ likelihood.Gaussian }

// TestSums: the sums of a Gaussian family give what a pass over the rows gives, with weights, offsets,
// sparse columns and targets far from zero: 1e-9 relative, for sums of squares about a mean of 1,000
// whose differences are of order 1; derivatives in the noise, which the pass takes as differences over
// 1e-4, to 1e-3.
func TestSums(t *testing.T) {
	data := conform.Regression(likelihood.Gaussian{}, 700, 5, 11)
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range data.Target {
		data.Target[i] += 1000
		data.Weight = append(data.Weight, float64(i%3))
		data.Offset = append(data.Offset, rng.NormFloat64())
	}
	features := conform.Columns{Dense: 3, Sparse: 2, Intercept: true}
	groups := must.Value(base.Groups("test", features, prior.Normal{}))(t)
	p := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, likelihood.Gaussian{}, data), Features: features, Likelihood: likelihood.Gaussian{}, Groups: groups, Dims: 6}
	n := New(p)
	m := []float64{999, 0.1, -0.2, 0.3, 0.4, -0.5}
	factor := make([]float64, 36)
	for i := range 6 {
		for j := i; j < 6; j++ {
			factor[i*6+j] = 0.2 * rng.NormFloat64()
		}
	}
	for _, f := range []gauss.Spread{nil, gauss.Root(factor)} {
		for _, noise := range []float64{1, 0.3} {
			by := func(l problem.Likelihood, about []float64) *Statistics {
				family := problem.NewFamily(l)
				s := n.NewStatistics(family.Count()).KeepSites(700)
				rows := p.Rows(0)
				for _, mean := range [][]float64{about, m} {
					factor := f
					if &mean[0] != &m[0] { // m₀ is where the sums are first asked for
						factor = nil
					}
					must.Succeed(t, n.Pass(context.Background(), rows, s, mean, factor, family))
				}
				return s
			}
			gaussian := likelihood.Gaussian{NoiseVariance: param.From(noise)}
			got := by(gaussian, []float64{1000, 0, 0, 0, 0, 0})
			want := by(rowwise{gaussian}, m)
			near := func(what string, a, b []float64, tolerance float64) {
				t.Helper()
				size := 0.0
				for _, v := range b {
					size = math.Max(size, math.Abs(v))
				}
				for i := range b {
					if !(math.Abs(a[i]-b[i]) <= tolerance*size) {
						t.Errorf("%s %d is %g, by rows %g", what, i, a[i], b[i])
					}
				}
			}
			near("value", []float64{got.Value, got.Trace}, []float64{want.Value, want.Trace}, 1e-9)
			near("gradient", got.Gradient, want.Gradient, 1e-9)
			for i := range 6 {
				near("curvature", got.Curvature[i*6+i:(i+1)*6], want.Curvature[i*6+i:(i+1)*6], 1e-9)
			}
			near("slope", got.Slope, want.Slope, 1e-9)
			near("bend", got.Bend, want.Bend, 1e-3)
			near("cross", got.Cross, want.Cross, 1e-3)
			near("sites", got.Beta, want.Beta, 1e-12)
			near("sites", got.B, want.B, 1e-12)
		}
	}
}
