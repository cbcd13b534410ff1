package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/lbfgs"
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

// TestCurvatureGoesWithRows: where learning goes on in four times the rows, their sites and the changes of the gradient
// in hyper-parameters are four times those of the rows before, which stay as they are; the prior's are those of weights
// and stay, within what is tried in the new rows.
func TestCurvatureGoesWithRows(t *testing.T) {
	n := &tuner{Newton: newton.New(&problem.Problem{
		Workspace: credence.NewWorkspace(1), Likelihood: likelihood.Poisson{}, Dims: 2,
		Groups: []base.Group{{First: 0, Count: 2, Learned: true}}, References: []problem.Reference{{Wide: 1, Narrow: 1}},
	}), learned: []int{0}}
	from := func() *Result {
		return &Result{Scale: 20, Learned: []int{0}, pairs: []lbfgs.Pair{{Step: []float64{1, 2, 3}, Change: []float64{4, 5, 6}}},
			At: &newton.Point{Mean: []float64{1, -1}, Prior: []float64{2}, Sites: []float64{3, 0.5, 2}}}
	}
	before, r := from(), &Result{Scale: 5, At: &newton.Point{Prior: []float64{7}}}
	n.goOn(r, before)
	want := &Result{Scale: 5, pairs: []lbfgs.Pair{{Step: []float64{1, 2, 3}, Change: []float64{4, 20, 24}}},
		At: &newton.Point{Mean: []float64{1, -1}, Prior: []float64{2}, Sites: []float64{12, 2, 8}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("goes on at %+v with %v, want %+v with %v", r.At, r.pairs, want.At, want.pairs)
	}
	if !reflect.DeepEqual(before, from()) {
		t.Errorf("what was learned before is %+v with %v now", before.At, before.pairs)
	}
}

// densely is −½ log|I + Λ½HΛ½| + ½ hᵀ(H + Λ⁻¹)⁻¹h by the matrices themselves, of columns about their means and rows
// about the prior mean of the intercept.
func densely(t *testing.T, n *tuner, priors []float64) float64 {
	t.Helper()
	d, rows := n.Dims, len(n.b)
	columns, roots := mat.NewDense(rows, d, nil), make([]float64, d)
	for k, g := range n.Groups {
		for j := g.First; j < g.End(); j++ {
			roots[j] = math.Sqrt(priors[k])
		}
	}
	if n.Intercept != nil {
		roots[0] = math.Sqrt(n.Intercept.Variance)
	}
	must.Succeed(t, n.rows.Each(t.Context(), func(b *problem.Block) {
		for j := range d {
			unit, column := make([]float64, d), make([]float64, b.Rows())
			unit[j] = 1
			b.Phi.Mul(n.Workspace, column, unit)
			for i, v := range column {
				if n.Intercept != nil && j > 0 {
					v -= n.Intercept.Columns[j]
				}
				columns.Set(i, j, v*roots[j])
			}
		}
	}))
	h, weighed := mat.NewVecDense(d, nil), mat.NewDense(rows, d, nil)
	for i := range rows {
		b := n.b[i]
		if n.Intercept != nil {
			b -= n.beta[i] * n.Intercept.Mean
		}
		for j := range d {
			weighed.Set(i, j, n.beta[i]*columns.At(i, j))
			h.SetVec(j, h.AtVec(j)+b*columns.At(i, j))
		}
	}
	var product mat.Dense
	product.Mul(columns.T(), weighed)
	precision := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			precision.SetSym(i, j, product.At(i, j))
		}
		precision.SetSym(i, i, precision.At(i, i)+1)
	}
	var root mat.Cholesky
	var solved mat.VecDense
	if !root.Factorize(precision) {
		t.Fatal("the precision is not positive definite")
	}
	must.Succeed(t, root.SolveVecTo(&solved, h))
	return (mat.Dot(h, &solved) - root.LogDet()) / 2
}

