package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// integrated is an integration that has run.
func integrated(t *testing.T, model credence.Model, data credence.Data) *integration {
	t.Helper()
	return integratedBy(t, model, Config{Covariance: Full, Hyper: param.Integrate}, data)
}

// integratedBy is integrated with a config.
func integratedBy(t *testing.T, model credence.Model, cfg Config, data credence.Data) *integration {
	t.Helper()
	r := newFit(t, model, cfg, data)
	must.Succeed(t, r.findLevels(t.Context()))
	return integratedOn(t, r)
}

// integratedOn is integrated of a fit that has begun.
func integratedOn(t *testing.T, r *fit) *integration {
	t.Helper()
	ctx := context.Background()
	rows := r.Rows(0)
	s := must.Value(r.Start(ctx, rows, rows))(t)
	r.start = s
	n, at := newton.New(r.Problem), newton.Begin(s)
	stats := n.NewStatistics(s.Family.Count())
	if _, _, err := n.Climb(ctx, rows, at, stats, r.task("climb", 1e-4)); err != nil {
		t.Fatal(err)
	}
	g := &integration{fit: r, newton: n, rows: rows, stats: stats}
	must.Value(g.run(ctx, at))(t)
	return g
}

// gold are moments by importance sampling, and the number of draws that they are worth.
type gold struct{ mean, deviation, evidence, effective float64 }

// drawTheta calls each for draws of θ, Student-t with five degrees of freedom and the covariance at the
// mode widened by three tenths, with their log densities.
func drawTheta(g *integration, count int, each func(theta []float64, logDensity float64)) {
	const nu, wide = 5.0, 1.3
	rng := rand.New(rand.NewPCG(5, 6))
	p := len(g.theta)
	var chol mat.Cholesky
	chol.Factorize(g.top.Axes.Covariance())
	var root mat.TriDense
	chol.LTo(&root)
	constant := -float64(p)*math.Log(wide) - chol.LogDet()/2
	z := mat.NewVecDense(p, nil)
	var step mat.VecDense
	for range count {
		theta := append([]float64{}, g.theta...)
		density := studentDraw(rng, nu, z.RawVector().Data)
		step.MulVec(&root, z)
		for k := range p {
			theta[k] += wide * step.AtVec(k)
		}
		each(theta, density+constant)
	}
}

// studentDraw stores a draw of a multivariate Student-t in z and returns its log density.
func studentDraw(rng *rand.Rand, nu float64, z []float64) float64 {
	p, square := float64(len(z)), 0.0
	scale := 1 / math.Sqrt(distuv.ChiSquared{K: nu, Src: rng}.Rand()/nu)
	for k := range z {
		z[k] = scale * rng.NormFloat64()
		square += z[k] * z[k]
	}
	top, _ := math.Lgamma((nu + p) / 2)
	bottom, _ := math.Lgamma(nu / 2)
	return top - bottom - p/2*math.Log(nu*math.Pi) - (nu+p)/2*math.Log1p(square/nu)
}

// goldOf integrates mean and deviation of a weight, and the bound, by count draws.
func goldOf(t *testing.T, g *integration, count, weight int) gold {
	t.Helper()
	var logs, means, variances []float64
	drawTheta(g, count, func(theta []float64, density float64) {
		at := must.Value(g.at(context.Background(), theta, 1e-4))(t)
		logs = append(logs, at.LogDensity-density)
		means, variances = append(means, at.Mean[weight]), append(variances, at.Psi[weight])
	})
	return weigh(logs, means, variances)
}

// weigh averages means and variances by the exponentials of logs.
func weigh(logs, means, variances []float64) (out gold) {
	total := special.LogSumExp(logs)
	out.evidence = total - math.Log(float64(len(logs)))
	squares, second := 0.0, 0.0
	for i, l := range logs {
		w := math.Exp(l - total)
		squares += w * w
		out.mean += w * means[i]
		second += w * (variances[i] + means[i]*means[i])
	}
	out.effective = 1 / squares
	out.deviation = math.Sqrt(second - out.mean*out.mean)
	return out
}

