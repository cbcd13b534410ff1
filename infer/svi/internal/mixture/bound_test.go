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
	for _, lik := range []problem.Likelihood{likelihood.Bernoulli{}, likelihood.NegativeBinomial{}, likelihood.Gaussian{}, likelihood.OrdinalGrades(3), learnedGrades(4), likelihood.StudentT{}} {
		for _, p := range []prior.Normal{{}, {Variance: param.Parameter{Value: 0.8, State: param.Held}}} {
			if _, dear := lik.(likelihood.StudentT); dear && p.Variance.State == param.Held {
				continue
			}
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
			if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%T: without rows the bound is %v, want %v", lik, got, want)
			}
			q.Intercept, q.Lower, q.Upper = intercept, q.Lower[:q.Base.Count()], q.Upper[:q.Base.Count()]
			q.Tune()
			evaluate(x, gradient)
			conform.Gradient(t, x, gradient, func(x []float64) float64 { return evaluate(x, make([]float64, len(x))) })
		}
	}
}

// learnedGrades is an ordinal family whose cutpoints are learned.
func learnedGrades(grades int) likelihood.Ordinal {
	l := likelihood.OrdinalGrades(grades)
	l.Cutpoints.State = param.Guess
	return l
}

// TestELBOIsTheMeanLogWeight: the bound that is reported is the mean of the logarithms of importance weights, at prior
// variances that are learned, whose own density is no part of it, as it is of the bound that is climbed.
func TestELBOIsTheMeanLogWeight(t *testing.T) {
	data := conform.Regression(likelihood.Poisson{}, 40, 2, 11)
	for i := range 40 {
		data.Weight, data.Offset = append(data.Weight, 0.5+float64(i%2)), append(data.Offset, 0.1*float64(i%5))
	}
	features := conform.Columns{Dense: 2, Intercept: true}
	groups := must.Value(base.Groups("test", features, prior.Normal{}))(t)
	pr := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, likelihood.Poisson{}, data), Features: features, Likelihood: likelihood.Poisson{}, Groups: groups, Dims: 3}
	q := NewBound(pr, 2, must.Value(pr.Start(context.Background(), pr.Rows(0), pr.Rows(0)))(t).Family)
	x := make([]float64, q.Size())
	for k := range 2 {
		m, logs := q.Component(x, k)
		copy(m, []float64{0.2 + 0.2*float64(k), 0.3, -0.5})
		copy(logs, []float64{-3, -2.5 - float64(k), -3})
	}
	elbo, se, lower, err := q.ELBO(context.Background(), x, rand.New(rand.NewPCG(1, 2)))
	must.Succeed(t, err)
	logs := must.Value(q.LogWeights(context.Background(), x, rand.New(rand.NewPCG(3, 4)), 20_000))(t)
	mean, square := 0.0, 0.0
	for i, v := range logs {
		gap := v - mean
		mean += gap / float64(i+1)
		square += gap * (v - mean)
	}
	if own := math.Sqrt(square) / float64(len(logs)); !(math.Abs(elbo-mean) < 4*math.Hypot(own, se)) || !(own < 0.05) || !(lower < elbo && elbo-lower < 2) {
		t.Errorf("the bound is %v ± %v, at least %v, the mean of the log weights %v ± %v", elbo, se, lower, mean, own)
	}
	if density := q.HyperDensity(x); !(math.Abs(density) > 0.5) {
		t.Errorf("the log density of the prior variances is %v, next to nothing", density)
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
		if !(math.Abs(estimate-truth) <= 5*se) {
			t.Errorf("gap %g: estimate %g ± %g, truth %g", gap, estimate, se, truth)
		}
	}
	one := NewBound(pr, 1, family)
	x := []float64{0.4, math.Log(0.3)}
	one.Begin(x)
	exact, _ := one.entropy(x, 0, nil)
	if got, want := exact-one.entropyBound(make([]float64, 2), x), 0.5*(1-math.Ln2); !(math.Abs(got-want) <= 1e-12) {
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

// TestLogWeightsOfTheExactPosterior: of columns that have nothing in common the posterior of a gaussian family is one
// of independent weights, and so is a mixture of components that are all it: every importance weight is then the
// evidence, in logarithms, and so is the bound, also of several components, whose entropy is that of one. Components
// elsewhere have weights whose mean is the evidence. Rows have weights, offsets and precisions.
func TestLogWeightsOfTheExactPosterior(t *testing.T) {
	const noise = 0.7
	rows := &credence.Batch{X: linop.Dense{Rows: 5, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 2, -3, 0, 0.5, 0, 0, 1.5}}, Target: []float64{1, 2, -1, 0.3, 4}, Offset: []float64{0.5, 0, 1, -1, 0}, Weight: []float64{1, 2, 1, 0, 3}, Precision: []float64{1, 0.5, 2, 1, 4}}
	rows.Sparse.Reset(0)
	for range 5 {
		rows.Sparse.AppendRow(nil, nil)
	}
	lik := likelihood.Gaussian{NoiseVariance: param.Hold(noise)}
	mean, variance, evidence := make([]float64, 2), make([]float64, 2), 0.0
	for j := range 2 {
		precision, pull := 1.0, 0.0
		for i, y := range rows.Target {
			x := rows.X.Row(i)[j]
			w := rows.Weight[i] * rows.Precision[i] / noise
			precision, pull = precision+w*x*x, pull+w*x*(y-rows.Offset[i])
		}
		mean[j], variance[j] = pull/precision, 1/precision
		evidence += (math.Log(variance[j]) + pull*mean[j]) / 2
	}
	for i, y := range rows.Target {
		own := noise / rows.Precision[i]
		evidence -= rows.Weight[i] * (math.Log(2*math.Pi*own) + (y-rows.Offset[i])*(y-rows.Offset[i])/own) / 2
	}
	for _, c := range []struct {
		components int
		apart      float64
	}{{1, 0}, {3, 0}, {3, 0.5}} {
		q := bound(t, rows, conform.Columns{Dense: 2}, lik, c.components)
		x := make([]float64, q.Size())
		for k := range c.components {
			m, logs := q.Component(x, k)
			for j := range m {
				m[j], logs[j] = mean[j]+c.apart*float64(k-1)*math.Sqrt(variance[j]), math.Log(variance[j])+c.apart*float64(k)
			}
		}
		elbo, se, lower, err := q.ELBO(context.Background(), x, rand.New(rand.NewPCG(1, 2)))
		must.Succeed(t, err)
		logs := must.Value(q.LogWeights(context.Background(), x, rand.New(rand.NewPCG(3, 4)), 3001))(t)
		if len(logs) != 3001/c.components*c.components {
			t.Errorf("%+v: %d weights", c, len(logs))
		}
		sum, square := 0.0, 0.0
		for _, v := range logs {
			share := math.Exp(v - evidence)
			if sum, square = sum+share, square+share*share; c.apart == 0 && !(math.Abs(v-evidence) <= 1e-9) {
				t.Fatalf("%+v: a log weight is %v, the evidence %v", c, v, evidence)
			}
		}
		n := float64(len(logs))
		if spread := math.Sqrt(math.Max(0, square/n-sum/n*sum/n)); !(math.Abs(sum/n-1) <= 4*spread/math.Sqrt(n)+1e-9) {
			t.Errorf("%+v: the mean of the weights is %v ± %v of the evidence", c, sum/n, spread/math.Sqrt(n))
		}
		if gap := elbo - evidence; c.apart == 0 && !(math.Abs(gap) <= 4*se+1e-9) || c.apart > 0 && !(gap < -4*se && lower < elbo) {
			t.Errorf("%+v: the bound is %v ± %v and %v, the evidence %v", c, elbo, se, lower, evidence)
		}
		v, m := q.Moments(x)
		members := q.Posterior(x)
		want := make([]float64, 4)
		for k := range c.components {
			of, logs := q.Component(x, k)
			for j, m := range of {
				want[j] += m / float64(c.components)
				want[2+j] += (math.Exp(logs[j]) + m*m) / float64(c.components)
			}
		}
		own, spread := make([]float64, 2), make([]float64, 2)
		members.Marginals(own, spread)
		for j := range 2 {
			want[2+j] -= want[j] * want[j]
			for what, got := range map[string][2]float64{"moments": {m[j], v[j]}, "the posterior": {own[j], spread[j]}} {
				if !(math.Abs(got[0]-want[j]) <= 1e-12) || !(math.Abs(got[1]-want[2+j]) <= 1e-12) {
					t.Errorf("%+v, %s: weight %d has %v, want %v and %v", c, what, j, got, want[j], want[2+j])
				}
			}
		}
	}
}

