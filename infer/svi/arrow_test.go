package svi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// grouped are numbers and columns by the levels of keys, a block for each run; terms are those that vary together.
type grouped struct {
	conform.Columns
	runs  []ability.LevelRun
	terms []ability.Covariance
}

func (g grouped) LevelRuns() []ability.LevelRun { return g.runs }

func (g grouped) DenseWeights() int { return g.runs[0].First }

func (g grouped) Covariances() []ability.Covariance { return g.terms }

func (g grouped) Blocks() []credence.Block {
	blocks := g.Columns.Blocks()
	blocks[len(blocks)-1].Count = g.Columns.Dense
	for k, r := range g.runs {
		blocks = append(blocks, credence.Block{Name: fmt.Sprint(r.Key, k), First: r.First, Count: r.Levels * r.Columns})
	}
	return blocks
}

// byLevels are rows of two numbers with effects of the levels of g, of which inputs have k columns by a number z that
// is the second, and of those of h, which levels of g lie within where they are nested.
func byLevels(family credence.Likelihood, intercept, nested bool, g, each, k, h int, mix func(z float64) []float64) (grouped, *credence.Batch) {
	rng := rand.New(rand.NewPCG(uint64(g), uint64(k)))
	columns := conform.Columns{Dense: 2, Sparse: g*k + h, Intercept: intercept}
	first := columns.Weights() - columns.Sparse
	f := grouped{Columns: columns, runs: []ability.LevelRun{{Key: "g", First: first, Levels: g, Columns: k}, {Key: "h", First: first + g*k, Levels: h, Columns: 1}}}
	data := &credence.Batch{X: linop.NewDense(g*each, 2+g*k+h)}
	effects := make([]float64, 2*g+h)
	for j := range effects {
		effects[j] = 0.6 * rng.NormFloat64()
	}
	for i := range g * each {
		row, level, other := data.X.Row(i), i/each, rng.IntN(h)
		if nested {
			other = level * h / g
		}
		row[0], row[1] = math.Sin(float64(level)), rng.NormFloat64()
		copy(row[2+level*k:], mix(row[1]))
		row[2+g*k+other] = 1
		value := 0.2 + 0.4*row[0] + 0.5*row[1] + effects[2*level] + effects[2*level+1]*row[1]/2 + effects[2*g+other]
		data.Target = append(data.Target, family.(likelihood.Sampler).Sample(rng, value))
		data.Weight = append(data.Weight, []float64{1, 2, 0.5}[i%3])
	}
	return f, data
}

func one(float64) []float64 { return []float64{1} }

// arrowed is a fit whose weights of levels are eliminated, however few they are.
func arrowed(t *testing.T, model credence.Model, cfg Config, data credence.Data) *credence.Fitted {
	t.Helper()
	r := newFit(t, model, cfg, data)
	finder := arrow.NewFinder(model.Features)
	for k := range r.Data.Blocks() {
		finder.Add(must.Value(r.Rows(0).Block(t.Context(), k))(t).Phi)
	}
	r.Pattern = must.Value(finder.Pattern())(t)
	return must.Value(r.full(t.Context(), nil))(t)
}

