package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// alike is the bound of rows whose columns are all but one column.
func alike(t *testing.T, components int) (*Bound, *problem.Start) {
	const n, p = 1000, 6
	rng := rand.New(rand.NewPCG(5, 6))
	data := conform.Regression(likelihood.Bernoulli{}, n, p, 11)
	for i := range n {
		common, x := rng.NormFloat64(), data.X.Row(i)
		for j := range x {
			x[j] = common + 0.1*rng.NormFloat64()
		}
		data.Target[i] = float64(rng.IntN(2))
		if rng.Float64() < 0.7 && common > 0 {
			data.Target[i] = 1
		}
	}
	set := fourier(t, p, 3)
	groups := must.Value(base.Groups("test", set, prior.Normal{}))(t)
	pr := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, likelihood.Bernoulli{}, data), Features: set, Likelihood: likelihood.Bernoulli{}, Groups: groups, Dims: set.Weights()}
	s := must.Value(pr.Start(context.Background(), pr.Rows(0), pr.Rows(0)))(t)
	return NewBound(pr, components, s.Family), s
}

// TestMetric: the two maps are inverse, the gradient in z is the transpose of the map to m, and z has the curvature
// that is said: second differences of the bound along any z, and along each variable, are about −|z|².
func TestMetric(t *testing.T) {
	ctx := context.Background()
	q, s := alike(t, 1)
	fit := New(q, s, Options{Levels: []int{0}, MaxIterations: 100, Tolerance: 1e-4})
	state := &State{}
	must.Succeed(t, fit.begin(ctx, state))
	iterations, converged, err := fit.ascend(ctx, q.Rows(0), state, 1e-4, 200)
	if err != nil || !converged || iterations > 20 {
		t.Errorf("%d iterations, %v, %v: 20 should do for columns that are alike, which take 30 without a metric", iterations, converged, err)
	}
	x := state.X
	if all := q.alike(q.Rows(0), false); all != q.Dims {
		t.Errorf("%d of %d weights have a metric", all, q.Dims)
	}
	for _, count := range []int{q.Dims, 4} {
		testMetric(t, q, x, count)
	}
}

// TestMetricOfSome: variables that stand for some weights together, which are not the first, leave all others as they
// are, and lead back to the same means.
func TestMetricOfSome(t *testing.T) {
	q, _ := alike(t, 2)
	heavy := []int{1, 4, 5}
	g := &metric{Bound: q, heavy: heavy, some: make([]float64, 3), upper: []float64{2, 0.5, -1, 0, 3, 0.25, 0, 0, 0.5}}
	x := make([]float64, q.Size())
	for i := range x {
		x[i] = 1 + math.Sin(float64(i))
	}
	was := slices.Clone(x)
	g.enter(x)
	for k := range q.Components {
		z, _ := q.Component(x, k)
		m, _ := q.Component(was, k)
		want := slices.Clone(m)
		for i, j := range heavy {
			want[j] = 0
			for l := i; l < len(heavy); l++ {
				want[j] += g.upper[i*3+l] * m[heavy[l]]
			}
		}
		for j := range z {
			if !(math.Abs(z[j]-want[j]) <= 1e-12) {
				t.Errorf("component %d: variable %d is %v, want %v", k, j, z[j], want[j])
			}
		}
	}
	g.leave(x)
	for i := range x {
		if !(math.Abs(x[i]-was[i]) <= 1e-12) {
			t.Errorf("number %d comes back as %v, was %v", i, x[i], was[i])
		}
	}
}

