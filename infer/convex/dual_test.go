package convex_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// padded adds rows of weight 0, after which there are more rows than weights.
func padded(rows *credence.Batch, count int) *credence.Batch {
	out := &credence.Batch{Target: append([]float64(nil), rows.Target...), Offset: append([]float64(nil), rows.Offset...)}
	n, p := rows.X.Rows, rows.X.Cols
	out.X.Reshape(n+count, p)
	copy(out.X.Data, rows.X.Data)
	out.Weight = append([]float64(nil), rows.Weight...)
	for i := range count {
		for j := range p {
			out.X.Row(n + i)[j] = float64((i*7+j*3)%5) - 2
		}
		out.Target, out.Offset, out.Weight = append(out.Target, float64(i%2)), append(out.Offset, 0.3), append(out.Weight, 0)
	}
	return out
}

// TestFewRows: the form for fewer rows than weights gives bound, weights, variances, predictions and learned
// values that the form for fewer weights gives of the same rows and others that do not count.
func TestFewRows(t *testing.T) {
	const n, p = 14, 24
	for _, l := range []credence.Likelihood{likelihood.Bernoulli{}, likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}, likelihood.Gaussian{}} {
		for _, w := range []credence.Prior{
			prior.Normal{Variance: param.Hold(0.5)}, prior.Laplace{Scale: param.Hold(0.3)}, prior.StudentT{Scale: param.Hold(0.3)}, prior.Normal{}, prior.Laplace{},
		} {
			for _, c := range []conform.Columns{{Dense: 10, Sparse: p - 10, Intercept: true}, {Sparse: p, Intercept: true}, {Dense: p}} {
				name := fmt.Sprintf("%T %v %+v", l, w, c)
				data := likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}
				rows := conform.Regression(data, n, p, 5)
				if _, is := l.(likelihood.Bernoulli); is {
					rows = classes(n, p)
				}
				for i := range n {
					rows.Weight, rows.Offset = append(rows.Weight, float64(1+i%3)), append(rows.Offset, 0.2*float64(i%4))
					for j := 10; j < p; j++ {
						if (i+j)%3 > 0 {
							rows.X.Row(i)[j] = 0
						}
					}
				}
				of := func(rows *credence.Batch) *credence.Fitted {
					return fitOf(t, must.Value(convex.New(credence.Model{Features: c, Likelihood: l, Prior: w}, convex.Config{Steps: 300}))(t), rows)
				}
				got, want := of(rows), of(padded(rows, 40))
				if a, b := boundOf(got), boundOf(want); !(math.Abs(a-b) <= 1e-6*(1+math.Abs(b))) {
					t.Errorf("%s: bound %.9g, want %.9g", name, a, b)
				}
				for k, v := range got.Report.Hyper {
					if other := want.Report.Hyper[k].Value; !(math.Abs(v.Value-other) <= 1e-3*math.Abs(other)) {
						t.Errorf("%s: %s is %g, want %g", name, v.Name, v.Value, other)
					}
				}
				m1, v1 := marginals(want)
				m2, v2 := marginals(got)
				for j := range m1 {
					if !(math.Abs(m1[j]-m2[j]) <= 1e-3*math.Sqrt(v1[j])) || !(math.Abs(v2[j]/v1[j]-1) <= 1e-3) {
						t.Errorf("%s: weight %d is %g ± %g, want %g ± %g", name, j, m2[j], math.Sqrt(v2[j]), m1[j], math.Sqrt(v1[j]))
					}
				}
			}
		}
	}
}
