package convex_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func fitOf(t *testing.T, engine credence.Engine, rows *credence.Batch) *credence.Fitted {
	t.Helper()
	return must.Value(engine.Fit(context.Background(), conform.Memory{All: rows}))(t)
}

// boundOf is that over everything that was learned.
func boundOf(fitted *credence.Fitted) float64 {
	if bound := fitted.Report.EvidenceBound; bound != nil {
		return *bound
	}
	return math.NaN()
}

func marginals(fitted *credence.Fitted) (mean, variance []float64) {
	q := fitted.Members[0].Posterior
	mean, variance = make([]float64, q.Weights()), make([]float64, q.Weights())
	q.Marginals(mean, variance)
	return mean, variance
}

// TestNormal: with normal targets and a normal prior the bound is the evidence, and Q the posterior.
func TestNormal(t *testing.T) {
	for _, sparse := range []int{0, 3} {
		rows := conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}, 40, 6, 1)
		for i := range rows.Target {
			rows.Weight = append(rows.Weight, float64(1+i%3))
			rows.Offset = append(rows.Offset, 0.1*float64(i%5))
			if sparse > 0 && i%2 == 0 {
				rows.X.Row(i)[5] = 0
			}
		}
		model := credence.Model{
			Features:   conform.Columns{Dense: 6 - sparse, Sparse: sparse, Intercept: true},
			Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}, Prior: prior.Normal{Variance: param.Hold(0.7)},
		}
		want := fitOf(t, must.Value(exact.New(model, exact.Config{}))(t), rows)
		got := fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), rows)
		if !(math.Abs(*got.Report.EvidenceBound-*want.Report.Evidence) <= 1e-8) {
			t.Errorf("bound %.10g, evidence %.10g", *got.Report.EvidenceBound, *want.Report.Evidence)
		}
		m1, v1 := marginals(want)
		m2, v2 := marginals(got)
		for j := range m1 {
			if !(math.Abs(m1[j]-m2[j]) <= 1e-8) || !(math.Abs(v1[j]/v2[j]-1) <= 1e-8) {
				t.Errorf("weight %d is %g ± %g, want %g ± %g", j, m2[j], math.Sqrt(v2[j]), m1[j], math.Sqrt(v1[j]))
			}
		}
		const draws = 4000
		m2, v2 = marginals(fitOf(t, must.Value(convex.New(model, convex.Config{Variances: convex.Sampled, K: draws}))(t), rows))
		for j := range m1 { // five standard errors of a variance; means end at a hundredth of a standard deviation
			if !(math.Abs(m1[j]-m2[j]) <= 0.05*math.Sqrt(v1[j])) || !(math.Abs(v2[j]/v1[j]-1) <= 5*math.Sqrt(2./draws)) {
				t.Errorf("by draws weight %d is %g ± %g, want %g ± %g", j, m2[j], math.Sqrt(v2[j]), m1[j], math.Sqrt(v1[j]))
			}
		}
	}
}

func classes(n, p int) *credence.Batch { return conform.Regression(likelihood.Bernoulli{}, n, p, 3) }

// TestForms: draws agree with exact variances within their own error, for every prior.
func TestForms(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	rows := classes(120, 5)
	for _, p := range []credence.Prior{prior.Normal{Variance: param.Hold(1)}, prior.Laplace{Scale: param.Hold(0.5)}, prior.StudentT{Scale: param.Hold(0.5)}} {
		model := credence.Model{Features: conform.Columns{Dense: 3, Sparse: 2, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: p}
		want := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: convex.Exact}))(t), rows)
		got := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: convex.Sampled, K: 1600, Steps: 8}))(t), rows)
		m1, v1 := marginals(want)
		m2, v2 := marginals(got)
		for j := range m1 {
			if !(math.Abs(m1[j]-m2[j]) <= 0.1*math.Sqrt(v1[j])) || !(math.Abs(v2[j]/v1[j]-1) <= 0.3) {
				t.Errorf("%v: weight %d is %g ± %g by draws, %g ± %g exactly", p, j, m2[j], math.Sqrt(v2[j]), m1[j], math.Sqrt(v1[j]))
			}
		}
		if mean, _ := marginals(fitOf(t, must.Value(convex.New(model, convex.Config{Variances: convex.LanczosMethod, K: 6, Steps: 40}))(t), rows)); !(math.Abs(mean[1]-m1[1]) <= 0.05*math.Sqrt(v1[1])) {
			t.Errorf("%v: weight 1 is %g by Lanczos, %g exactly", p, mean[1], m1[1])
		}
	}
}

