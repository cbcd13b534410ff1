package svi

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// measured is a gaussian family of known noise that the engine does not know for one: its bound is the evidence.
type measured struct{ of likelihood.Gaussian }

func (m measured) LogDensity(y, f float64) float64 { return m.of.LogDensity(y, f) }
func (m measured) Mean(f float64) float64          { return f }
func (m measured) Variance(f float64) float64      { return m.of.Variance(f) }
func (m measured) Derivatives(y, f float64) (value, first, second float64) {
	return m.of.Derivatives(y, f)
}

func (m measured) ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64) {
	m.of.ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance)
}

// withQuadrature is integratedBy with levels eliminated, if they are to be.
func withQuadrature(t *testing.T, family credence.Likelihood, features grouped, data *credence.Batch, eliminated bool) *integration {
	t.Helper()
	model := credence.Model{Features: features, Likelihood: family, Prior: prior.Normal{}}
	cfg := Config{Covariance: Full, Hyper: param.Integrate, Tolerance: 1e-9}
	r := newFit(t, model, cfg, conform.Memory{All: data})
	if eliminated {
		finder := arrow.NewFinder(features)
		finder.Add(must.Value(r.Rows(0).Block(t.Context(), 0))(t).Phi)
		r.Pattern = must.Value(finder.Pattern())(t)
	}
	return integratedOn(t, r)
}

// TestQuadratureOfNormal: of a gaussian family all levels are normal, and the bound misses nothing.
func TestQuadratureOfNormal(t *testing.T) {
	family := measured{likelihood.Gaussian{NoiseVariance: param.Parameter{Value: 0.49, State: param.Held}}}
	longer := func(z float64) []float64 { return []float64{1 + z*z} }
	for k, c := range []struct{ intercept, nested, eliminated bool }{{false, false, false}, {false, true, true}, {true, true, true}, {true, false, false}, {true, true, true}} {
		number := one
		if k == 4 { // which the weight of a level is multiplied by
			number = longer
		}
		features, data := byLevels(likelihood.Poisson{}, c.intercept, c.nested, 80, 4, 1, 9, number)
		for i := range data.Target {
			data.Target[i] = math.Log1p(data.Target[i])
		}
		g := withQuadrature(t, family, features, data, c.eliminated)
		if g.quadrature == nil {
			t.Fatal("there is no quadrature")
		}
		closeTo(t, fmt.Sprint(c, " correction"), g.all.LogDensity-g.all.Uncorrected, 0, 1e-9)
		closeTo(t, fmt.Sprint(c, " correction at the mode"), g.top.At.Correction, 0, 1e-9)
	}
}

// TestQuadratureOfFewRows: levels have few rows by the weight of these, however many they are.
func TestQuadratureOfFewRows(t *testing.T) {
	for by, few := range map[float64]bool{1: true, 2.5: false} {
		for _, each := range []int{6, 60} {
			features, data := byLevels(likelihood.Poisson{}, true, true, 20, each, 1, 4, one)
			for i := range data.Weight {
				data.Weight[i] = by * 6 / float64(each)
			}
			if g := withQuadrature(t, likelihood.Poisson{}, features, data, false); (g.quadrature != nil) != few {
				t.Errorf("%d rows that weigh %v: quadrature %v", each, by*6, g.quadrature != nil)
			}
		}
	}
}

