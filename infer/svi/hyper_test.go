package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// TestTreatmentsRefused: what cannot be integrated is refused where that was asked for, and taken at
// the mode where it was not.
func TestTreatmentsRefused(t *testing.T) {
	for _, c := range []struct {
		weights int
		config  Config
		want    string // of the error, or "" for the treatment
		is      param.Treatment
	}{
		{2, Config{Hyper: "integrated"}, `hyper cannot be "integrated": did you mean integrate? (write integrate, mode, heldout or ml)`, ""},
		{2, Config{Hyper: param.Integrate}, "hyper=integrate needs the covariances of weights: state covariance=full, or hyper=mode", ""},
		{2, Config{Hyper: param.Integrate, Components: 3}, "hyper=integrate needs", ""},
		{2, Config{Hyper: param.Integrate, Estimator: Sample}, "hyper=integrate needs", ""},
		{base.FullWeights + 1, Config{Hyper: param.Integrate, Covariance: Full}, "takes up to 2000 weights, and the model has 2001: state hyper=mode", ""},
		{base.FullWeights + 1, Config{Covariance: Full}, "", param.Mode},
		{base.FullWeights, Config{Covariance: Full}, "", param.Integrate},
		{2, Config{}, "", param.Mode},
		{2, Config{Components: 3}, "", param.Mode},
		{2, Config{Hyper: param.MaximumLikelihood, Covariance: Full}, "", param.MaximumLikelihood},
	} {
		e, err := New(credence.Model{Features: plain{p: c.weights}, Likelihood: likelihood.Poisson{}, Prior: normal}, c.config)
		switch {
		case c.want == "" && (err != nil || e.config.Hyper != c.is):
			t.Errorf("%+v of %d weights: %v, %+v", c.config, c.weights, err, e)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v of %d weights: %v", c.config, c.weights, err)
		}
	}
}

// TestHeldHyperparameters: where everything is stated the treatment says so and changes nothing.
func TestHeldHyperparameters(t *testing.T) {
	data := draw(t, likelihood.Bernoulli{}, 50, 2, 3)
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(0.7)}
	for _, cfg := range []Config{{Covariance: Full}, {}, {Components: 2}} {
		want := fitted(t, model, cfg, data)
		if want.Report.Hyperparameters != hyper.Held || want.Report.ELBO == nil || want.Report.ELBOMode != nil || want.Report.HyperPrior != nil {
			t.Errorf("%+v", want.Report)
		}
		for _, treatment := range []param.Treatment{param.Mode, param.Integrate} {
			if cfg.Hyper = treatment; treatment == param.Integrate && cfg.Covariance != Full {
				continue
			}
			if got := fitted(t, model, cfg, data); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %+v, want %+v", treatment, got.Report, want.Report)
			}
		}
	}
}

// TestVanishedBlocks: a slope that is nothing makes type-II maximum likelihood certain of it, which is
// said; under priors it keeps the uncertainty of a fit without a prior, within a half.
func TestVanishedBlocks(t *testing.T) {
	for _, lik := range []likelihood.Family{likelihood.Gaussian{}, likelihood.Bernoulli{}, likelihood.Poisson{}} {
		rng := rand.New(rand.NewPCG(8, 1))
		seen := false
		for range 20 {
			data := simulate(rng, lik, correlated(rng, 60, 1, 0), []float64{0})
			flat := weightsOf(fitted(t, credence.Model{Features: plain{p: 1, intercept: true}, Likelihood: lik, Prior: held(1e4)}, Config{Covariance: Full}, data))[1]
			model := credence.Model{Features: plain{p: 1, intercept: true}, Likelihood: lik, Prior: normal}
			f := fitted(t, model, Config{Covariance: Full}, data)
			warned := slices.ContainsFunc(f.Report.Warnings, func(text string) bool {
				return strings.Contains(text, "vanish") && strings.Contains(text, "linear") && strings.Contains(text, "hyper=integrate")
			})
			if w := weightsOf(f)[1]; w.sd < flat.sd/20 && !warned || w.sd > flat.sd/5 && warned {
				t.Errorf("%v: standard deviation %.2g of %.2g, warnings %q", lik, w.sd, flat.sd, f.Report.Warnings)
			}
			seen = seen || warned
			for _, treatment := range []param.Treatment{param.Mode, param.Integrate} {
				f := fitted(t, model, Config{Covariance: Full, Hyper: treatment}, data)
				if w := weightsOf(f)[1]; w.sd < flat.sd/2 || len(f.Report.Warnings) > 0 {
					t.Errorf("%v, %s: standard deviation %.2g of %.2g, %q", lik, treatment, w.sd, flat.sd, f.Report.Warnings)
				}
			}
		}
		if !seen {
			t.Errorf("%v: no block vanished", lik)
		}
	}
}