// TestLearned: the scales that are learned raise the bound above that of scales nearby.
func TestLearned(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	rows := classes(150, 6)
	features := conform.Columns{Dense: 6, Intercept: true}
	for _, c := range []struct {
		learned credence.Prior
		at      func(factor, value float64) credence.Prior
		value   func(p credence.Prior) float64
	}{
		{prior.Normal{}, func(f, v float64) credence.Prior { return prior.Normal{Variance: param.Hold(f * v)} },
			func(p credence.Prior) float64 { return p.(prior.Normal).Variances[1] }},
		{prior.Laplace{}, func(f, v float64) credence.Prior { return prior.Laplace{Scale: param.Hold(f * v)} },
			func(p credence.Prior) float64 { return p.(prior.Laplace).Scale.Value }},
		{prior.StudentT{}, func(f, v float64) credence.Prior { return prior.StudentT{Scale: param.Hold(f * v)} },
			func(p credence.Prior) float64 { return p.(prior.StudentT).Scale.Value }},
	} {
		bound := func(p credence.Prior) (float64, credence.Prior) {
			fitted := fitOf(t, must.Value(convex.New(credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: p}, convex.Config{Hyper: "ml", Steps: 1000}))(t), rows)
			return *fitted.Report.EvidenceBound, fitted.Members[0].Model.Prior
		}
		best, p := bound(c.learned)
		value := c.value(p)
		for _, factor := range []float64{0.8, 1.25} {
			if other, _ := bound(c.at(factor, value)); other > best+1e-4 {
				t.Errorf("%v: bound %.6f at %g, and %.6f at %g times that", c.learned, best, value, other, factor)
			}
		}
	}
}

