package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestGradients takes central differences of the bound in all variables at once: means, log
// variances, likelihood parameters and log lengthscales, with held and learned prior variances,
// weights and an offset.
func TestGradients(t *testing.T) {
	for _, lik := range []problem.Likelihood{likelihood.Bernoulli{}, likelihood.NegativeBinomial{}, likelihood.Gaussian{}, likelihood.OrdinalGrades(3)} {
		for _, p := range []prior.Normal{{}, {Variance: param.Parameter{Value: 0.8, State: param.Held}}} {
			data := conform.Regression(lik.(likelihood.Sampler), 40, 2, 11)
			data.Weight, data.Offset = make([]float64, 40), make([]float64, 40)
			for i := range 40 {
				data.Weight[i], data.Offset[i] = 0.5+float64(i%2), 0.1*float64(i%5)
			}
			set := fourier(t, 2, 3)
			groups := must.Value(base.Groups("test", set, p))(t)
			pr := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, lik, data), Features: set, Likelihood: lik, Prior: p, Groups: groups, Dims: set.Weights()}
			q := NewBound(pr, 3, must.Value(pr.Start(context.Background(), pr.Rows(0), pr.Rows(0)))(t).Family)
			q.Tune()
			rng := rand.New(rand.NewPCG(3, 4))
			x, gradient := make([]float64, q.Size()), make([]float64, q.Size())
			for i := range x {
				x[i] = 0.5 * rng.NormFloat64()
			}
			evaluate := func(x, gradient []float64) float64 {
				return must.Value(q.Evaluate(context.Background(), pr.Rows(0), gradient, x))(t)
			}
			q.Begin(x) // without rows the bound is what prior, entropy and hyper-parameters make of it
			intercept := q.Intercept
			q.Tunable, q.Intercept = nil, nil
			got := q.Finish(make([]float64, len(x)), x)
			want := q.entropyBound(make([]float64, len(x)), x) + q.HyperDensity(x)
			for k := range q.Components {
				mean, logs := q.Component(x, k)
				for j, lambda := range q.WeightPrior {
					want -= (math.Log(2*math.Pi*lambda) + (mean[j]*mean[j]+math.Exp(logs[j]))/lambda) / 2 / float64(q.Components)
				}
			}
			if math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("%T: without rows the bound is %v, want %v", lik, got, want)
			}
			q.Intercept, q.Lower, q.Upper = intercept, q.Lower[:q.Base.Count()], q.Upper[:q.Base.Count()]
			q.Tune()
			evaluate(x, gradient)
			conform.Gradient(t, x, gradient, func(x []float64) float64 { return evaluate(x, make([]float64, len(x))) })
		}
	}
}

// TestEntropyBound compares with the two-component entropy by quadrature: the bound is below, and
// exactly (d/2)(1 − log 2) below for one component. Estimates spread by their standard errors.
func TestEntropyBound(t *testing.T) {
	pr := &problem.Problem{Data: conform.Opened(t, likelihood.Gaussian{}, &credence.Batch{X: linop.NewDense(1, 1), Target: []float64{1}}), Dims: 1}
	family := problem.NewFamily(likelihood.Bernoulli{})
	q := NewBound(pr, 2, family)
	for _, gap := range []float64{0, 0.5, 2, 10} {
		x := []float64{0, math.Log(0.5), gap, math.Log(2)}
		q.Begin(x)
		bound := q.entropyBound(make([]float64, 4), x)
		truth, step := 0.0, 1e-3
		for w := -12.0; w < 12+gap+12; w += step {
			l := q.logDensity(x, []float64{w})
			truth -= math.Exp(l) * l * step
		}
		estimate, se := q.entropy(x, 4000, rand.New(rand.NewPCG(1, 1)))
		spread := 0.0 // of 200 estimates, in standard errors
		for seed := range uint64(200) {
			v, se := q.entropy(x, 50, rand.New(rand.NewPCG(2, seed)))
			spread += (v - truth) * (v - truth) / (se * se) / 200
		}
		if math.Abs(spread-1) > 0.5 { // five standard errors of a sum of squares
			t.Errorf("gap %g: estimates spread %g times as their standard errors say", gap, math.Sqrt(spread))
		}
		if bound > truth {
			t.Errorf("gap %g: bound %g is above the entropy %g", gap, bound, truth)
		}
		if math.Abs(estimate-truth) > 5*se {
			t.Errorf("gap %g: estimate %g ± %g, truth %g", gap, estimate, se, truth)
		}
	}
	one := NewBound(pr, 1, family)
	x := []float64{0.4, math.Log(0.3)}
	one.Begin(x)
	exact, _ := one.entropy(x, 0, nil)
	if got, want := exact-one.entropyBound(make([]float64, 2), x), 0.5*(1-math.Ln2); math.Abs(got-want) > 1e-12 {
		t.Errorf("the bound is %g below the entropy of a normal, want %g", got, want)
	}
}

// fourier returns an intercept and n random frequencies of p inputs, with a lengthscale to learn for
// each input.
func fourier(t testing.TB, p, n int) *feature.Set {
	t.Helper()
	var in feature.Inputs
	term := &feature.RandomFourier{Name: "rbf(.)", Kernel: feature.RBF}
	for j := range p {
		in.Dense = append(in.Dense, feature.Input{Column: credence.Column{Name: string(rune('a' + j))}})
		term.Inputs = append(term.Inputs, j)
	}
	drawn := must.Value(term.Draw(&in, n, rand.New(rand.NewPCG(7, 7))))(t)
	return must.Value(feature.New(in, &feature.Intercept{}, drawn))(t)
}
