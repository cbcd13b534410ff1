package svi

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform/hermite"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// evidence is log ∫ p(y|w) N(w|0, variance I) dw for two weights, by Gauss–Hermite quadrature about
// a full posterior with its axes widened by a half.
func evidence(data *memory, lik credence.Likelihood, variance float64, q *posterior.Full) float64 {
	rule := hermite.New(60)
	const wide = 1.5
	terms := make([]float64, 0, 3600)
	for i, a := range rule.Nodes {
		for j, b := range rule.Nodes {
			w := [2]float64{
				q.Mean[0] + wide*(q.Factor[0]*a+q.Factor[1]*b),
				q.Mean[1] + wide*q.Factor[3]*b,
			}
			sum := math.Log(rule.Weights[i]*rule.Weights[j]) + (a*a+b*b)/2 + math.Log(wide*wide*q.Factor[0]*q.Factor[3]/variance) - (w[0]*w[0]+w[1]*w[1])/(2*variance)
			for r, y := range data.y {
				x := data.x.Row(r)
				sum += lik.LogDensity(y, x[0]*w[0]+x[1]*w[1])
			}
			terms = append(terms, sum)
		}
	}
	return special.LogSumExp(terms)
}

// TestBoundsAreBelowEvidence: on few rows, where posteriors are far from normal, every bound is below
// the evidence by quadrature; the full covariance is closest, and the estimated gap is right within
// a tenth of a nat (importance weights of 1,000 draws).
func TestBoundsAreBelowEvidence(t *testing.T) {
	for _, lik := range []credence.Likelihood{
		likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Poisson{},
		likelihood.Gamma{Shape: param.Hold(0.7)}, likelihood.NegativeBinomial{Size: param.Hold(0.5)}, likelihood.StudentT{DegreesOfFreedom: param.Hold(3), Scale: param.Hold(1)},
		likelihood.Gaussian{NoiseVariance: param.Hold(2)},
	} {
		data := draw(t, lik, 12, 2, 9)
		model := credence.Model{Features: plain{p: 2}, Likelihood: lik, Prior: held(2)}
		full := fitted(t, model, Config{Covariance: Full}, data)
		truth := evidence(data, lik, 2, full.Members[0].Posterior.(*posterior.Full))
		if gap := truth - *full.Report.ELBO; gap < -1e-8*math.Abs(truth) || !(math.Abs(gap-*full.Report.EvidenceGap) <= 0.1) {
			t.Errorf("%v: the bound is %g below the evidence, estimated %g", lik, gap, *full.Report.EvidenceGap)
		} else if k, share := *full.Report.ParetoK, *full.Report.EffectiveShare; full.Report.EvidenceGapLeast == diagnose.Reliable(k, share) {
			t.Errorf("%v: the gap of a full covariance is told as the least: %v, k̂ %g", lik, full.Report.EvidenceGapLeast, k)
		}
		for k := 1; k <= 3; k++ {
			f := fitted(t, model, Config{Components: k}, data)
			se := 0.0
			if f.Report.ELBOStandardError != nil {
				se = *f.Report.ELBOStandardError
			}
			if *f.Report.ELBO > truth+5*se+1e-8 || *f.Report.ELBOBound > *f.Report.ELBO+5*se {
				t.Errorf("%v, K=%d: bound %g, ELBO %g ± %g, evidence %g", lik, k, *f.Report.ELBOBound, *f.Report.ELBO, se, truth)
			}
			if gap := *f.Report.EvidenceGap; !f.Report.EvidenceGapLeast || *f.Report.ELBO+gap > truth+0.1+5*se {
				t.Errorf("%v, K=%d: the evidence %g is told to be above %g by %g, at least: %v", lik, k, truth, *f.Report.ELBO, gap, f.Report.EvidenceGapLeast)
			}
			if k == 1 && *f.Report.ELBO > *full.Report.ELBO+1e-9 {
				t.Errorf("%v: diagonal bound %g above that of the full covariance %g", lik, *f.Report.ELBO, *full.Report.ELBO)
			}
		}
	}
}

