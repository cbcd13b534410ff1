package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// category has numbers, of which the second and the third are nearly one, then the levels of a small and of a large category.
type category struct {
	conform.Columns
	small, large int
}

func (c category) LevelRuns() []credence.LevelRun {
	first := c.Weights() - c.small - c.large
	return []credence.LevelRun{{Key: "small", First: first, Levels: c.small, Columns: 1}, {Key: "large", First: first + c.small, Levels: c.large, Columns: 1}}
}

func (c category) DenseWeights() int { return c.Weights() - c.small - c.large }

func (c category) Blocks() []credence.Block {
	blocks := c.Columns.Blocks()
	blocks[len(blocks)-1].Count -= c.small + c.large
	for _, r := range c.LevelRuns() {
		blocks = append(blocks, credence.Block{Name: r.Key, First: r.First, Count: r.Levels})
	}
	return blocks
}

// TestLevels: the posterior of a category's levels and what stands beside them is that of the full covariance: means to a tenth of a standard
// deviation (which independent weights of columns that are alike miss), standard deviations and learned variances as far as the normal
// likelihood of the rows does not move; of normal rows under held variances to what the climb is told.
func TestLevels(t *testing.T) {
	const levels, each, small, numbers = 60, 3, 4, 4
	for _, c := range []struct {
		name      string
		family    credence.Likelihood
		prior     prior.Normal
		intercept bool
		role      string
		mean, sd  float64 // tolerances
	}{
		{"gaussian, held", likelihood.Gaussian{NoiseVariance: param.Hold(0.8)}, prior.Normal{Variance: param.Hold(0.5)}, true, "weight", 2e-3, 1e-3},
		{"gaussian", likelihood.Gaussian{}, prior.Normal{}, true, "precision", 0.1, 0.05},
		{"gaussian without an intercept", likelihood.Gaussian{}, prior.Normal{}, false, "", 0.1, 0.05},
		{"poisson", likelihood.Poisson{}, prior.Normal{}, true, "offset", 0.1, 0.1},
		{"classes", likelihood.Bernoulli{}, prior.Normal{}, true, "weight", 0.1, 0.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, 4))
			features := category{conform.Columns{Dense: numbers, Sparse: small + levels, Intercept: c.intercept}, small, levels}
			data := &credence.Batch{X: linop.NewDense(levels*each, numbers+small+levels)}
			effects := make([]float64, levels)
			for g := range effects {
				effects[g] = 0.8 * rng.NormFloat64()
			}
			for i := range levels * each {
				row, g := data.X.Row(i), i/each
				row[0], row[1] = math.Sin(float64(g)), 5+rng.NormFloat64() // the first is that of the level
				row[2], row[3] = row[1]+0.2*rng.NormFloat64(), rng.NormFloat64()
				row[numbers+rng.IntN(small)], row[numbers+small+g] = 1, 1
				data.Target = append(data.Target, c.family.(likelihood.Sampler).Sample(rng, 0.3+0.4*(row[1]-5)+0.5*row[0]+effects[g]))
				for name, to := range map[string]*[]float64{"weight": &data.Weight, "precision": &data.Precision, "offset": &data.Offset} {
					if name == c.role {
						*to = append(*to, []float64{1, 0.5, 1.5}[i%3])
					}
				}
			}
			fitted := func(covariance Covariance) *credence.Fitted {
				e := must.Value(New(credence.Model{Features: features, Likelihood: c.family, Prior: c.prior}, Config{Covariance: covariance, Hyper: hyper.Mode, Tolerance: 1e-5, Diagnostics: -1}))(t)
				return must.Value(e.Fit(context.Background(), conform.Memory{All: data}))(t)
			}
			got, want := fitted(OfLevels), fitted(Full)
			if got.Report.Status != credence.Converged || len(got.Report.Warnings) > 0 {
				t.Errorf("%+v", got.Report)
			}
			// What was held while covariances were taken is told as learned.
			if a, b := &got.Report, &want.Report; a.Hyperparameters != b.Hyperparameters || (a.ELBOMode == nil) != (b.ELBOMode == nil) || !reflect.DeepEqual(a.HyperPrior, b.HyperPrior) {
				t.Errorf("hyper-parameters %v, %v, bound %v; of the full covariance %v, %v, %v", a.Hyperparameters, a.HyperPrior, a.ELBOMode, b.Hyperparameters, b.HyperPrior, b.ELBOMode)
			}
			for k, v := range want.Report.Hyper {
				if of := got.Report.Hyper[k]; of.Name != v.Name || math.Abs(math.Log(of.Value/v.Value)) > 0.15 {
					t.Errorf("%v, want %v", of, v)
				}
			}
			ws := credence.NewWorkspace(1)
			var phi credence.Design
			features.Transform(ws, &phi, data)
			q, of := got.Members[0].Posterior.(credence.Joint), want.Members[0].Posterior.(credence.Joint)
			for what, room := range map[string]int{"weight": features.Weights(), "f": len(data.Target)} {
				values := make([][]float64, 4)
				for i := range values {
					values[i] = make([]float64, room)
				}
				if what == "f" {
					q.Latent(ws, values[0], values[1], &phi)
					of.Latent(ws, values[2], values[3], &phi)
				} else {
					q.Marginals(values[0], values[1])
					of.Marginals(values[2], values[3])
				}
				for j := range room {
					sd := math.Sqrt(values[3][j])
					if math.Abs(values[0][j]-values[2][j]) > c.mean*sd || math.Abs(math.Sqrt(values[1][j])/sd-1) > c.sd {
						t.Errorf("%s %d is %v ± %v, want %v ± %v", what, j, values[0][j], math.Sqrt(values[1][j]), values[2][j], sd)
					}
				}
			}
			a, b := linop.NewDense(20, 20), linop.NewDense(20, 20)
			some := phi.Window(0, 20)
			q.Covariance(ws, &a, &some, &some)
			of.Covariance(ws, &b, &some, &some)
			for i, v := range b.Data {
				if math.Abs(a.Data[i]-v) > 2*c.sd*b.Data[i/20*21] {
					t.Errorf("covariance %d is %v, want %v", i, a.Data[i], v)
				}
			}
		})
	}
}