// TestAgainstFullBayes compares the posterior of doctor visits, whether there were any and how many,
// with importance sampling over weights and hyper-parameters together: standard deviations within 5 %
// and means within a tenth of one. With 17 events in 100 rows the posterior of a rare level is skewed,
// and a normal one given the hyper-parameters has 3 to 5 % too little spread: there 7 % are allowed. By day there are
// 50 rows of counts.
func TestAgainstFullBayes(t *testing.T) {
	study.Only(t)
	const thetas, each = 8000, 50
	table := columns(t, "nmes1988", "nmes1988.csv.gz")
	all := designOf(t, table, "visits", "hospital", "health", "chronic", "age", "gender", "school", "income", "insurance", "married")
	for _, c := range []struct {
		lik    likelihood.Family
		rows   int
		within float64
	}{{likelihood.Bernoulli{}, 100, 0.07}, {likelihood.Poisson{}, 50, 0.05}, {likelihood.NegativeBinomial{}, 100, 0.05}} {
		if c.rows == 100 && !study.Night() { // many conditional fits
			continue
		}
		data := &memory{x: linop.NewDense(c.rows, all.x.Cols)}
		for i := range c.rows {
			from := 41 * i
			copy(data.x.Row(i), all.x.Row(from))
			y := all.y[from]
			if _, classes := c.lik.(likelihood.Bernoulli); classes {
				y = 0
				if all.y[from] == 0 {
					y = 1
				}
			}
			data.y = append(data.y, y)
		}
		standardise(data.x)
		g := integrated(t, credence.Model{Features: plain{p: all.x.Cols, intercept: true}, Likelihood: c.lik, Prior: normal}, data)
		mean, covariance, df := g.moments()
		d := g.Dims
		rng := rand.New(rand.NewPCG(1, 2))
		var logs []float64
		weights := make([][]float64, d)
		drawTheta(g, thetas, func(theta []float64, density float64) {
			at := must.Value(g.at(context.Background(), theta, 1e-4))(t)
			q := g.newton.Posterior(at.Point).(*posterior.Full)
			density -= g.Priors.DensityAt(at.Prior, at.Free, 0)
			z, w := make([]float64, d), make([]float64, d)
			for range each {
				log := -density - studentDraw(rng, 10, z)
				for j := range d {
					w[j] = q.Mean[j] + kernel.Dot(q.Factor[j*d+j:(j+1)*d], z[j:])
					log += math.Log(q.Factor[j*d+j])
				}
				log += g.LogPrior(w, at.Prior)
				for i, y := range data.y {
					log += at.Family.LogDensity(y, w[0]+kernel.Dot(data.x.Row(i), w[1:]))
				}
				g.Intercept.Centre(w, w)
				for j, v := range w {
					weights[j] = append(weights[j], v)
				}
				logs = append(logs, log)
			}
		})
		worst, zero := 0.0, make([]float64, len(logs))
		for j := range d {
			want := weigh(logs, weights[j], zero)
			ratio := math.Sqrt(covariance[j*d+j]) / want.deviation
			worst = math.Max(worst, math.Abs(ratio-1))
			if !(math.Abs(ratio-1) <= c.within) || want.effective < float64(len(logs))/20 {
				t.Errorf("%v: the standard deviation of weight %d is %.3f of that of full Bayes (%.0f draws)", c.lik, j, ratio, want.effective)
			}
			closeTo(t, fmt.Sprintf("%v: mean of weight %d", c.lik, j), mean[j]/want.deviation, want.mean/want.deviation, 0.1)
			if j == 0 {
				t.Logf("%v: %.3g effective draws, df %.0f, bound %.3f of an evidence of %.3f", c.lik, want.effective, df, g.all.LogDensity, want.evidence)
			}
		}
		t.Logf("%v: standard deviations within %.1f %%", c.lik, 100*worst)
	}
}

