package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/newton"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
)

// integrated is an integration that has run.
func integrated(t *testing.T, model credence.Model, data credence.Data) *integration {
	t.Helper()
	ctx := context.Background()
	r := newFit(t, model, Config{Covariance: Full, Hyper: hyper.Integrate}, data)
	rows := r.Rows(0)
	s, err := r.Start(ctx, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	r.start = s
	n, at := newton.New(r.Problem, s.References), newton.Begin(s)
	stats := newton.NewStatistics(r.Dims, s.Family.Count())
	if _, _, err := n.Climb(ctx, rows, at, stats, r.task("climb", 1e-4)); err != nil {
		t.Fatal(err)
	}
	g := &integration{fit: r, newton: n, rows: rows, stats: stats}
	if err := g.run(ctx, at); err != nil {
		t.Fatal(err)
	}
	return g
}

// gold are the moments by importance sampling over θ: Student-t draws with five degrees of freedom and
// the covariance at the mode widened by a half.
type gold struct{ mean, deviation, evidence, effective float64 }

// goldOf integrates mean and deviation of a weight, and the evidence, by count draws.
func goldOf(t *testing.T, g *integration, count, weight int) gold {
	t.Helper()
	const nu, wide = 5.0, 1.3
	rng := rand.New(rand.NewPCG(5, 6))
	p := len(g.theta)
	var chol mat.Cholesky
	chol.Factorize(g.axes.Covariance())
	var root mat.TriDense
	chol.LTo(&root)
	tail := distuv.ChiSquared{K: nu, Src: rng}
	half, _ := math.Lgamma((nu + float64(p)) / 2)
	rest, _ := math.Lgamma(nu / 2)
	constant := half - rest - float64(p)/2*math.Log(nu*math.Pi) - float64(p)*math.Log(wide) - chol.LogDet()/2
	var logs, means, variances []float64
	z := mat.NewVecDense(p, nil)
	var step mat.VecDense
	for range count {
		square, theta := 0.0, append([]float64{}, g.theta...)
		scale := wide / math.Sqrt(tail.Rand()/nu)
		for k := range p {
			z.SetVec(k, rng.NormFloat64()*scale/wide)
			square += z.AtVec(k) * z.AtVec(k)
		}
		step.MulVec(&root, z)
		for k := range p {
			theta[k] += wide * step.AtVec(k)
		}
		at, err := g.at(context.Background(), theta, g.mode.Mean, g.mode.Point, 1e-4)
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, at.LogDensity-(constant-(nu+float64(p))/2*math.Log1p(square/nu)))
		means, variances = append(means, at.Mean[weight]), append(variances, at.Variances()[weight])
	}
	total := special.LogSumExp(logs)
	var out gold
	out.evidence = total - math.Log(float64(count))
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

// TestAxisSumsOfEveryFamily compares moments and evidence with importance sampling over the same
// conditional fits: means within 0.06 standard deviations, deviations within 6 %, evidence within a
// quarter of a nat, which axis sums leave at 40 rows with what 400 draws are off by.
func TestAxisSumsOfEveryFamily(t *testing.T) {
	const count = 400
	for _, lik := range families() {
		data := draw(t, lik, 40, 3, 5)
		g := integrated(t, credence.Model{Features: plain{p: 3, intercept: true}, Likelihood: lik, Prior: normal}, data)
		if left := g.axes.Whitened(g.mode.Gradient); left > 1e-5 {
			t.Errorf("%v: the gradient at the mode is %g standard deviations", lik, left)
		}
		if g.skipped {
			t.Errorf("%v: skipped at 40 rows", lik)
			continue
		}
		mean, covariance, df, _ := g.moments()
		const weight = 1
		want := goldOf(t, g, count, weight)
		if want.effective < 200 {
			t.Errorf("%v: the draws are worth %.0f", lik, want.effective)
		}
		closeTo(t, fmt.Sprintf("%v: mean in standard deviations", lik), mean[weight]/want.deviation, want.mean/want.deviation, 0.06)
		closeTo(t, fmt.Sprintf("%v: standard deviation", lik), math.Sqrt(covariance[weight*g.Dims+weight])/want.deviation, 1, 0.06)
		closeTo(t, fmt.Sprintf("%v: evidence", lik), g.sums.LogEvidence, want.evidence, 0.25)
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