// TestLevelsAreRefused: rows of several levels, features without any, and too many weights beside them.
func TestLevelsAreRefused(t *testing.T) {
	data := &credence.Batch{X: linop.NewDense(40, 12), Target: make([]float64, 40)}
	for i := range data.Target {
		data.X.Row(i)[2+i%5], data.X.Row(i)[7+i%3], data.Target[i] = 1, 1, float64(i%4)
	}
	for _, c := range []struct {
		features credence.Features
		data     *credence.Batch
		want     string
	}{
		{category{conform.Columns{Dense: 2, Sparse: 10, Intercept: true}, 0, 10}, data, "several levels"},
		{conform.Columns{Dense: 12}, data, "for a category"},
		{category{conform.Columns{Dense: mostBeside + 1, Sparse: 10}, 0, 10}, data, fmt.Sprint("at most ", mostBeside)},
	} {
		e, err := New(credence.Model{Features: c.features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Config{Covariance: OfLevels})
		if err == nil {
			_, err = e.Fit(context.Background(), conform.Memory{All: c.data})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestLevelsAlgebra: precise, solve, variances and the posterior are those of the dense inverse, where the prior of the intercept at the
// means of the columns says as much as the rows.
func TestLevelsAlgebra(t *testing.T) {
	const size, count = 4, 6
	const d = size + count
	rng := rand.New(rand.NewPCG(4, 4))
	groups := must.Value(base.Groups("test", category{conform.Columns{Dense: size - 1, Sparse: count, Intercept: true}, 0, count}, prior.Normal{}))(t)
	in := &problem.Intercept{Mean: 1, Variance: 0.2, Columns: make([]float64, d)}
	for j := range d - 1 {
		in.Columns[j+1] = rng.NormFloat64()
	}
	l := &levels{fit: &fit{Problem: &problem.Problem{Engine: "test", Workspace: credence.NewWorkspace(1), Groups: groups, Intercept: in, Dims: d}}, first: size, count: count, dense: size}
	dense, priors := mat.NewSymDense(d, nil), []float64{0.2, 0.7, 3, 1.3}[:len(groups)]
	l.a, l.b, l.d = make([]float64, size*size), make([]float64, count*size), make([]float64, count)
	l.prior, l.inverse, l.own, l.delta = make([]float64, d), make([]float64, size*size), make([]float64, count), make([]float64, d)
	l.r = append(l.r, in.Columns...)
	l.r[0]++
	for j := range d {
		l.place = append(l.place, min(j, size)%size)
		if j < size {
			l.beside = append(l.beside, j)
		}
	}
	for g := range count { // rows of one level each
		for range 3 {
			row := make([]float64, size)
			for k := range row {
				row[k] = rng.NormFloat64()
				l.b[g*size+k] += 0.6 * row[k] * 2
				for m, v := range row[:k+1] {
					l.a[k*size+m] += 0.6 * row[k] * v
				}
			}
			l.d[g] += 0.6 * 4
		}
	}
	for k := range size {
		for m := range k {
			l.a[m*size+k] = l.a[k*size+m]
		}
	}
	must.Succeed(t, l.set(priors))
	for i := range d {
		for j := i; j < d; j++ {
			v := l.r[i] * l.r[j] / in.Variance
			switch {
			case j < size:
				v += l.a[i*size+j]
			case i < size:
				v += l.b[(j-size)*size+i]
			case i == j:
				v += l.d[i-size]
			}
			if i == j && i > 0 {
				v += 1 / l.prior[i]
			}
			dense.SetSym(i, j, v)
		}
	}
	var inverse mat.Dense
	must.Succeed(t, inverse.Inverse(dense))
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-10 {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	x, dst, variance, mean := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
	l.variances(variance)
	unit := credence.Design{Dense: linop.NewDense(d, size)}
	unit.Sparse.Reset(count)
	for i := range d {
		clear(x)
		x[i] = 1
		l.solve(dst, x)
		for j, v := range dst {
			near(fmt.Sprintf("V %d %d", i, j), v, inverse.At(i, j))
		}
		l.precise(x, dst)
		for j, v := range x {
			near("V⁻¹V", v, map[bool]float64{true: 1}[i == j])
		}
		near("variance", variance[i], inverse.At(i, i))
		if i < size {
			unit.Dense.Row(i)[i] = 1
			unit.Sparse.AppendRow(nil, nil)
		} else {
			unit.Sparse.AppendRow([]int32{int32(i - size)}, []float64{1})
		}
	}
	covariance := linop.NewDense(d, d)
	l.posterior(mean).(credence.Joint).Covariance(credence.NewWorkspace(1), &covariance, &unit, &unit)
	for i, v := range covariance.Data {
		near("covariance", v, inverse.At(i/d, i%d))
	}
}

// TestLevelsAdd: what rows add up to is Σ c φφᵀ, whatever the value of a row's level, and that a row has several levels is told of the
// first block of several, too.
func TestLevelsAdd(t *testing.T) {
	const size, count, rows = 3, 4, 9
	rng := rand.New(rand.NewPCG(9, 9))
	l := &levels{first: size, count: count, a: make([]float64, size*size), b: make([]float64, count*size), d: make([]float64, count)}
	for j := range size + count {
		l.place = append(l.place, j)
		if j < size {
			l.beside = append(l.beside, j)
		} else {
			l.place[j] = -1
		}
	}
	phi, want, curvature := credence.Design{Dense: linop.NewDense(rows, size)}, mat.NewDense(size+count, size+count, nil), make([]float64, rows)
	phi.Sparse.Reset(count)
	for i := range rows {
		row := make([]float64, size+count)
		for j := range size {
			row[j] = rng.NormFloat64()
		}
		copy(phi.Dense.Row(i), row)
		if g := i % (count + 1); g < count { // others have no level
			row[size+g] = 0.5 + rng.Float64()
			phi.Sparse.AppendRow([]int32{int32(g)}, []float64{row[size+g]})
		} else {
			phi.Sparse.AppendRow(nil, nil)
		}
		curvature[i] = rng.Float64()
		for j, v := range row {
			for k, u := range row {
				want.Set(j, k, want.At(j, k)+curvature[i]*u*v)
			}
		}
	}
	if !l.add(&problem.Block{Phi: &phi}, curvature) {
		t.Error("a row has several levels")
	}
	for j := range size {
		for k := range size {
			if got := l.a[j*size+k]; math.Abs(got-want.At(j, k)) > 1e-12 {
				t.Errorf("A %d %d is %v, want %v", j, k, got, want.At(j, k))
			}
		}
		for g := range count {
			if got := l.b[g*size+j]; math.Abs(got-want.At(j, size+g)) > 1e-12 {
				t.Errorf("B %d %d is %v, want %v", j, g, got, want.At(j, size+g))
			}
		}
	}
	for g, got := range l.d {
		if math.Abs(got-want.At(size+g, size+g)) > 1e-12 {
			t.Errorf("D %d is %v, want %v", g, got, want.At(size+g, size+g))
		}
	}
	const many = 20_000
	data := &credence.Batch{X: linop.NewDense(many, 3), Target: make([]float64, many)}
	for i := range many {
		data.X.Row(i)[i%2+1], data.Target[i] = 1, float64(i%3)
	}
	data.X.Row(5)[1], data.X.Row(5)[2] = 1, 1
	e := must.Value(New(credence.Model{Features: category{conform.Columns{Dense: 1, Sparse: 2}, 0, 2}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, Config{Covariance: OfLevels}))(t)
	if _, err := e.Fit(context.Background(), conform.Memory{All: data}); err == nil || !strings.Contains(err.Error(), "several levels") {
		t.Errorf("a row of two levels in the first of several blocks: %v", err)
	}
}
