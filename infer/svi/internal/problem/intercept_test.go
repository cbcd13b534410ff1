package problem

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// TestScales: by hand, where the intercept stands, how wide it may be, and which standard deviation of a
// block is expected, for targets 0, 1, 1, 0 of weights 1, 2, 1, 1 and a column 1, 3, 2, 2 (mean 2.2, variance 0.56).
func TestScales(t *testing.T) {
	const half = 0.5
	for _, c := range []struct {
		lik         Likelihood
		y, offset   []float64
		m, s, b     float64
		noIntercept bool
	}{
		{lik: likelihood.Gaussian{}, m: 0.6, s: math.Sqrt(0.24), b: 0.5},
		{lik: likelihood.Gaussian{}, s: math.Sqrt(0.6), b: 0.5, noIntercept: true},
		{lik: likelihood.Gaussian{}, offset: []float64{5, 5, 5, 5}, m: -4.4, s: math.Sqrt(0.24), b: 0.5},
		{lik: likelihood.StudentT{}, y: []float64{0, 2, 3, 9}, m: 2, s: 1.4826, b: 0.5},
		{lik: likelihood.StudentT{}, y: []float64{0, 2, 3, 9}, s: 1.4826 * 2, b: 0.5, noIntercept: true},
		{lik: likelihood.Poisson{}, m: math.Log((3 + half) / 5), s: 1, b: 0.5},
		{lik: likelihood.NegativeBinomial{}, offset: []float64{600, 600, 600, 600}, m: math.Log((3+half)/5) - 600, s: 1, b: 0.5},
		{lik: likelihood.Gamma{}, y: []float64{1, 2, 2, 1}, m: math.Log(8. / 5), s: 1, b: 0.5},
		{lik: likelihood.Bernoulli{}, m: math.Log(3.5 / 2.5), s: 2.5, b: 1.5},
		{lik: likelihood.Bernoulli{Link: likelihood.Probit}, y: []float64{1, 1, 0, 0}, m: 0.21042839424792467, s: 1.5, b: 1.5},
		{lik: likelihood.Binomial{Trials: 4}, m: math.Log(3.5 / 17.5), s: 2.5, b: 1.5},
		{lik: likelihood.OrdinalGrades(3), s: 2.5, b: 1.5},
	} {
		if c.y == nil {
			c.y = []float64{0, 1, 1, 0}
		}
		rows := &credence.Batch{X: linop.Dense{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 3, 2, 2}}, Target: c.y, Offset: c.offset, Weight: []float64{1, 2, 1, 1}}
		rows.Sparse.Reset(0)
		for range 4 {
			rows.Sparse.AppendRow(nil, nil)
		}
		features := conform.Columns{Dense: 1, Intercept: !c.noIntercept}
		groups := must.Value(base.Groups("test", features, prior.Normal{}))(t)
		p := &Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, c.lik, rows), Features: features, Likelihood: c.lik, Groups: groups, Dims: features.Weights()}
		s := must.Value(p.Start(context.Background(), p.Rows(0), p.Rows(0)))(t)
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
				t.Errorf("%v, %v: %s is %.12g, want %.12g", c.lik, c.y, what, got, want)
			}
		}
		near("s", s.Scale, c.s)
		size := math.Sqrt(0.56)
		if c.noIntercept {
			size = math.Sqrt(0.56 + 2.2*2.2)
		} else {
			near("m", p.Intercept.Mean, c.m)
			near("x̄", p.Intercept.Columns[1], 2.2)
			if !p.Intercept.Fixed {
				near("variance", p.Intercept.Variance, 100*c.s*c.s)
			}
		}
		got := fmt.Sprint(p.Priors.Groups[len(groups)-1])
		block := p.Priors.Groups[len(groups)-1].(hyper.BetaPrime)
		near("a of "+got, block.A, 1)
		near("b of "+got, block.B, c.b)
		near("A of "+got, block.Scale, c.s/size)
	}
}