// TestComponentsRaiseTheBound: on a correlated logistic regression each further component gains, in
// what is maximised and in the bound with the true entropy (five standard errors of a difference).
func TestComponentsRaiseTheBound(t *testing.T) {
	data := draw(t, likelihood.Bernoulli{}, 80, 2, 3)
	for i := range data.Rows() {
		row := data.x.Row(i)
		row[1] = row[0] + 0.3*row[1]
	}
	model := credence.Model{Features: plain{p: 2}, Likelihood: likelihood.Bernoulli{}, Prior: held(2)}
	var bound, elbo, se []float64
	for k := 1; k <= 3; k++ {
		f := fitted(t, model, Config{Components: k, Starts: 4}, data)
		bound, elbo, se = append(bound, *f.Report.ELBOBound), append(elbo, *f.Report.ELBO), append(se, 0)
		if f.Report.ELBOStandardError != nil {
			se[k-1] = *f.Report.ELBOStandardError
		}
	}
	t.Logf("bounds %.3f, with the true entropy %.3f ± %.3f", bound, elbo, se)
	for k := 1; k < 3; k++ {
		if bound[k] < bound[k-1]+0.01 {
			t.Errorf("K=%d: bound %g after %g", k+1, bound[k], bound[k-1])
		}
		if elbo[k] < elbo[k-1]-5*math.Hypot(se[k], se[k-1]) {
			t.Errorf("K=%d: ELBO %g ± %g after %g", k+1, elbo[k], se[k], elbo[k-1])
		}
	}
	// log K nats are the most that K components can gain on one.
	if elbo[2] > elbo[0]+math.Log(3)+5*se[2] {
		t.Errorf("three components gain %g nats, more than log 3", elbo[2]-elbo[0])
	}
}

// TestTwoModes: a location with heavy-tailed errors and two groups of measurements has two modes, near
// −4 and 4; two components find both and gain log 2.
func TestTwoModes(t *testing.T) {
	data := &memory{x: linop.NewDense(20, 1), y: make([]float64, 20)}
	for i := range 20 {
		data.x.Data[i] = 1
		data.y[i] = 4 + 0.1*math.Sin(float64(i))
		if i%2 == 0 {
			data.y[i] = -data.y[i]
		}
	}
	model := credence.Model{Features: plain{p: 1}, Likelihood: likelihood.StudentT{DegreesOfFreedom: param.Hold(1), Scale: param.Hold(0.3)}, Prior: held(25)}
	one := fitted(t, model, Config{Starts: 6, Seed: 2}, data)
	two := fitted(t, model, Config{Components: 2, Starts: 6, Seed: 2}, data)
	means := two.Members[0].Posterior.(*posterior.Mixture).Means
	if means[0]*means[1] > 0 || !(math.Abs(math.Abs(means[0])-4) <= 0.2) || !(math.Abs(math.Abs(means[1])-4) <= 0.2) {
		t.Errorf("components are at %v", means)
	}
	closeTo(t, "gain", *two.Report.ELBO-*one.Report.ELBO, math.Ln2, 5*(*two.Report.ELBOStandardError)+0.01)
}