func testMetric(t *testing.T, q *Bound, x []float64, count int) {
	ctx := context.Background()
	g, err := q.metric(ctx, q.Rows(0), x, count)
	if err != nil || g == nil || (g.heavy == nil) != (count == q.Dims) {
		t.Fatal(g, err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	z, gradient := make([]float64, len(x)), make([]float64, len(x))
	for k := range q.Components {
		z, _ := q.Component(z, k)
		for j := range z {
			z[j] = rng.NormFloat64()
		}
	}
	for i := range gradient {
		gradient[i] = rng.NormFloat64()
	}
	m, pulled := append([]float64{}, z...), append([]float64{}, gradient...)
	g.leave(m)
	g.pull(pulled)
	if a, b := kernel.Dot(m, gradient), kernel.Dot(z, pulled); !(math.Abs(a-b) <= 1e-10*math.Abs(a)) {
		t.Errorf("the gradient along z is %v, and along its m %v", b, a)
	}
	at := func(step float64, m []float64) float64 {
		trial := append([]float64{}, x...)
		kernel.Axpy(step, m, trial)
		return must.Value(q.Evaluate(ctx, q.Rows(0), make([]float64, len(x)), trial))(t)
	}
	const step = 0.05
	bend := func(z, m []float64) float64 { // over what is said of it
		return (2*at(0, m) - at(step, m) - at(-step, m)) / (step * step * kernel.Dot(z, z) / float64(q.Components))
	}
	if share := bend(z, m); count == q.Dims && !(math.Abs(share-1) <= 0.1) {
		t.Errorf("the curvature along z is %v of what it should be", share)
	}
	for k := range count { // some of which the rows tell little of
		j := g.place(k)
		z, m := make([]float64, len(x)), make([]float64, len(x))
		means, _ := q.Component(z, 0)
		means[j] = 1
		copy(m, z)
		g.leave(m)
		if share := bend(z, m); !(math.Abs(share-1) <= 0.25) {
			t.Errorf("the curvature along variable %d is %v of what it should be", j, share)
		}
	}
	g.enter(m)
	for i, v := range m {
		if !(math.Abs(v-z[i]) <= 1e-9) {
			t.Errorf("z[%d] comes back as %v, was %v", i, v, z[i])
		}
	}
}

// TestHeavy: columns that many rows have in common, and that are far from 0, are taken together where weights are too
// many for all to be, once an ascent is slow; the columns of most entries are those.
func TestHeavy(t *testing.T) {
	ctx := context.Background()
	const n, levels, far = 4000, 1100, 2
	rng := rand.New(rand.NewPCG(3, 8))
	data := &credence.Batch{X: linop.NewDense(n, levels+far), Target: make([]float64, n)}
	for i := range n {
		x, level := rng.NormFloat64(), rng.IntN(levels)
		if rng.Float64() < 1/(1+math.Exp(-x-math.Sin(float64(level)))) {
			data.Target[i] = 1
		}
		row := data.X.Row(i)
		row[level], row[levels], row[levels+1] = 1, 3e4+100*x, 2e3-3*x+rng.NormFloat64()
	}
	features := conform.Columns{Sparse: levels + far, Intercept: true}
	groups := must.Value(base.Groups("test", features, prior.Normal{}))(t)
	pr := &problem.Problem{Workspace: credence.NewWorkspace(0), Data: conform.Opened(t, likelihood.Bernoulli{}, data), Features: features, Likelihood: likelihood.Bernoulli{}, Groups: groups, Dims: features.Weights()}
	s := must.Value(pr.Start(ctx, pr.Rows(0), pr.Rows(0)))(t)
	q := NewBound(pr, 1, s.Family)
	if slow, quick := q.alike(pr.Rows(0), true), q.alike(pr.Rows(0), false); slow != mostHeavy || quick != 0 {
		t.Fatalf("%d and %d weights have a metric", slow, quick)
	}
	fit := New(q, s, Options{Levels: []int{0}, MaxIterations: 2000, Starts: 1, Tolerance: 1e-4})
	state := &State{}
	must.Succeed(t, fit.Run(ctx, state))
	if !state.BestConverged || state.Iterations > 130 {
		t.Errorf("%d iterations, converged %v: 130 should do, 183 are taken without a metric", state.Iterations, state.BestConverged)
	}
	g := must.Value(q.metric(ctx, pr.Rows(0), state.Best, 3))(t)
	if !slices.Equal(g.heavy, []int{0, levels + 1, levels + 2}) {
		t.Errorf("weights %v have variables together", g.heavy)
	}
}