// TestEliminatedLevels: with levels eliminated bound, hyper-parameters, posterior and variances of rows are those of
// dense matrices: of crossed and nested keys, of families with parameters, at the mode and integrated, and of the
// Laplace approximation.
func TestEliminatedLevels(t *testing.T) {
	for _, c := range []struct {
		name      string
		family    credence.Likelihood
		nested    bool
		h         int
		config    Config
		intercept bool
		tolerance float64 // in standard deviations, and nats
	}{
		{"classes", likelihood.Bernoulli{}, false, 7, Config{Hyper: param.Mode}, false, 1e-6},
		{"nested counts", likelihood.Poisson{}, true, 70, Config{Hyper: param.Mode}, false, 1e-6},
		{"nested counts, integrated", likelihood.Poisson{}, true, 70, Config{Hyper: param.Integrate}, false, 2e-3},
		{"heavy tails", likelihood.StudentT{}, false, 5, Config{Hyper: param.Integrate}, false, 5e-3},
		{"numbers", likelihood.Gaussian{}, false, 5, Config{Hyper: param.Integrate}, false, 2e-3},
		{"Laplace", likelihood.Bernoulli{}, false, 5, Config{Approximation: Laplace, Hyper: param.Integrate}, false, 1e-4},
		{"an intercept", likelihood.Bernoulli{}, true, 70, Config{Hyper: param.Mode}, true, 1e-2},
	} {
		t.Run(c.name, func(t *testing.T) {
			features, data := byLevels(c.family, c.intercept, c.nested, 80, 4, 1, c.h, one)
			cfg := c.config
			cfg.Covariance, cfg.Tolerance, cfg.Diagnostics = Full, 1e-9, 50
			model := credence.Model{Features: features, Likelihood: c.family, Prior: prior.Normal{}}
			got, want := arrowed(t, model, cfg, conform.Memory{All: data}), fitted(t, model, cfg, conform.Memory{All: data})
			if got.Report.Status != credence.Converged || len(got.Members) != len(want.Members) || got.Report.ParetoK == nil {
				t.Fatalf("%+v", got.Report)
			}
			bound := func(r *credence.Report) float64 {
				for _, v := range []*float64{r.ELBO, r.ELBOMode, r.EvidenceEstimate} {
					if v != nil {
						return *v
					}
				}
				return math.NaN()
			}
			closeTo(t, "bound", bound(&got.Report), bound(&want.Report), c.tolerance)
			for k, v := range want.Report.Hyper {
				closeTo(t, v.Name, math.Log(got.Report.Hyper[k].Value), math.Log(v.Value), 3*c.tolerance)
			}
			ws := credence.NewWorkspace(2)
			var phi credence.Design
			features.Transform(ws, &phi, data)
			for k, m := range got.Members {
				a, ok := m.Posterior.(*posterior.Arrow)
				if !ok {
					t.Fatalf("%T", m.Posterior)
				}
				b := want.Members[k].Posterior
				for what, room := range map[string]int{"weight": features.Weights(), "f": len(data.Target)} {
					mean, variance, of, by := make([]float64, room), make([]float64, room), make([]float64, room), make([]float64, room)
					if what == "f" {
						a.Latent(ws, mean, variance, &phi)
						b.Latent(ws, of, by, &phi)
					} else {
						a.Marginals(mean, variance)
						b.Marginals(of, by)
					}
					for j := range mean {
						closeTo(t, fmt.Sprint(what, j), mean[j]/math.Sqrt(by[j]), of[j]/math.Sqrt(by[j]), 3*c.tolerance)
						closeTo(t, fmt.Sprint("variance of ", what, j), variance[j]/by[j], 1, 5*c.tolerance)
					}
				}
			}
		})
	}
}

// varying are rows with intercepts and slopes by level, and a term that says so.
func varying(family credence.Likelihood, term ability.Covariance) (grouped, *credence.Batch) {
	features, data := byLevels(family, true, false, 20, 12, 2, 4, func(z float64) []float64 { return []float64{1, z} })
	term.Block, term.Key, term.Levels, term.Columns = 2, "g", 20, []string{"1", "z"}
	features.terms = []ability.Covariance{term}
	return features, data
}

// TestHeldCorrelation: columns with stated deviations and a stated correlation are ΦT with independent weights of
// variance 1: bound, mean and variance of every row, of the bound and of the Laplace approximation.
func TestHeldCorrelation(t *testing.T) {
	const a, b, rho = 0.7, 0.4, -0.6
	for _, c := range []struct {
		family credence.Likelihood
		of     Approximation
	}{{likelihood.Bernoulli{}, Variational}, {likelihood.Poisson{}, Laplace}} {
		features, data := varying(c.family, ability.Covariance{SD: []float64{a, b}, Held: true, Correlations: []float64{rho}})
		free := features
		free.terms = []ability.Covariance{{Block: 2, Key: "g", Levels: 20, Columns: []string{"u"}, SD: []float64{1}, Held: true}}
		turned := *data
		turned.X = linop.NewDense(data.X.Rows, data.X.Cols)
		for i := range data.X.Rows {
			row, z := turned.X.Row(i), data.X.Row(i)[1]
			copy(row, data.X.Row(i))
			row[2+2*(i/12)], row[3+2*(i/12)] = a+rho*b*z, b*math.Sqrt(1-rho*rho)*z
		}
		cfg := Config{Covariance: Full, Approximation: c.of, Hyper: param.Mode, Tolerance: 1e-9, Diagnostics: 300, Seed: 4}
		got := fitted(t, credence.Model{Features: features, Likelihood: c.family, Prior: prior.Normal{}}, cfg, conform.Memory{All: data})
		want := arrowed(t, credence.Model{Features: free, Likelihood: c.family, Prior: prior.Normal{}}, cfg, conform.Memory{All: &turned})
		for what, pair := range map[string][2]*float64{"bound": {got.Report.ELBOMode, want.Report.ELBOMode}, "evidence": {got.Report.EvidenceEstimate, want.Report.EvidenceEstimate}, "Pareto k": {got.Report.ParetoK, want.Report.ParetoK}} {
			if (pair[0] == nil) != (pair[1] == nil) {
				t.Fatalf("%s: %v", what, pair)
			}
			if pair[0] != nil {
				closeTo(t, what, *pair[0], *pair[1], 1e-5)
			}
		}
		ws, values := credence.NewWorkspace(1), make([][]float64, 4)
		for k := range values {
			values[k] = make([]float64, data.X.Rows)
		}
		var phi, other credence.Design
		features.Transform(ws, &phi, data)
		free.Transform(ws, &other, &turned)
		got.Members[0].Posterior.Latent(ws, values[0], values[1], &phi)
		want.Members[0].Posterior.Latent(ws, values[2], values[3], &other)
		for i := range values[0] {
			closeTo(t, "mean", values[0][i], values[2][i], 1e-5)
			closeTo(t, "variance", values[1][i]/values[3][i], 1, 1e-5)
		}
		if law := got.Members[0].Model.Prior.(prior.Normal).Correlations; len(law) != 1 || !(math.Abs(law[0].Values[0]-rho) <= 1e-12) || got.Report.HyperJoint != nil {
			t.Errorf("%v, %v", law, got.Report.HyperJoint)
		}
	}
}