func variantData(t *testing.T) (credence.Model, *memory) {
	data := draw(t, likelihood.NegativeBinomial{}, 520, 5, 3)
	return credence.Model{Features: plain{p: 5, sparse: 2, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}, data
}

// TestWarmLevels: starting on a part of the rows changes where a fit begins and not where it ends.
func TestWarmLevels(t *testing.T) {
	lik := likelihood.Poisson{}
	data := draw(t, lik, 2*problem.StartRows+500, 4, 8)
	model := credence.Model{Features: plain{p: 4, intercept: true}, Likelihood: lik, Prior: normal}
	e := must.Value(New(model, Config{Covariance: Full, Tolerance: 1e-8, Hyper: param.MaximumLikelihood}))(t)
	r := newFit(t, model, e.config, data)
	if levels := r.levels(); len(levels) != 2 {
		t.Fatalf("levels are %v", levels)
	}
	got := fitted(t, model, e.config, data)
	s := must.Value(r.Start(context.Background(), r.Rows(0), r.Rows(0)))(t)
	n, at := newton.New(r.Problem), newton.Begin(s)
	if _, _, err := n.Climb(context.Background(), r.Rows(0), at, n.NewStatistics(0), newton.Task{Tolerance: 1e-8, Iterations: 50}); err != nil {
		t.Fatal(err)
	}
	q := got.Members[0].Posterior.(*posterior.Full)
	direct := n.Posterior(at).(*posterior.Full)
	for j, m := range direct.Mean {
		sd := math.Sqrt(kernel.Dot(direct.Factor[j*5:j*5+5], direct.Factor[j*5:j*5+5]))
		closeTo(t, "mean in posterior SDs", q.Mean[j]/sd, m/sd, 1e-5)
	}
	closeTo(t, "bound", *got.Report.ELBO, at.Bound, 1e-9*math.Abs(at.Bound))
}

// TestStochasticReachesTheOptimum: minibatches with every rule end within a fiftieth of a
// posterior standard deviation of the deterministic optimum, variances within 2 %.
func TestStochasticReachesTheOptimum(t *testing.T) {
	lik := likelihood.Bernoulli{}
	data := draw(t, lik, 2000, 5, 3)
	model := credence.Model{Features: plain{p: 5, intercept: true}, Likelihood: lik, Prior: normal}
	want := fitted(t, model, Config{}, data)
	m, v := make([]float64, 6), make([]float64, 6)
	want.Members[0].Posterior.Marginals(m, v)
	rules := []Optimiser{Adam, SGD, AdaGrad, AdaDelta, Momentum}
	for _, rule := range rules {
		for _, estimator := range []Estimator{Marginal, Sample} {
			f := fitted(t, model, Config{Optimiser: rule, Estimator: estimator, Batch: 100}, data)
			got, spread := make([]float64, 6), make([]float64, 6)
			f.Members[0].Posterior.Marginals(got, spread)
			for j := range m {
				if gap := math.Abs(got[j]-m[j]) / math.Sqrt(v[j]); gap > 0.02 {
					t.Errorf("%s, %s: mean %d is %.2f posterior SDs off", rule, estimator, j, gap)
				}
				if ratio := spread[j] / v[j]; !(math.Abs(ratio-1) <= 0.02) {
					t.Errorf("%s, %s: variance %d is off by a factor of %.2f", rule, estimator, j, ratio)
				}
			}
			closeTo(t, fmt.Sprint(rule, " ", estimator, " bound"), *f.Report.ELBO, *want.Report.ELBO, 0.01)
		}
	}
}

func TestWarnings(t *testing.T) {
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}
	base := func() *memory {
		data := draw(t, likelihood.Bernoulli{}, 200, 2, 6)
		return data
	}
	oneClass, zero, separable := base(), base(), base()
	for i := range oneClass.y {
		oneClass.y[i] = 1
		zero.x.Row(i)[1] = 0
		separable.y[i] = 0
		if separable.x.Row(i)[0] > 0 {
			separable.y[i] = 1
		}
		separable.x.Row(i)[0] += separable.y[i] - 0.5
	}
	correlated := base()
	for i := range correlated.y {
		correlated.x.Row(i)[1] = correlated.x.Row(i)[0] + 0.2*correlated.x.Row(i)[1]
	}
	for _, c := range []struct {
		name string
		data *memory
		cfg  Config
		want string
	}{
		{"one class", oneClass, Config{Covariance: Full}, "every target is 1"},
		{"one class", oneClass, Config{}, "every target is 1"},
		{"zero column", zero, Config{Covariance: Full}, "the feature column linear.2 is zero in every row: its weight keeps its prior"},
		{"zero column", zero, Config{}, "the feature column linear.2 is zero in every row"},
		{"separable", separable, Config{Covariance: Full}, "the classes are perfectly separable"},
		{"separable", separable, Config{}, "the classes are perfectly separable"},
		{"correlated", correlated, Config{}, "state covariance=full"},
	} {
		f := fitted(t, model, c.cfg, c.data)
		if text := strings.Join(f.Report.Warnings, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: warnings are %q", c.name, c.cfg.Covariance, text)
		}
		mean, variance := make([]float64, 3), make([]float64, 3)
		f.Members[0].Posterior.Marginals(mean, variance)
		if !problem.Finite(mean...) || !problem.Finite(variance...) {
			t.Errorf("%s: posterior %v, %v", c.name, mean, variance)
		}
		if c.name == "zero column" {
			closeTo(t, "mean of a zero column's weight", mean[2], 0, 1e-12)
			closeTo(t, "its variance", variance[2], 1, 1e-6)
		}
	}
	if f := fitted(t, model, Config{Covariance: Full}, base()); len(f.Report.Warnings) > 0 {
		t.Errorf("a plain fit warns %q", f.Report.Warnings)
	}
}