// TestSumsOfFixedColumns: of Hilbert-space and periodic terms beside plain columns, with and without an intercept that
// stands at the means of the columns, sums that are formed once have the evidence and the slopes of passes over the
// rows, at other lengthscales than those at which they were formed. Random features have none.
func TestSumsOfFixedColumns(t *testing.T) {
	data := conform.Regression(likelihood.Poisson{}, 30, 3, 4)
	in := feature.Inputs{Dense: []feature.Input{
		{Column: credence.Column{Name: "a"}}, {Column: credence.Column{Name: "b"}}, {Column: credence.Column{Name: "c"}},
	}}
	box := &feature.HSGP{Name: "hsgp(a, b)", Kernel: feature.Matern32, Inputs: []int{0, 1}, Functions: []int{3, 4}, Middle: []float64{0, 0.2}, Reach: []float64{3, 3}, Boundary: []float64{1.5, 2}}
	cycle := &feature.Periodic{Name: "periodic(c)", Input: 2, Period: 2, Harmonics: 30}
	set := must.Value(feature.New(in, &feature.Intercept{}, &feature.Linear{Inputs: []int{0, 2}}, box, cycle))(t)
	groups := must.Value(base.Groups("test", set, prior.Normal{}))(t)
	d := set.Weights()
	for _, centred := range []bool{false, true} {
		p := &problem.Problem{Workspace: credence.NewWorkspace(1), Data: conform.Opened(t, likelihood.Poisson{}, data), Features: set, Likelihood: likelihood.Poisson{}, Groups: groups, Dims: d}
		if centred {
			p.Intercept = &problem.Intercept{Mean: 0.7, Variance: 100, Columns: make([]float64, d)}
			p.Intercept.Columns[1], p.Intercept.Columns[4] = 0.3, -0.2
		}
		n := &tuner{Newton: newton.New(p), rows: p.Retained(0), tunable: set, h: make([]float64, d), covary: make([]float64, d*d), b: make([]float64, 30), beta: make([]float64, 30)}
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range n.b {
			n.b[i], n.beta[i] = rng.NormFloat64(), 0.2+rng.Float64()
		}
		sums := must.Value(n.fix(t.Context()))(t)
		if sums == nil {
			t.Fatal("fixed columns have no sums")
		}
		for _, values := range [][]float64{{1, 1, 1}, {0.2, 3, 0.4}, {5, 0.7, 2}} {
			var value [2]float64
			var slopes [2][]float64
			for k, f := range []*fixed{nil, sums} {
				n.fixed, slopes[k] = f, make([]float64, 3)
				at := &newton.Point{Mean: make([]float64, d), Prior: []float64{100, 0.7, 0.3, 2}, Sites: make([]float64, d*d)}
				v, ok, err := n.evidence(t.Context(), set.WithHyper(values), at, slopes[k])
				if value[k] = v; err != nil || !ok {
					t.Fatal(ok, err)
				}
				if f == nil {
					if want := densely(t, n, at.Prior); !(math.Abs(v-want) <= 1e-8*math.Abs(want)) {
						t.Errorf("centred %v, at %v: the evidence is %v, and %v by dense algebra", centred, values, v, want)
					}
				}
			}
			if !(math.Abs(value[1]-value[0]) <= 1e-9*math.Abs(value[0])) {
				t.Errorf("at %v, the evidence by sums is %v, by rows %v", values, value[1], value[0])
			}
			for h, want := range slopes[0] {
				if got := slopes[1][h]; !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
					t.Errorf("at %v, slope %d by sums is %v, by rows %v", values, h+1, got, want)
				}
			}
		}
	}
	random := must.Value((&feature.RandomFourier{Name: "rbf(a)", Kernel: feature.RBF, Inputs: []int{0}}).Draw(&in, 4, rand.New(rand.NewPCG(1, 1))))(t)
	n := &tuner{Newton: newton.New(&problem.Problem{Workspace: credence.NewWorkspace(1), Dims: d, Groups: groups}), tunable: must.Value(feature.New(in, &feature.Intercept{}, box, random))(t)}
	if sums, err := n.fix(t.Context()); sums != nil || err != nil {
		t.Errorf("random features have sums: %v, %v", sums, err)
	}
}