// TestStalledClimb: from where a climb has not ended at the mode the search goes on to it, in either
// treatment.
func TestStalledClimb(t *testing.T) {
	for _, lik := range []likelihood.Family{likelihood.NegativeBinomial{}, likelihood.Gaussian{}, likelihood.OrdinalGrades(3)} {
		data := draw(t, lik, 50, 2, 4)
		g := integrated(t, credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: lik, Prior: normal}, data)
		want, evidence := slices.Clone(g.theta), g.all.LogDensity
		for _, off := range []float64{-1, 1.5} {
			theta := slices.Clone(want)
			theta[0] += off
			for _, treatment := range []param.Treatment{param.Integrate, param.Mode} {
				stalled := must.Value(g.at(context.Background(), theta, fineTolerance))(t)
				g.config.Hyper = treatment
				must.Value(g.run(context.Background(), stalled.Point))(t)
				for k, v := range g.theta {
					closeTo(t, fmt.Sprintf("%v, %s: θ_%d", lik, treatment, k), v, want[k], 1e-4)
				}
				if treatment == param.Integrate {
					closeTo(t, fmt.Sprintf("%v: evidence", lik), g.all.LogDensity, evidence, 1e-4)
				}
			}
		}
	}
}

// TestCommonScale: under automatic relevance determination the standard deviations share a scale, which
// is a coordinate of θ; the climb ends at the mode of all of them, and axis sums give the moments of
// importance sampling.
func TestCommonScale(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	const d = 3
	data := draw(t, likelihood.Poisson{}, 60, d, 7)
	model := credence.Model{Features: plain{p: d, intercept: true}, Likelihood: likelihood.Poisson{}, Prior: prior.Normal{ARD: true}}
	g := integrated(t, model, data)
	if len(g.theta) != d+1 {
		t.Fatalf("θ is %v", g.theta)
	}
	if left := g.top.Axes.Whitened(g.mode.Gradient); left > 1e-5 {
		t.Errorf("the gradient at the mode is %g standard deviations", left)
	}
	climbed := fitted(t, model, Config{Covariance: Full, Hyper: param.Mode, Tolerance: 1e-6}, data)
	for j := range d {
		closeTo(t, "log τ of the climb", math.Log(climbed.Members[0].Model.Prior.(prior.Normal).Variances[j+1])/2, g.theta[j], 1e-2)
	}
	mean, covariance, _ := g.moments()
	want := goldOf(t, g, 2000, 1)
	closeTo(t, "mean", mean[1]/want.deviation, want.mean/want.deviation, 0.06)
	closeTo(t, "deviation", math.Sqrt(covariance[d+2])/want.deviation, 1, 0.1) // θ is far from normal
	closeTo(t, "evidence", g.all.LogDensity, want.evidence, 0.25)
}

