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

// TestPassIsTheSumOverRows: the statistics of a pass over several blocks are sums over the rows, one by one, of what
// their likelihood expects, in centred coordinates: with weights, some of them 0, offsets, precisions or trials of
// their own, dense and sparse columns, whether the latter are few or many. What moves with the parameters of the family
// is central differences of these sums. Value, gradient, curvature and sites are right to 1e-9; what a pass takes as
// differences of 1e-4, to 1e-3. An expansion has ℓ + ½ ℓ″v in the place of the expectation.
func TestPassIsTheSumOverRows(t *testing.T) {
	const rows, dense, sparse, d = 1100, 1, 4, 6
	for _, c := range []struct {
		lik       likelihood.Sampler
		precision bool
		expanded  bool
		few       bool
		clamp     bool
	}{
		{lik: likelihood.Poisson{}, few: true},
		{lik: likelihood.Binomial{Trials: 4}},
		{lik: likelihood.Gamma{}, precision: true},
		{lik: likelihood.Gamma{}},
		{lik: likelihood.NegativeBinomial{}, expanded: true},
		{lik: likelihood.Gamma{}, precision: true, expanded: true, few: true},
		{lik: likelihood.StudentT{DegreesOfFreedom: param.Hold(4)}, clamp: true, expanded: true},
	} {
		rng := rand.New(rand.NewPCG(5, 8))
		data := conform.Regression(c.lik, rows, dense+sparse, 3)
		for i := range rows {
			data.Weight = append(data.Weight, float64(i%4)/2)
			data.Offset = append(data.Offset, 0.3*rng.NormFloat64())
			if c.precision {
				data.Precision = append(data.Precision, 0.5+float64(i%3))
			}
			if _, ok := c.lik.(likelihood.Binomial); ok {
				data.Trials = append(data.Trials, 4+float64(i%5))
			}
			for j := range sparse {
				if x := data.X.Row(i); c.few && rng.IntN(20) > 0 {
					x[dense+j] = 0
				}
			}
		}
		features, lik := conform.Columns{Dense: dense, Sparse: sparse, Intercept: true}, c.lik.(problem.Likelihood)
		groups := must.Value(base.Groups("test", features, prior.Normal{}))(t)
		p := &problem.Problem{Workspace: credence.NewWorkspace(2), Data: conform.Opened(t, lik, data), Features: features, Likelihood: lik, Groups: groups, Dims: d}
		p.Intercept = &problem.Intercept{Columns: []float64{0, 0.3, -0.2, 0.1, 0.4, -0.1}, Mean: 0.25, Variance: 4}
		m, factor := make([]float64, d), make([]float64, d*d)
		for i := range d {
			m[i] = 0.3 * rng.NormFloat64()
			for j := i; j < d; j++ {
				factor[i*d+j] = 0.2 * rng.NormFloat64()
			}
		}
		n := New(p)
		n.sloped, n.clamp = c.expanded, c.clamp
		family := problem.NewFamily(lik)
		family.Expanded = c.expanded
		count := family.Count()
		s := n.NewStatistics(count).KeepSites(rows)
		must.Succeed(t, n.Pass(context.Background(), p.Rows(0), s, m, gauss.Root(factor), family))
		bySum := func(free []float64) *Statistics {
			of, sum := family.At(free).Likelihood, n.NewStatistics(count).KeepSites(rows)
			for i := range rows {
				z := append([]float64{1}, data.X.Row(i)...)
				mean, variance := p.Intercept.Mean+data.Offset[i], 0.0
				for j := range z {
					z[j] -= p.Intercept.Columns[j]
					mean += z[j] * m[j]
				}
				for j := range d {
					image := 0.0
					for k := range j + 1 {
						image += factor[k*d+j] * z[k]
					}
					variance += image * image
				}
				own, w := data.LikelihoodOf(of, i).(problem.Likelihood), data.Weight[i]
				var trials []float64
				if data.Trials != nil {
					trials = data.Trials[i : i+1]
				}
				value, first, second := []float64{0}, []float64{0}, []float64{0}
				if own.ExpectedLogDensities(value, first, second, data.Target[i:i+1], trials, []float64{mean}, []float64{variance}); c.expanded {
					value[0], first[0], second[0] = own.Derivatives(data.Target[i], mean)
					value[0], second[0] = value[0]+second[0]*variance/2, second[0]/2
				}
				beta := -2 * w * second[0]
				sum.Value, sum.Trace = sum.Value+w*value[0], sum.Trace+beta*variance
				if c.clamp {
					beta = math.Max(0, beta)
				}
				_, _, above := own.Derivatives(data.Target[i], mean+1e-4)
				_, _, below := own.Derivatives(data.Target[i], mean-1e-4)
				for j := range z {
					sum.Gradient[j] += w * first[0] * z[j]
					sum.Third[j] += w * variance / 2 * (above - below) / 2e-4 * z[j]
					for k := j; k < d; k++ {
						sum.Curvature[j*d+k] += beta * z[j] * z[k]
					}
				}
				sum.Beta[i], sum.B[i] = beta, w*first[0]+beta*(mean-data.Offset[i])
			}
			return sum
		}
		near := func(what string, got, want []float64, tolerance float64) {
			t.Helper()
			size := 0.0
			for _, v := range want {
				size = math.Max(size, math.Abs(v))
			}
			for i, v := range want {
				if !(math.Abs(got[i]-v) <= tolerance*size) {
					t.Errorf("%+v: %s %d is %g, the sum over rows %g", c, what, i, got[i], v)
				}
			}
		}
		want := bySum(family.Free())
		near("value", []float64{s.Value, s.Trace}, []float64{want.Value, want.Trace}, 1e-9)
		near("gradient", s.Gradient, want.Gradient, 1e-9)
		for j := range d {
			near("curvature", s.Curvature[j*d+j:(j+1)*d], want.Curvature[j*d+j:(j+1)*d], 1e-9)
		}
		near("site", s.Beta, want.Beta, 1e-9)
		near("b of site", s.B, want.B, 1e-9)
		if c.expanded {
			near("third", s.Third, want.Third, 1e-6)
		}
		const h = 1e-3
		for k := range count {
			x := family.Free()
			x[k] += h
			above := bySum(x)
			x[k] -= 2 * h
			below := bySum(x)
			near("slope", s.Slope[k:k+1], []float64{(above.Value - below.Value) / (2 * h)}, 1e-3)
			for j := range d {
				above.Gradient[j] = (above.Gradient[j] - below.Gradient[j]) / (2 * h)
			}
			near("cross", s.Cross[k*d:(k+1)*d], above.Gradient, 1e-3)
			if !c.expanded {
				near("bend", s.Bend[k*count+k:k*count+k+1], []float64{(above.Value - 2*want.Value + below.Value) / (h * h)}, 1e-3)
			}
		}
		moments := base.Moments{}
		moments.AddTargets(data)
		got := n.Targets
		near("moments of targets", []float64{got.Weight, got.Mean, got.Low, got.High, got.Variance()}, []float64{moments.Weight, moments.Mean, moments.Low, moments.High, moments.Variance()}, 1e-9)
	}
}
