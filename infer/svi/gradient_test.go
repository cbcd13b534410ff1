package svi

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// inputsOf are p numeric inputs.
func inputsOf(p int) feature.Inputs {
	var in feature.Inputs
	for j := range p {
		in.Dense = append(in.Dense, feature.Input{Column: credence.Column{Name: string(rune('a' + j))}})
	}
	return in
}

// fourier is an intercept and n random frequencies of p inputs with lengthscales to learn.
func fourier(t testing.TB, p, n int, ard bool) *feature.Set {
	t.Helper()
	in := inputsOf(p)
	term := &feature.RandomFourier{Name: "rbf(.)", Kernel: feature.RBF}
	for j := range p {
		term.Inputs = append(term.Inputs, j)
	}
	term.Lengthscale.Shared = !ard
	drawn, err := term.Draw(&in, n, rand.New(rand.NewPCG(7, 7)))
	if err != nil {
		t.Fatal(err)
	}
	set, err := feature.New(in, &feature.Intercept{}, drawn)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// newFit is a fit before its first step.
func newFit(t testing.TB, model credence.Model, cfg Config, data credence.Data) *fit {
	t.Helper()
	e, err := New(model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &fit{Engine: e, ws: credence.NewWorkspace(0), data: data, features: model.Features, groups: e.groups(), d: model.Features.Weights()}
}

// differences compares a gradient with central differences: 1e-6 of the largest slope, which is
// above the rounding of the value over the step, 1e-13·10³/1e-5, and the curvature's share.
func differences(t *testing.T, x, gradient []float64, value func(x []float64) float64) {
	t.Helper()
	largest := 0.0
	for _, g := range gradient {
		largest = math.Max(largest, math.Abs(g))
	}
	for i := range x {
		const h = 1e-5
		at := x[i]
		x[i] = at + h
		up := value(x)
		x[i] = at - h
		down := value(x)
		x[i] = at
		if want := (up - down) / (2 * h); math.Abs(gradient[i]-want) > 1e-6*largest+1e-6 {
			t.Errorf("slope in variable %d of %d is %.9g, by differences %.9g", i, len(x), gradient[i], want)
		}
	}
}

// TestMixtureGradients takes central differences of the bound in all variables at
// once: means, log variances, likelihood parameters and log lengthscales, with held
// and learned prior variances, weights and an offset.
func TestMixtureGradients(t *testing.T) {
	for _, lik := range []credence.Likelihood{likelihood.Bernoulli{}, likelihood.NegativeBinomial{}, likelihood.Gaussian{}, likelihood.OrdinalGrades(3)} {
		for _, prior := range []credence.Prior{normal, held(0.8)} {
			data := draw(t, lik, 40, 2, 11)
			data.weight, data.offset = make([]float64, 40), make([]float64, 40)
			for i := range 40 {
				data.weight[i], data.offset[i] = 0.5+float64(i%2), 0.1*float64(i%5)
			}
			set := fourier(t, 2, 3, true)
			r := newFit(t, credence.Model{Features: set, Likelihood: lik, Prior: prior}, Config{Components: 3}, data)
			s, err := r.starting(context.Background(), r.open(0), r.groups)
			if err != nil {
				t.Fatal(err)
			}
			q := newMixture(r, 3, s.references, s.family)
			q.tune(set)
			rng := rand.New(rand.NewPCG(3, 4))
			x, gradient := make([]float64, q.size()), make([]float64, q.size())
			for i := range x {
				x[i] = 0.5 * rng.NormFloat64()
			}
			evaluate := func(x, gradient []float64) float64 {
				v, err := q.evaluate(context.Background(), r.open(0), gradient, x)
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			evaluate(x, gradient)
			differences(t, x, gradient, func(x []float64) float64 { return evaluate(x, make([]float64, len(x))) })
		}
	}
}

// TestTunerGradients takes central differences of the evidence of normal rows in
// prior variances and lengthscales, dense and sparse columns together.
func TestTunerGradients(t *testing.T) {
	data := draw(t, likelihood.Poisson{}, 30, 3, 4)
	in := inputsOf(2)
	in.Dense = append(in.Dense, feature.Input{Column: credence.Column{Name: "c", Kind: credence.Category, Levels: make([]string, 300)}})
	for i := range in.Dense[2].Levels {
		in.Dense[2].Levels[i] = string(rune('a' + i))
	}
	for i := range 30 {
		data.x.Row(i)[2] = float64(i * 7 % 300)
	}
	random, err := (&feature.RandomFourier{Name: "rbf(a, b)", Kernel: feature.RBF, Inputs: []int{0, 1}}).Draw(&in, 4, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	set, err := feature.New(in, &feature.Intercept{}, random, &feature.OneHot{Name: "onehot(c)", Input: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := newFit(t, credence.Model{Features: set, Likelihood: likelihood.Poisson{}, Prior: normal}, Config{Covariance: Full}, data)
	tunable, learned := learnedHypers(set)
	n := &tuner{newton: newNewton(r.ws, r.d, r.groups), fit: r, tunable: tunable, hypers: learned, h: make([]float64, r.d), covary: make([]float64, r.d*r.d)}
	n.table = newTable(data, r.ws, set, r.likelihood, 0, true)
	n.b, n.beta = make([]float64, 30), make([]float64, 30)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range n.b {
		n.b[i], n.beta[i] = rng.NormFloat64(), 0.2+rng.Float64()
	}
	at := &point{Mean: make([]float64, r.d), Prior: []float64{100, 0.7, 0.3}, Sites: make([]float64, r.d*r.d)}
	pull := make([]float64, len(tunable.Hyper()))
	evaluate := func(x []float64) float64 {
		at.Prior[1], at.Prior[2] = math.Exp(x[0]), math.Exp(x[1])
		value, ok, err := n.evidence(context.Background(), tunable.WithHyper([]float64{math.Exp(x[2]), math.Exp(x[3])}), at, pull)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		return value
	}
	x := []float64{-0.3, -1.2, 0.2, 0.5}
	evaluate(x)
	gradient := make([]float64, 2)
	for k := range gradient {
		g := r.groups[k+1]
		for j := g.first; j < g.first+g.count; j++ {
			gradient[k] += ((at.psi[j]+at.Mean[j]*at.Mean[j])/at.Prior[k+1] - 1) / 2
		}
	}
	differences(t, x, append(gradient, pull...), evaluate)
}

// TestSamplerIsUnbiased: over many minibatches' worth of draws, sampled gradients agree with
// integrals over f within five standard errors, those of lengthscales too.
func TestSamplerIsUnbiased(t *testing.T) {
	for _, features := range []credence.Features{plain{p: 3, sparse: 1}, fourier(t, 3, 4, true)} {
		samplerIsUnbiased(t, features)
	}
}

func samplerIsUnbiased(t *testing.T, features credence.Features) {
	t.Helper()
	lik := likelihood.NegativeBinomial{}
	data := draw(t, lik, 50, 3, 2)
	data.weight = make([]float64, 50)
	for i := range 50 {
		data.weight[i] = float64(i % 3)
	}
	r := newFit(t, credence.Model{Features: features, Likelihood: lik, Prior: held(1)}, Config{Components: 2}, data)
	s, err := r.starting(context.Background(), r.open(0), r.groups)
	if err != nil {
		t.Fatal(err)
	}
	q := newMixture(r, 2, s.references, s.family)
	q.tune(features)
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, q.size())
	for i := range x {
		x[i] = 0.3 * rng.NormFloat64()
	}
	table := r.open(0)
	table.moving = true // Pullback needs the batches
	b, err := table.at(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, len(x))
	q.begin(x)
	q.add(b, x, 7, nil, r.features)
	wantBound := q.finish(want, x)
	const repeats = 400
	mean, square := make([]float64, len(x)+1), make([]float64, len(x)+1)
	for i := range repeats {
		got := make([]float64, len(x)+1)
		q.begin(x)
		q.add(b, x, 7, &sampler{draws: 10, rng: credence.Rand(1, "test", uint64(i))}, r.features)
		got[len(x)] = q.finish(got[:len(x)], x)
		for j, v := range got {
			gap := v - mean[j]
			mean[j] += gap / float64(i+1)
			square[j] += gap * (v - mean[j])
		}
	}
	for j, m := range mean {
		w := wantBound
		if j < len(x) {
			w = want[j]
		}
		if se := math.Sqrt(square[j]) / repeats; math.Abs(m-w) > 5*se+1e-9 {
			t.Errorf("variable %d: sampled slope %g ± %g, integrated %g", j, m, se, w)
		}
	}
}

// TestRowScale: with the factor N/M, gradients of minibatches that partition the rows
// average to that of all rows, for equal sizes exactly (rounding).
func TestRowScale(t *testing.T) {
	if rowScale(1000, 50) != 20 {
		t.Errorf("N/M of 1000 and 50 is %g", rowScale(1000, 50))
	}
	data := draw(t, likelihood.Bernoulli{}, 60, 3, 2)
	r := newFit(t, credence.Model{Features: plain{p: 3}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}, Config{Batch: 12}, data)
	s, err := r.starting(context.Background(), r.open(0), r.groups)
	if err != nil {
		t.Fatal(err)
	}
	q := newMixture(r, 1, s.references, s.family)
	x := []float64{0.3, -0.2, 0.1, -1, -2, -1.5}
	want := make([]float64, len(x))
	bound, err := q.evaluate(context.Background(), r.open(0), want, x)
	if err != nil {
		t.Fatal(err)
	}
	feed := newFeed(r)
	feed.shuffle(3)
	sum, total, batches := make([]float64, len(x)), 0.0, 0
	seen := map[float64]int{}
	for feed.more() {
		b, err := feed.next(context.Background(), r.features)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.rows {
			seen[b.phi.Dense.Row(i)[0]]++
		}
		q.begin(x)
		q.add(b, x, rowScale(feed.rows, b.rows), nil, r.features)
		got := make([]float64, len(x))
		total += q.finish(got, x)
		for j, v := range got {
			sum[j] += v
		}
		batches++
	}
	if batches != 5 || len(seen) != 60 {
		t.Errorf("%d minibatches show %d rows, want 5 and 60", batches, len(seen))
	}
	closeTo(t, "mean bound", total/5, bound, 1e-10)
	for j := range sum {
		closeTo(t, "mean slope", sum[j]/5, want[j], 1e-10)
	}
}

// TestEntropyBound compares with the two-component entropy by quadrature: the bound is
// below, and exactly (d/2)(1 − log 2) below for one component.
func TestEntropyBound(t *testing.T) {
	r := newFit(t, credence.Model{Features: plain{p: 1}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}, Config{Components: 2}, &memory{x: linop.NewDense(1, 1), y: []float64{1}})
	q := newMixture(r, 2, []reference{{1, 1}}, newFamily(likelihood.Bernoulli{}))
	for _, gap := range []float64{0, 0.5, 2, 10} {
		x := []float64{0, math.Log(0.5), gap, math.Log(2)}
		q.begin(x)
		bound := q.entropyBound(make([]float64, 4), x)
		truth, step := 0.0, 1e-3
		for w := -12.0; w < 12+gap+12; w += step {
			l := q.logDensity(x, []float64{w})
			truth -= math.Exp(l) * l * step
		}
		estimate, se := q.entropy(x, 4000, rand.New(rand.NewPCG(1, 1)))
		if bound > truth {
			t.Errorf("gap %g: bound %g is above the entropy %g", gap, bound, truth)
		}
		if math.Abs(estimate-truth) > 5*se {
			t.Errorf("gap %g: estimate %g ± %g, truth %g", gap, estimate, se, truth)
		}
	}
	one := newMixture(r, 1, []reference{{1, 1}}, newFamily(likelihood.Bernoulli{}))
	x := []float64{0.4, math.Log(0.3)}
	one.begin(x)
	exact, _ := one.entropy(x, 0, nil)
	closeTo(t, "bound below the entropy of a normal", exact-one.entropyBound(make([]float64, 2), x), 0.5*(1-math.Ln2), 1e-12)
}