// TestAxisSumsOfEveryFamily compares moments and evidence with importance sampling over the same
// conditional fits: means within 0.06 standard deviations, deviations within 6 %, evidence within a
// quarter of a nat, which axis sums leave at 40 rows with what 400 draws are off by.
func TestAxisSumsOfEveryFamily(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	const count = 400
	for _, lik := range families() {
		data := draw(t, lik, 40, 3, 5)
		g := integrated(t, credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: normal}, data)
		if left := g.top.Axes.Whitened(g.mode.Gradient); left > 1e-5 {
			t.Errorf("%v: the gradient at the mode is %g standard deviations", lik, left)
		}
		if g.all.Outcome == hyper.Skipped {
			t.Errorf("%v: skipped at 40 rows", lik)
			continue
		}
		mean, covariance, df := g.moments()
		const weight = 1
		want := goldOf(t, g, count, weight)
		if want.effective < 200 {
			t.Errorf("%v: the draws are worth %.0f", lik, want.effective)
		}
		closeTo(t, fmt.Sprintf("%v: mean in standard deviations", lik), mean[weight]/want.deviation, want.mean/want.deviation, 0.06)
		closeTo(t, fmt.Sprintf("%v: standard deviation", lik), math.Sqrt(covariance[weight*g.Dims+weight])/want.deviation, 1, 0.06)
		closeTo(t, fmt.Sprintf("%v: evidence", lik), g.all.LogDensity, want.evidence, 0.25)
		if !(df > 4 && df <= 300) {
			t.Errorf("%v: %g degrees of freedom", lik, df)
		}
		// The parts together have the moments of the whole.
		whole, parts := 0.0, g.members()
		for _, part := range parts {
			m, v := make([]float64, g.Dims), make([]float64, g.Dims)
			part.posterior.Marginals(m, v)
			gap := m[weight] - mean[weight]
			whole += (v[weight] + gap*gap) / float64(len(parts))
		}
		closeTo(t, fmt.Sprintf("%v: variance of the parts", lik), whole/covariance[weight*g.Dims+weight], 1, 1e-9)
	}
}

// TestNodesNearTheMode: the bound at nodes that is taken with the variances of f at the mode is that of a climb there,
// to a tenth of what a node may be off by, also of nodes that follow, for which nothing is added up for variances, and
// of sparse rows.
func TestNodesNearTheMode(t *testing.T) {
	ctx := t.Context()
	for _, c := range []struct {
		lik    credence.Likelihood
		sparse int // columns
	}{{likelihood.NegativeBinomial{}, 4}, {likelihood.Gamma{}, 0}, {likelihood.StudentT{}, 0}, {likelihood.OrdinalGrades(3), 4}} {
		data := conform.Regression(c.lik.(likelihood.Sampler), 6000, 5, 7)
		features := conform.Columns{Dense: 5 - c.sparse, Sparse: c.sparse, Intercept: true}
		g := integrated(t, credence.Model{Features: features, Likelihood: c.lik, Prior: normal}, conform.Memory{All: data})
		nodes := 0
		for axis := range g.theta {
			for _, z := range []float64{-1.4, 1.4} {
				theta := slices.Clone(g.theta)
				for i := range theta {
					theta[i] += z * g.top.Axes.Root().At(i, axis)
				}
				near := true
				for k, m := range g.moves {
					near = near && within(m.missed, theta[k]-g.theta[k], nodeTolerance/float64(len(g.moves)))
				}
				if !near {
					continue
				}
				nodes++
				g.valued = false
				want := must.Value(g.at(ctx, theta, fineTolerance))(t)
				g.valued = true
				got := must.Value(g.at(ctx, theta, nodeTolerance))(t)
				if got.Gradient != nil || want.Gradient == nil {
					t.Fatalf("%v: the node is a climb", c.lik)
				}
				closeTo(t, fmt.Sprintf("%v: log density at %g on axis %d", c.lik, z, axis), got.LogDensity, want.LogDensity, nodeTolerance/10)
				// Another mode is where the bound is known: what is kept of the first one is none of its.
				again := must.Value(g.newton.At(ctx, g.rows, theta, want.Point, want.Shift, g.stats, newton.Task{There: want}, false))(t)
				closeTo(t, fmt.Sprintf("%v: log density where it is known", c.lik), again.LogDensity, want.LogDensity, 1e-7)
			}
		}
		t.Logf("%v: %d nodes", c.lik, nodes)
		if nodes < 2 {
			t.Errorf("%v: %d nodes are near", c.lik, nodes)
		}
	}
}