func TestRefusals(t *testing.T) {
	features := plain{p: 1}
	bernoulli := credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: normal}
	for _, c := range []struct {
		model credence.Model
		cfg   Config
		want  string
	}{
		{credence.Model{Likelihood: likelihood.Bernoulli{}, Prior: normal}, Config{}, "svi: the model has no features"},
		{credence.Model{Features: features, Prior: normal}, Config{}, "svi: the model has no likelihood"},
		{credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}}, Config{}, "svi: the model has no prior"},
		{credence.Model{Features: features, Likelihood: bare{}, Prior: normal}, Config{}, "wrap it in likelihood.Quadrature"},
		{credence.Model{Features: features, Likelihood: likelihood.Bernoulli{Link: "cauchit"}, Prior: normal}, Config{}, `there is no link "cauchit"`},
		{credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: other{}}, Config{}, "svi: prior other is not normal"},
		{credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: prior.Normal{Variance: param.Parameter{Value: -1, State: param.Held}}}, Config{}, "not a positive number"},
		{bernoulli, Config{Covariance: Full, Components: 2}, "a mixture has diagonal components"},
		{bernoulli, Config{Covariance: Full, Batch: 10}, "deterministic steps over all rows"},
		{bernoulli, Config{Covariance: "banded"}, `covariance cannot be "banded": write diagonal or full`},
		{bernoulli, Config{Samples: 3}, "samples=3 is odd"},
		{bernoulli, Config{Epochs: -1}, "svi: epochs cannot be -1: it must be 1 or more and finite, or left out"},
		{bernoulli, Config{Rate: math.NaN()}, "rate cannot be NaN: it must be positive and finite, or left out"},
	} {
		_, err := New(c.model, c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	for _, c := range []struct {
		lik  credence.Likelihood
		edit func(m *memory)
		want string
	}{
		{likelihood.Poisson{}, func(m *memory) { m.y[7] = -1 }, "svi: row 8: target -1 is negative"},
		{likelihood.Poisson{}, func(m *memory) { m.y[7] = 0.5 }, "svi: row 8: target 0.5 is not a whole number"},
		{likelihood.Bernoulli{}, func(m *memory) { m.y[0] = 2 }, "svi: row 1: target 2 is neither 0 nor 1"},
		{likelihood.Gamma{}, func(m *memory) { m.y[3] = 0 }, "svi: row 4: target 0 is not positive"},
		{likelihood.Binomial{}, func(m *memory) {
			m.trials = make([]float64, len(m.y))
			for i := range m.trials {
				m.trials[i] = 3
			}
			m.y[5] = 4
		}, "svi: row 6: target 4 is more than the 3 trials"},
		{likelihood.Poisson{}, func(m *memory) { m.offset = make([]float64, len(m.y)); m.offset[2] = math.Inf(-1) }, "svi: row 3: offset -Inf is not a finite number: an exposure of zero"},
		{likelihood.Poisson{}, func(m *memory) { m.offset = make([]float64, len(m.y)); m.offset[2] = 800 }, "svi: row 3: offset 800 multiplies the mean by e to that power"},
		{likelihood.Poisson{}, func(m *memory) { m.weight = make([]float64, len(m.y)); m.weight[9] = -1 }, "svi: row 10: weight -1"},
		{likelihood.Poisson{}, func(m *memory) { m.y = nil }, "have no target"},
	} {
		data := draw(t, likelihood.Bernoulli{}, 20, 1, 1)
		if _, gamma := c.lik.(likelihood.Gamma); gamma {
			for i := range data.y {
				data.y[i]++
			}
		}
		c.edit(data)
		for _, cfg := range []Config{{Covariance: Full}, {}, {Batch: 5}} {
			e := must.Value(New(credence.Model{Features: features, Likelihood: c.lik, Prior: held(1)}, cfg))(t)
			if _, err := e.Fit(context.Background(), data); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		}
	}
}

// bare is a likelihood that lacks all that the engine asks for.
type bare struct{}

func (bare) LogDensity(_, _ float64) float64 { return 0 }
func (bare) Mean(f float64) float64          { return f }
func (bare) Variance(float64) float64        { return 1 }

// other is a prior that is not normal.
type other struct{}

func (other) String() string { return "other" }

// TestTrials: binomial rows with their own trials are as many Bernoulli rows.
func TestTrials(t *testing.T) {
	long := draw(t, likelihood.Bernoulli{}, 200, 2, 6)
	short := &memory{x: linop.NewDense(50, 2)}
	for i := range 50 {
		y, trials := 0.0, float64(1+i%4)
		copy(short.x.Row(i), long.x.Row(4*i))
		for k := range 4 {
			copy(long.x.Row(4*i+k), long.x.Row(4*i))
			if k < int(trials) {
				y += long.y[4*i+k]
			}
		}
		short.y, short.trials = append(short.y, y), append(short.trials, trials)
	}
	long.weight = make([]float64, 200)
	for i := range long.weight {
		if i%4 < 1+i/4%4 {
			long.weight[i] = 1
		}
	}
	features := plain{p: 2, intercept: true}
	for _, cfg := range []Config{{Covariance: Full}, {}} {
		a := fitted(t, credence.Model{Features: features, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}, cfg, long)
		b := fitted(t, credence.Model{Features: features, Likelihood: likelihood.Binomial{}, Prior: held(1)}, cfg, short)
		am, av, bm, bv := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
		a.Members[0].Posterior.Marginals(am, av)
		b.Members[0].Posterior.Marginals(bm, bv)
		for j := range am {
			closeTo(t, "mean in posterior SDs", am[j]/math.Sqrt(av[j]), bm[j]/math.Sqrt(av[j]), 1e-5)
			closeTo(t, "variance ratio", av[j]/bv[j], 1, 1e-5)
		}
	}
}
