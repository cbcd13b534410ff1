package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestGradients takes central differences of the evidence of normal rows in prior variances and
// lengthscales, dense and sparse columns together.
func TestGradients(t *testing.T) {
	data := conform.Regression(likelihood.Poisson{}, 30, 3, 4)
	in := feature.Inputs{Dense: []feature.Input{
		{Column: credence.Column{Name: "a"}}, {Column: credence.Column{Name: "b"}},
		{Column: credence.Column{Name: "c", Kind: credence.Category, Levels: make([]string, 300)}},
	}}
	for i := range in.Dense[2].Levels {
		in.Dense[2].Levels[i] = string(rune('a' + i))
	}
	for i := range 30 {
		data.X.Row(i)[2] = float64(i * 7 % 300)
	}
	random := must.Value((&feature.RandomFourier{Name: "rbf(a, b)", Kernel: feature.RBF, Inputs: []int{0, 1}}).Draw(&in, 4, rand.New(rand.NewPCG(1, 1))))(t)
	set := must.Value(feature.New(in, &feature.Intercept{}, random, &feature.OneHot{Name: "onehot(c)", Input: 2}))(t)
	groups := must.Value(base.Groups("test", set, prior.Normal{}))(t)
	d := set.Weights()
	p := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, likelihood.Poisson{}, data), Features: set, Likelihood: likelihood.Poisson{}, Groups: groups, Dims: d}
	n := &tuner{Newton: newton.New(p), rows: p.Retained(0), h: make([]float64, d), covary: make([]float64, d*d), b: make([]float64, 30), beta: make([]float64, 30)}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range n.b {
		n.b[i], n.beta[i] = rng.NormFloat64(), 0.2+rng.Float64()
	}
	at := &newton.Point{Mean: make([]float64, d), Prior: []float64{100, 0.7, 0.3}, Sites: make([]float64, d*d)}
	gradient := make([]float64, 4)
	evaluate := func(x []float64) float64 {
		at.Prior[1], at.Prior[2] = math.Exp(x[0]), math.Exp(x[1])
		value, ok, err := n.evidence(context.Background(), set.WithHyper([]float64{math.Exp(x[2]), math.Exp(x[3])}), at, gradient[2:])
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return value
	}
	x := []float64{-0.3, -1.2, 0.2, 0.5}
	evaluate(x)
	for k := range 2 {
		gradient[k] = n.PriorSlope(k+1, at.Prior[k+1], at.Mean, at.Psi)
	}
	conform.Gradient(t, x, append([]float64{}, gradient...), evaluate)
}