// TestInitialVariances: one component begins at the starting values, with the variance of each weight by the curvature
// of all rows there, some standing for more; of rows that are all alike those some tell the same.
func TestInitialVariances(t *testing.T) {
	const rows = 20_000
	data := &credence.Batch{X: linop.NewDense(rows, 2)}
	for i := range rows {
		copy(data.X.Row(i), []float64{0.5, -2})
		data.Target, data.Weight, data.Offset = append(data.Target, 3), append(data.Weight, 0.25), append(data.Offset, 0.2)
	}
	data.Sparse.Reset(0)
	for range rows {
		data.Sparse.AppendRow(nil, nil)
	}
	unit := prior.Normal{Variance: param.Hold(0.4)}
	features := conform.Columns{Dense: 2}
	groups := must.Value(base.Groups("test", features, unit))(t)
	pr := &problem.Problem{Workspace: credence.NewWorkspace(1), Data: conform.Opened(t, likelihood.Poisson{}, data), Features: features, Likelihood: likelihood.Poisson{}, Prior: unit, Groups: groups, Dims: 2}
	start := must.Value(pr.Start(context.Background(), pr.Rows(problem.StartRows), pr.Rows(0)))(t)
	copy(start.Mean, []float64{0.3, -0.1})
	f := New(NewBound(pr, 1, start.Family), start, Options{Seed: 1})
	x := must.Value(f.Initial(context.Background()))(t)
	m, logs := f.Component(x, 0)
	for j, by := range []float64{0.5, -2} {
		rate := math.Exp(0.5*0.3 + 2*0.1 + 0.2)
		want := -math.Log(1/0.4 + rows*0.25*rate*by*by)
		if m[j] != start.Mean[j] || !(math.Abs(logs[j]-want) <= 1e-9) {
			t.Errorf("weight %d begins at %v with the log variance %v, want %v and %v", j, m[j], logs[j], start.Mean[j], want)
		}
	}
	c := &stochastic{Fit: f}
	largest := must.Value(c.largestCurvature(context.Background(), pr.Rows(problem.StartRows), x))(t)
	variance := []float64{math.Exp(logs[0]), math.Exp(logs[1])}
	// Two columns that go together: √Ψ(Λ⁻¹ + φφᵀΣβ)√Ψ has nearly the trace of its largest eigenvalue.
	total := 0.0
	rate := rows * 0.25 * math.Exp(0.5*0.3+2*0.1+0.2+(0.25*variance[0]+4*variance[1])/2)
	for j, by := range []float64{0.5, -2} {
		total += variance[j] * (1/0.4 + rate*by*by)
	}
	if !(math.Abs(largest/(1.2*total)-1) < 0.01) {
		t.Errorf("the largest curvature is %v, want %v", largest, 1.2*total)
	}
}