// TestSpreadOfVariance: the logarithm of a noise variance is as uncertain as the χ² law of the residuals has it.
func TestSpreadOfVariance(t *testing.T) {
	const rows, columns = 400, 2
	model := credence.Model{Features: plain{p: columns, intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: normal}
	r := fitted(t, model, Config{Covariance: Full, Hyper: param.Integrate}, draw(t, likelihood.Gaussian{}, rows, columns, 9)).Report
	sd := r.HyperSD[len(r.HyperSD)-1]
	if sd.Name != "noise_variance" {
		t.Fatalf("the last uncertainty is that of %s", sd.Name)
	}
	closeTo(t, "deviation of log variance", sd.Value, math.Sqrt(2./(rows-columns-1)), 0.002)
}

// TestMembersOfParameters: parts of the posterior have the parameter at five values, around the one that
// is reported, and share a covariance.
func TestMembersOfParameters(t *testing.T) {
	data := draw(t, likelihood.NegativeBinomial{}, 60, 2, 9)
	f := fitted(t, credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}, Config{Covariance: Full, Hyper: param.Integrate}, data)
	if len(f.Members) != likelihoodShares {
		t.Fatalf("%d members", len(f.Members))
	}
	mean, square := 0.0, 0.0
	first := f.Members[0].Posterior.(*posterior.Full)
	for _, m := range f.Members {
		log := math.Log(m.Model.Likelihood.(likelihood.NegativeBinomial).Size.Value)
		mean += log / likelihoodShares
		square += log * log / likelihoodShares
		if q := m.Posterior.(*posterior.Full); &q.Factor[0] != &first.Factor[0] || !(q.DF > 4) {
			t.Errorf("a factor of its own, or %g degrees of freedom", q.DF)
		}
	}
	closeTo(t, "mean of log size", mean, math.Log(f.Report.Hyper[0].Value), 1e-9)
	sd := f.Report.HyperSD[len(f.Report.HyperSD)-1]
	if sd.Name != "size" {
		t.Errorf("the last uncertainty is that of %s", sd.Name)
	}
	closeTo(t, "deviation of log size", math.Sqrt(square-mean*mean), sd.Value, 1e-9)
	// How the mean of a weight goes with the parameter, over the posterior of θ by importance sampling.
	g := integrated(t, credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}, data)
	var logs, sizes []float64
	means := make([][]float64, 3)
	drawTheta(g, 2000, func(theta []float64, density float64) {
		at := must.Value(g.at(context.Background(), theta, 1e-4))(t)
		logs, sizes = append(logs, at.LogDensity-density), append(sizes, theta[1])
		for j := range means {
			means[j] = append(means[j], at.Mean[j])
		}
	})
	parts := g.members()
	low, high := make([]float64, 3), make([]float64, 3)
	parts[0].posterior.Marginals(low, make([]float64, 3))
	parts[len(parts)-1].posterior.Marginals(high, make([]float64, 3))
	across := math.Log(parts[len(parts)-1].family.Likelihood.(likelihood.NegativeBinomial).Size.Value / parts[0].family.Likelihood.(likelihood.NegativeBinomial).Size.Value)
	for j := 1; j < 3; j++ {
		products := make([]float64, len(logs))
		zero := make([]float64, len(logs))
		for i, v := range means[j] {
			products[i] = v * sizes[i]
		}
		size := weigh(logs, sizes, zero)
		want := (weigh(logs, products, zero).mean - weigh(logs, means[j], zero).mean*size.mean) / (size.deviation * size.deviation)
		closeTo(t, "slope of a weight in log size", (high[j]-low[j])/across, want, 0.3*math.Abs(want)+0.002)
	}
}