// TestQuadrature compares what is missed with its definition, Σ_g KL(q(u_g | r̂) ‖ p(u_g | r̂, y)), by a trapezium rule
// over 16 standard deviations of q, whose precision is that of the row and column of a level in the inverse of the
// covariance.
func TestQuadrature(t *testing.T) {
	for _, c := range []struct {
		family                credence.Likelihood
		intercept, eliminated bool
	}{
		{likelihood.Bernoulli{}, true, false}, {likelihood.Bernoulli{}, true, true}, {likelihood.Bernoulli{}, false, false},
		{likelihood.Poisson{}, true, false}, {likelihood.Poisson{}, false, true},
	} {
		features, data := byLevels(c.family, c.intercept, false, 30, 3, 1, 5, one)
		g := withQuadrature(t, c.family, features, data, c.eliminated)
		mode, first := g.mode.Point, features.runs[0].First
		if _, ok := g.newton.Place(mode); !ok {
			t.Fatal("the mode is no posterior")
		}
		got := must.Value(g.quadrature.Missed(t.Context(), mode))(t)
		closeTo(t, "correction at the mode", g.top.At.Correction, got, 1e-6)
		d := g.Dims
		w := make([]float64, d)
		g.Intercept.Weights(w, mode.Mean)
		var unit credence.Design // a row for each weight
		unit.Dense.Reshape(d, first)
		clear(unit.Dense.Data)
		unit.Sparse.Reset(d - first)
		for j := range d {
			if j < first {
				unit.Dense.Row(j)[j] = 1
				unit.Sparse.AppendRow(nil, nil)
			} else {
				unit.Sparse.AppendRow([]int32{int32(j - first)}, []float64{1})
			}
		}
		covariance := linop.NewDense(d, d)
		g.newton.Posterior(mode).(joint).Covariance(g.Workspace, &covariance, &unit, &unit)
		var precision mat.SymDense
		var cholesky mat.Cholesky
		cholesky.Factorize(mat.NewSymDense(d, covariance.Data))
		must.Succeed(t, cholesky.InverseTo(&precision))
		b := must.Value(g.rows.Block(t.Context(), 0))(t)
		means, prior := make([]float64, b.Rows()), 0.0
		b.Means(g.Workspace, means, w)
		for k, group := range g.Groups {
			if group.First == first {
				prior = mode.Prior[k]
			}
		}
		want := 0.0
		for level := range features.runs[0].Levels {
			sd := 1 / math.Sqrt(precision.At(first+level, first+level))
			const h = 0.02
			var logs, normal []float64
			for z := -16.0; z < 16; z += h {
				u := w[first+level] + sd*z
				log := -u * u / (2 * prior)
				for i := range b.Rows() {
					if data.X.Row(i)[2+level] != 0 {
						log += data.Weight[i] * c.family.LogDensity(data.Target[i], means[i]+sd*z)
					}
				}
				logs, normal = append(logs, log), append(normal, -z*z/2-math.Log(2*math.Pi)/2)
			}
			evidence := special.LogSumExp(logs) + math.Log(h)
			for k, log := range normal {
				want += h * math.Exp(log) * (log - (logs[k] - evidence))
			}
		}
		// The conditional precision of a level has that of the prior of the intercept, too, which is next to nothing.
		closeTo(t, fmt.Sprintf("%T, %v: missed", c.family, c), got, want, 1e-5+2e-4*want)
		if want < 0.02 {
			t.Errorf("%v nats are missed: nothing is tested", want)
		}
	}
}

// joint are posteriors that tell covariances of rows.
type joint interface {
	Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design)
}

// TestNoQuadrature: levels of many rows, two columns a level, other families and treatments have none.
func TestNoQuadrature(t *testing.T) {
	for _, c := range []struct {
		name   string
		family credence.Likelihood
		each   int
		k      int
		hyper  param.Treatment
		by     Approximation
		want   bool
	}{
		{"few rows", likelihood.Bernoulli{}, 4, 1, param.Integrate, "", true},
		{"many rows", likelihood.Bernoulli{}, 12, 1, param.Integrate, "", false},
		{"two columns", likelihood.Bernoulli{}, 4, 2, param.Integrate, "", false},
		{"the mode", likelihood.Bernoulli{}, 4, 1, param.Mode, "", false},
		{"Laplace", likelihood.Bernoulli{}, 4, 1, param.Integrate, Laplace, false},
		{"gaussian", likelihood.Gaussian{}, 4, 1, param.Integrate, "", false},
	} {
		mix := one
		if c.k == 2 {
			mix = func(z float64) []float64 { return []float64{1, z} }
		}
		features, data := byLevels(c.family, true, false, 20, c.each, c.k, 3, mix)
		if c.k == 2 { // with a prior of each column, so that a run of them begins where the levels do
			features.terms = []ability.Covariance{{Block: 2, Key: "g", Levels: 20, Columns: []string{"1", "u"}}}
		}
		got := fitted(t, credence.Model{Features: features, Likelihood: c.family, Prior: prior.Normal{}},
			Config{Covariance: Full, Hyper: c.hyper, Approximation: c.by}, conform.Memory{All: data})
		if has := got.Report.EvidenceCorrection != nil; has != c.want {
			t.Errorf("%s: a correction is told: %v", c.name, has)
		}
	}
}
