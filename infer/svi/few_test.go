package svi

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestByRows: a fit of few rows by their own algebra is the fit of all weights: bound, hyper-parameters, weights,
// predictions of other rows and their covariances, of dense and sparse columns that are far from 0, zero and repeated,
// for every role of a row, with a small block beside, with and without an intercept, by bound and by Laplace's
// approximation.
func TestByRows(t *testing.T) {
	const n, p = 14, 70
	type variant struct {
		name      string
		family    credence.Likelihood
		prior     prior.Normal
		config    Config
		intercept bool
		sparse    int
		roles     string
		small     bool
	}
	poisson, gaussian, classes := likelihood.Poisson{}, likelihood.Gaussian{}, likelihood.Bernoulli{}
	for _, c := range []variant{
		{"gaussian", gaussian, prior.Normal{}, Config{}, true, 0, "", false},
		{"gaussian at the mode, sparse", gaussian, prior.Normal{}, Config{Hyper: param.Mode}, true, 30, "precision weight", false},
		{"poisson", poisson, prior.Normal{}, Config{}, true, 0, "offset", true},
		{"poisson, no intercept", poisson, prior.Normal{}, Config{}, false, 20, "weight", false},
		{"classes", classes, prior.Normal{}, Config{}, true, 40, "", true},
		{"classes by maximum likelihood of laplace", classes, prior.Normal{Variance: param.Hold(0.02)}, Config{Approximation: Laplace}, true, 0, "weight", false},
		{"poisson by laplace", poisson, prior.Normal{}, Config{Approximation: Laplace}, true, 10, "offset weight", true},
		{"student", likelihood.StudentT{}, prior.Normal{}, Config{}, true, 0, "precision", false},
		{"negative binomial", likelihood.NegativeBinomial{}, prior.Normal{}, Config{}, true, 0, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 1))
			data := &memory{x: linop.NewDense(n, p), y: make([]float64, n)}
			w := make([]float64, p)
			for j := range w {
				w[j] = 0.15 * rng.NormFloat64()
			}
			for i := range n {
				f, row := 0.4, data.x.Row(i)
				for j := range row {
					if row[j] = rng.NormFloat64(); j >= p-c.sparse && rng.Float64() < 0.7 {
						row[j] = 0
					}
					f += row[j] * w[j]
					switch {
					case j == 2:
						row[j] += 40
					case j == 3:
						row[j] = 0
					case j == 5:
						row[j] = row[4]
					}
				}
				data.y[i] = c.family.(likelihood.Sampler).Sample(rng, f)
				for role, to := range map[string]*[]float64{"offset": &data.offset, "weight": &data.weight, "precision": &data.precision} {
					if strings.Contains(c.roles, role) {
						*to = append(*to, []float64{0.5, 1, 3, 2}[i%4])
					}
				}
			}
			if data.weight != nil {
				data.weight[3] = 0
			}
			features := credence.Features(plain{p: p, sparse: c.sparse, intercept: c.intercept})
			if c.small {
				features = twoBlocks{plain{p: p, sparse: c.sparse, intercept: c.intercept}}
			}
			c.config.Covariance, c.config.Seed, c.config.Tolerance, c.config.Diagnostics = Full, 3, 1e-6, -1
			e := must.Value(New(credence.Model{Features: features, Likelihood: c.family, Prior: c.prior}, c.config))(t)
			got := must.Value(e.Fit(context.Background(), data))(t)
			r := must.Value(e.newFit(data))(t)
			r.report = r.Data.Report()
			want := must.Value(r.full(context.Background(), nil))(t)
			if len(got.Members) != len(want.Members) || got.Report.Weights != want.Report.Weights || !slices.Equal(got.Report.Warnings, want.Report.Warnings) {
				t.Fatalf("%d members, %+v; want %d, %+v", len(got.Members), got.Report, len(want.Members), want.Report)
			}
			// ten times that of the climbs; nodes of sums over hyper-parameters lie where the search for their mode
			// ended, to a hundredth
			tolerance := 1e-5
			if c.config.Hyper != param.Mode && c.prior.Variance.State != param.Held {
				tolerance = 1e-2
			}
			near := func(what string, got, want, unit float64) {
				t.Helper()
				if !(math.Abs(got-want) <= tolerance*unit) {
					t.Errorf("%s is %v, want %v", what, got, want)
				}
			}
			for k, v := range want.Report.Hyper {
				if got.Report.Hyper[k].Name != v.Name {
					t.Fatalf("%v, want %v", got.Report.Hyper, want.Report.Hyper)
				}
				near(v.Name, got.Report.Hyper[k].Value, v.Value, v.Value)
			}
			for k, bound := range []*float64{want.Report.ELBO, want.Report.ELBOMode, want.Report.EvidenceEstimate} {
				if of := []*float64{got.Report.ELBO, got.Report.ELBOMode, got.Report.EvidenceEstimate}[k]; bound != nil {
					near("bound", *of, *bound, 1)
				}
			}
			other := &credence.Batch{}
			fresh := &memory{x: linop.NewDense(20, p), y: make([]float64, 20)}
			for i := range fresh.x.Data {
				fresh.x.Data[i] = rng.NormFloat64()
			}
			must.Succeed(t, fresh.Read(other, 0, 20))
			ws := credence.NewWorkspace(1)
			var phi credence.Design
			features.Transform(ws, &phi, other)
			if f, of := got.Family, want.Family; (f == nil) != (of == nil) {
				t.Errorf("the posterior of the family is %v, want %v", f, of)
			} else if f != nil {
				p := of.Axes()
				slopes, others, variance := make([]float64, 20*p), make([]float64, 20*p), make([]float64, 20)
				phi.MulColumns(ws, slopes, f.Slopes, p)
				phi.MulColumns(ws, others, of.Slopes, p)
				want.Members[0].Posterior.Latent(ws, make([]float64, 20), variance, &phi)
				for i, v := range others {
					near(fmt.Sprintf("slope of f %d along axis %d", i/p, i%p), slopes[i], v, math.Sqrt(variance[i/p]))
				}
				for i, v := range of.Root {
					near("root", f.Root[i], v, 1)
				}
			}
			for k, m := range want.Members {
				q, of := got.Members[k].Posterior.(credence.Joint), m.Posterior.(credence.Joint)
				tails := func(q credence.Posterior) (df float64) {
					if t, ok := q.(credence.LatentDF); ok {
						df = t.LatentDF()
					}
					return df
				}
				if a, b := tails(q), tails(of); (a > 0) != (b > 0) { // of the coefficients of rows, and of weights
					t.Errorf("member %d has %g degrees of freedom, want %g", k, a, b)
				}
				d := features.Weights()
				for what, room := range map[string]int{"weight": d, "f": 20} {
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
						near(fmt.Sprintf("member %d: mean of %s %d", k, what, j), values[0][j], values[2][j], math.Sqrt(values[3][j]))
						near(fmt.Sprintf("member %d: variance of %s %d", k, what, j), values[1][j], values[3][j], values[3][j])
					}
				}
				a, b := linop.NewDense(20, 20), linop.NewDense(20, 20)
				q.Covariance(ws, &a, &phi, &phi)
				of.Covariance(ws, &b, &phi, &phi)
				for i, v := range b.Data {
					near(fmt.Sprintf("covariance %d", i), a.Data[i], v, b.Data[i/20*21])
				}
			}
		})
	}
}

// twoBlocks has the first three columns in a block of their own.
type twoBlocks struct{ plain }

func (f twoBlocks) Blocks() []credence.Block {
	blocks := f.plain.Blocks()
	last := &blocks[len(blocks)-1]
	small := credence.Block{Name: "small", First: last.First, Count: 3}
	last.First, last.Count = last.First+3, last.Count-3
	return slices.Insert(blocks, len(blocks)-1, small)
}