// TestCorrelationSlopes: the gradient in logarithms of deviations, in the coordinate of the correlation and in
// parameters of the family is that of differences, at the mode and off it, of the bound and of the Laplace
// approximation; at the mode it is 0.
func TestCorrelationSlopes(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		family credence.Likelihood
		of     Approximation
	}{{likelihood.Bernoulli{}, Variational}, {likelihood.Poisson{}, Laplace}, {likelihood.NegativeBinomial{}, Variational}} {
		features, data := varying(c.family, ability.Covariance{})
		g := integratedBy(t, credence.Model{Features: features, Likelihood: c.family, Prior: prior.Normal{}}, Config{Covariance: Full, Hyper: param.Integrate, Approximation: c.of}, conform.Memory{All: data})
		if left := g.top.Axes.Whitened(g.mode.Gradient); left > 1e-4 {
			t.Errorf("%T: the slope at the mode is %v", c.family, left)
		}
		const step = 1e-3
		density := func(theta []float64) *float64 {
			at := must.Value(g.from(ctx, theta, g.mode.Point, g.mode.Shift, 1e-8))(t)
			return &at.LogDensity
		}
		theta := append([]float64(nil), g.theta...)
		for k := range theta {
			theta[k] += 0.2 - 0.1*float64(k%3)
		}
		at := must.Value(g.from(ctx, theta, g.mode.Point, g.mode.Shift, 1e-8))(t)
		for k, slope := range at.Gradient {
			moved := func(by float64) float64 {
				x := append([]float64(nil), theta...)
				x[k] += by
				return *density(x)
			}
			closeTo(t, fmt.Sprintf("%T, coordinate %d", c.family, k), slope, (moved(step)-moved(-step))/(2*step), 1e-4*(1+math.Abs(slope)))
		}
	}
}

// TestResumeEliminated: a fit of correlated groups, killed after every so many steps and resumed, is the same; so are
// fits with one thread and with seven.
func TestResumeEliminated(t *testing.T) {
	features, data := varying(likelihood.Poisson{}, ability.Covariance{})
	model := credence.Model{Features: features, Likelihood: likelihood.Poisson{}, Prior: prior.Normal{}}
	whole := fitted(t, model, Config{Covariance: Full, Hyper: param.Integrate, Threads: 7}, conform.Memory{All: data})
	cfg := Config{Covariance: Full, Hyper: param.Integrate, Threads: 1, Checkpoint: filepath.Join(t.TempDir(), "checkpoint")}
	for interrupted := 0; ; interrupted++ {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		cfg.Progress = func(credence.Progress) {
			if calls++; calls > interrupted && interrupted < 12 {
				cancel()
			}
		}
		got, err := must.Value(New(model, cfg))(t).Fit(ctx, conform.Memory{All: data})
		cancel()
		if errors.Is(err, context.Canceled) {
			continue
		}
		must.Succeed(t, err)
		a, b := got.Members[0].Posterior.(*posterior.Arrow), whole.Members[0].Posterior.(*posterior.Arrow)
		if interrupted == 0 || !reflect.DeepEqual(got.Report, whole.Report) || !reflect.DeepEqual(a.Mean, b.Mean) || !reflect.DeepEqual(a.Values, b.Values) {
			t.Errorf("after %d interruptions %+v, uninterrupted %+v", interrupted, got.Report, whole.Report)
		}
		break
	}
	names := map[string]bool{}
	for _, v := range whole.Report.HyperSD {
		names[v.Name] = true
	}
	if joint := whole.Report.HyperJoint; joint == nil || len(joint.Names) != 3 || len(joint.Correlations) != 3 || len(joint.Odds) != 1 || len(whole.Report.HyperLaws) != 2 || !names["correlation.g0.1.z"] {
		t.Errorf("%+v, %v, %v", whole.Report.HyperJoint, whole.Report.HyperLaws, names)
	}
	if _, err := base.Groups("svi", features, prior.Normal{}); err == nil {
		t.Error("columns that vary together are taken by an engine that has no arrow")
	}
}