// TestStart: a fit that goes on from one of fewer rows reaches the same optimum, nearly so in one
// step, and one that goes on from itself does not move.
func TestStart(t *testing.T) {
	few, all := conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 290, 5, 3), conform.Regression(likelihood.Bernoulli{Link: likelihood.Logit}, 300, 5, 3)
	for name, p := range map[string]credence.Prior{
		"normal": prior.Normal{Variance: param.Hold(1)}, "laplace": prior.Laplace{Scale: param.Hold(0.5)},
	} {
		model := credence.Model{Features: conform.Columns{Dense: 5, Intercept: true}, Likelihood: likelihood.Bernoulli{Link: likelihood.Logit}, Prior: p}
		fit := func(rows *credence.Batch, config convex.Config) *credence.Fitted {
			return fitOf(t, must.Value(convex.New(model, config))(t), rows)
		}
		before, want := fit(few, convex.Config{}), fit(all, convex.Config{})
		gap := func(got *credence.Fitted) (gap float64) {
			m1, v1 := marginals(want)
			m2, v2 := marginals(got)
			for j := range m1 {
				gap = max(gap, math.Abs(m1[j]-m2[j])/math.Sqrt(v1[j]), math.Abs(v1[j]-v2[j])/v1[j])
			}
			return gap
		}
		if g := gap(fit(all, convex.Config{Start: before})); g > 1e-4 {
			t.Errorf("%s: from another fit the optimum is off by %v", name, g)
		}
		if warm, cold := gap(fit(all, convex.Config{Start: before, Steps: 1})), gap(fit(all, convex.Config{Steps: 1})); !(warm < 0.02 && warm < cold/5) {
			t.Errorf("%s: one step from another fit is off by %v, from nothing by %v", name, warm, cold)
		}
		if g := gap(fit(all, convex.Config{Start: want, Steps: 1})); g > 1e-4 {
			t.Errorf("%s: one step from the optimum moves by %v", name, g)
		}
		model.Features = conform.Columns{Dense: 5}
		if _, err := convex.New(model, convex.Config{Start: before}); err == nil {
			t.Errorf("%s: a start of other weights is taken", name)
		}
	}
	// Numbers have units of their own.
	numbers := conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}, 80, 5, 3)
	for i := range numbers.Target {
		numbers.X.Row(i)[2] += 4 // columns have means, too
		numbers.Target[i] = 30 + 7*numbers.Target[i]
	}
	model := credence.Model{Features: conform.Columns{Dense: 5, Intercept: true}, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(20)}, Prior: prior.Laplace{Scale: param.Hold(3)}}
	want := fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), numbers)
	got := fitOf(t, must.Value(convex.New(model, convex.Config{Start: want, Steps: 1}))(t), numbers)
	m1, v1 := marginals(want)
	m2, v2 := marginals(got)
	for j := range m1 {
		if !(math.Abs(m1[j]-m2[j]) <= 1e-4*math.Sqrt(v1[j])) || !(math.Abs(v1[j]-v2[j]) <= 1e-3*v1[j]) {
			t.Errorf("numbers: weight %d moves from N(%v, %v) to N(%v, %v)", j, m1[j], v1[j], m2[j], v2[j])
		}
	}
}

// TestRest: where means rest from some loop on to the last digit, as those of numbers under a normal prior do, a fit by
// draws ends when what is learned rests too.
func TestRest(t *testing.T) {
	model := credence.Model{Features: conform.Columns{Dense: 4, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
	for _, way := range []convex.Variances{convex.Sampled, convex.LanczosMethod} {
		for seed := range uint64(6) {
			engine := must.Value(convex.New(model, convex.Config{Variances: way, Steps: 40}))(t)
			rows := conform.Regression(likelihood.Gaussian{}, 150, 4, seed)
			for i := range rows.Target { // weak, so that the prior is learned slowly
				rows.Target[i] += 5 * math.Sin(float64(i*i))
			}
			if got := fitOf(t, engine, rows).Report; got.Status != credence.Converged {
				t.Errorf("%s, seed %d: %s after %d loops", way, seed, got.Status, got.Iterations)
			}
		}
	}
}

// TestStatus: a fit that ends before its means rest says so, whether its bound is known or not.
func TestStatus(t *testing.T) {
	rows := classes(120, 5)
	model := credence.Model{Features: conform.Columns{Dense: 5, Intercept: true}, Likelihood: likelihood.Bernoulli{}}
	for _, way := range []convex.Variances{convex.Exact, convex.Sampled} {
		// A scale that is learned moved in the last step, too, and the posterior is that of before.
		model.Prior = prior.Laplace{}
		learned := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: way, Steps: 1}))(t), rows)
		if _, variance := marginals(learned); learned.Report.Status != credence.IterationLimit || !(variance[1] > 0) {
			t.Errorf("%s: a variance of %v after 1 step, %s", way, variance[1], learned.Report.Status)
		}
		if bound := learned.Report.EvidenceBoundMode; way == convex.Exact && bound == nil {
			t.Error("no bound after 1 step")
		}
		model.Prior = prior.Laplace{Scale: param.Hold(0.3)}
		for steps, want := range map[int]credence.Status{1: credence.IterationLimit, 200: credence.Converged} {
			r := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: way, Steps: steps}))(t), rows).Report
			if r.Status != want || want == credence.IterationLimit && len(r.Warnings) == 0 || r.Hyperparameters != "held" {
				t.Errorf("%s, %d steps: %s, %q, %q", way, steps, r.Status, r.Warnings, r.Hyperparameters)
			}
		}
	}
}