// TestMembersOfCertainParameters: a parameter that many rows determine is taken at its mean, where one
// that is a little less certain has five values; the part has all the covariance.
func TestMembersOfCertainParameters(t *testing.T) {
	for rows, want := range map[int]int{300: likelihoodShares, 1500: 1} {
		data := draw(t, likelihood.Gamma{}, rows, 2, 9)
		g := integrated(t, credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Gamma{}, Prior: normal}, data)
		g.all.Outcome = hyper.Expanded // whether the integration matters for weights is another question
		parts := g.members()
		if len(parts) != want {
			t.Fatalf("%d rows: %d members", rows, len(parts))
		}
		if want > 1 {
			continue
		}
		mean, covariance, _ := g.moments()
		got := math.Log(parts[0].family.Likelihood.(likelihood.Gamma).Shape.Value)
		closeTo(t, "log shape", got, g.all.Theta[len(g.newton.LearnedGroups())], 1e-12)
		weight, variance := make([]float64, 3), make([]float64, 3)
		parts[0].posterior.Marginals(weight, variance)
		closeTo(t, "mean", weight[1], mean[1], 1e-12)
		closeTo(t, "variance", variance[1]/covariance[1*g.Dims+1], 1, 1e-9)
	}
}

// TestMixturesTellTheirSpread: components do not give independent weights the spread of correlated
// ones, and the fit says by how much, as for one component.
func TestMixturesTellTheirSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	data := simulate(rng, likelihood.Bernoulli{}, correlated(rng, 200, 4, 0.9), []float64{0.5, 0, 0, 0})
	model := credence.Model{Features: plain{p: 4, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: held(1)}
	_, variance := make([]float64, 5), make([]float64, 5)
	full := weightsOf(fitted(t, model, Config{Covariance: Full}, data))
	for _, components := range []int{1, 3} {
		f := fitted(t, model, Config{Components: components}, data)
		f.Members[0].Posterior.Marginals(make([]float64, 5), variance)
		var ratios []float64
		for j, v := range variance {
			ratios = append(ratios, math.Sqrt(v)/full[j].sd)
		}
		slices.Sort(ratios)
		told := 0.0
		for _, text := range f.Report.Warnings {
			if _, rest, ok := strings.Cut(text, "standard deviations of weights are about "); ok {
				fmt.Sscan(rest, &told)
			}
		}
		closeTo(t, fmt.Sprintf("%d components: share told", components), told, ratios[2], 0.05)
	}
}

// TestSlopesAtTheta: gradients of the density at fixed θ are its central differences, away from the
// mode, and a climb that moves θ with the weights ends where they are nothing, in every family and
// with a common scale.
func TestSlopesAtTheta(t *testing.T) {
	ctx := context.Background()
	for i, lik := range append(families(), likelihood.Poisson{}) {
		data := draw(t, lik, 50, 2, 5)
		model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: lik, Prior: prior.Normal{ARD: i == len(families())}}
		r := newFit(t, model, Config{Covariance: Full, Hyper: param.Mode}, data)
		rows := r.Rows(0)
		s := must.Value(r.Start(ctx, rows, rows))(t)
		n, at := newton.New(r.Problem), newton.Begin(s)
		stats := n.NewStatistics(s.Family.Count())
		task := r.task("climb", 1e-7)
		task.Iterations = 1000
		if _, _, err := n.Climb(ctx, rows, at, stats, task); err != nil {
			t.Fatal(err)
		}
		g := &integration{fit: r, newton: n, rows: rows, stats: stats}
		must.Value(g.begin(ctx, at, fineTolerance))(t)
		theta := n.Theta(at)
		density := func(theta []float64) *newton.Given {
			return must.Value(g.at(ctx, theta, fineTolerance))(t)
		}
		end := density(theta)
		for k, slope := range end.Gradient {
			closeTo(t, fmt.Sprintf("%v: slope %d at the end of a climb", lik, k), slope, 0, 2e-3)
		}
		closeTo(t, fmt.Sprintf("%v: density at the end of a climb", lik), end.LogDensity, at.Bound, 1e-6)
		for k := range theta {
			theta[k] += 0.3
		}
		off := density(theta)
		for k, slope := range off.Gradient {
			const h = 1e-3
			theta[k] += h
			above := density(theta).LogDensity
			theta[k] -= 2 * h
			below := density(theta).LogDensity
			theta[k] += h
			closeTo(t, fmt.Sprintf("%v: slope %d", lik, k), slope, (above-below)/(2*h), 1e-3*(1+math.Abs(slope)))
		}
	}
}