// A fit that ends at its limit of steps has the posterior, and variances that are positive, of the values
// that it reports, in every form.
func TestLimitWhileLearning(t *testing.T) {
	rows := classes(60, 4)
	model := credence.Model{Features: conform.Columns{Dense: 4, Intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: prior.Normal{}}
	for _, way := range []convex.Variances{convex.Exact, "lanczos", convex.Sampled} {
		fitted := fitOf(t, must.Value(convex.New(model, convex.Config{Variances: way, Steps: 1}))(t), rows)
		if _, variance := marginals(fitted); slices.ContainsFunc(variance, func(v float64) bool { return !(v > 0) }) {
			t.Errorf("%s: variances %v", way, variance)
		}
		learned, ok := fitted.Members[0].Model.Prior.(prior.Normal)
		if !ok || fitted.Report.Status != credence.IterationLimit {
			t.Fatalf("%s: %v", way, fitted.Report.Status)
		}
		// The same values held give the same posterior.
		held := model
		held.Prior = prior.Normal{Variance: param.Hold(learned.Variances[1])}
		got, _ := marginals(fitOf(t, must.Value(convex.New(held, convex.Config{Variances: way, Steps: 1}))(t), rows))
		want, _ := marginals(fitted)
		for j := range got {
			if !(math.Abs(got[j]-want[j]) <= 1e-6) {
				t.Errorf("%s: weight %d is %v, and %v with the same values held", way, j, want[j], got[j])
			}
		}
	}
}

// TestNumbers: of normal targets and weights noise and scale are learned as package exact does at the mode, by draws
// nearly so; and a Student-t prior of many degrees of freedom is a normal one.
func TestNumbers(t *testing.T) {
	rows := conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(0.4)}, 60, 4, 3)
	for i := range rows.Target {
		rows.Target[i] *= 3
		rows.Weight = append(rows.Weight, float64(1+i%2))
	}
	model := credence.Model{Features: conform.Columns{Dense: 4, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
	values := func(f *credence.Fitted) [2]float64 {
		m := f.Members[0].Model
		return [2]float64{m.Likelihood.(likelihood.Gaussian).NoiseVariance.Value, m.Prior.(prior.Normal).Variances[1]}
	}
	want := values(fitOf(t, must.Value(exact.New(model, exact.Config{Hyper: param.Mode}))(t), rows))
	for way, tolerance := range map[convex.Variances]float64{convex.Exact: 1e-3, convex.Sampled: 0.05} {
		got := values(fitOf(t, must.Value(convex.New(model, convex.Config{Hyper: param.Mode, Variances: way, K: 400, Steps: 100}))(t), rows))
		for k, v := range got {
			if !(math.Abs(v/want[k]-1) <= tolerance) {
				t.Errorf("%s: noise and prior variance are %v, want %v", way, got, want)
			}
		}
	}
	model.Likelihood, model.Prior = likelihood.Gaussian{NoiseVariance: param.Hold(3)}, prior.Normal{Variance: param.Hold(2)}
	m1, v1 := marginals(fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), rows))
	model.Prior = prior.StudentT{DF: 1e7, Scale: param.Hold(math.Sqrt2)}
	m2, v2 := marginals(fitOf(t, must.Value(convex.New(model, convex.Config{}))(t), rows))
	for j := range m1 {
		if !(math.Abs(m1[j]-m2[j]) <= 1e-4*math.Sqrt(v1[j])) || !(math.Abs(v2[j]/v1[j]-1) <= 1e-4) {
			t.Errorf("weight %d is N(%v, %v) under a Student t, N(%v, %v) under a normal prior", j, m2[j], v2[j], m1[j], v1[j])
		}
	}
}
