package exact

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Tolerances. Evidence and posteriors are the result of a few hundred additions and
// a solve with a matrix of condition below 1e4: 1e-9 leaves two digits. Central
// differences with step 1e-5 are good to 1e-10 of the third derivative plus rounding 1e-11·n.
const (
	algebra    = 1e-9
	difference = 2e-6
	step       = 1e-5
)

// problems are models small enough for dense algebra, with more rows than weights and fewer.
func problems() map[string]struct {
	features credence.Features
	data     *table
} {
	type problem = struct {
		features credence.Features
		data     *table
	}
	out := map[string]problem{
		"intercept only": {plain{intercept: true}, randomTable(1, 20, 0, 0)},
		"no weights":     {plain{}, randomTable(2, 20, 0, 0)},
		"one row":        {plain{intercept: true, dense: 2, sizes: []int{2}}, randomTable(3, 1, 2, 0)},
		"two rows":       {plain{intercept: true, dense: 1, sizes: []int{1}}, randomTable(4, 2, 1, 0)},
	}
	for _, n := range []int{9, 40, 530} { // fewer rows than weights, more, and two blocks
		for _, roles := range []int{0, 1, 2, 3} {
			if n > 500 && roles%3 > 0 { // dense algebra of many rows takes long
				continue
			}
			name := fmt.Sprintf("n=%d roles=%d", n, roles)
			out["dense "+name] = problem{plain{intercept: true, dense: 15, sizes: []int{5, 10}},
				randomTable(5, n, 15, 0).withRoles(6, roles&1 > 0, roles&2 > 0)}
			out["sparse "+name] = problem{plain{intercept: true, dense: 3, sparse: 14, sizes: []int{2, 15}},
				randomTable(7, n, 3, 14).withRoles(8, roles&1 > 0, roles&2 > 0)}
			out["only sparse "+name] = problem{plain{sparse: 14, sizes: []int{4, 10}},
				randomTable(9, n, 0, 14).withRoles(10, roles&1 > 0, roles&2 > 0)}
			if n > 9 {
				one := plain{intercept: true, dense: 3, sizes: []int{3}}.byLevels(ability.LevelRun{Key: "g", Levels: 8, Columns: 1}, ability.LevelRun{Key: "g", Levels: 8, Columns: 2})
				crossed := plain{dense: 2, sizes: []int{2}}.byLevels(ability.LevelRun{Key: "g", Levels: 6, Columns: 1}, ability.LevelRun{Key: "h", Levels: 5, Columns: 2})
				tuned := newBent(3, 0)
				tuned.plain = tuned.byLevels(ability.LevelRun{Key: "h", Levels: 4, Columns: 1}, ability.LevelRun{Key: "g", Levels: 9, Columns: 1})
				out["levels "+name] = problem{one, levelTable(15, n, 3, one).withRoles(16, roles&1 > 0, roles&2 > 0)}
				out["crossed levels "+name] = problem{crossed, levelTable(17, n, 2, crossed).withRoles(18, roles&1 > 0, roles&2 > 0)}
				out["levels and lengthscales "+name] = problem{tuned, levelTable(19, n, 3, tuned.plain).withRoles(20, roles&1 > 0, roles&2 > 0)}
			}
			out["tuned "+name] = problem{newBent(5, 0), randomTable(11, n, 5, 0).withRoles(12, roles&1 > 0, roles&2 > 0)}
			out["tuned sparse "+name] = problem{newBent(4, 3), randomTable(13, n, 4, 3).withRoles(14, roles&1 > 0, roles&2 > 0)}
		}
	}
	return out
}

// forms opens both forms for some data, whichever New would choose.
func forms(t *testing.T, e *Engine, data credence.Data) map[string]form {
	t.Helper()
	out := map[string]form{}
	if keyed, ok := e.model.Features.(ability.Keyed); ok && len(keyed.LevelRuns()) > 0 {
		r := must.Value(e.openRows(context.Background(), data, 0, e.tuned))(t)
		out["levels"] = e.newLevels(&primal{common: e.common(r, credence.NewWorkspace(2), e.tuned), rowSums: &Sums{segment: e.segment}})
		return out
	}
	for _, name := range []string{"primal", "dual"} {
		r := must.Value(e.openRows(context.Background(), data, 0, e.tuned))(t)
		c := e.common(r, credence.NewWorkspace(2), e.tuned)
		if name == "primal" {
			out[name] = &primal{common: c, rowSums: &Sums{segment: e.segment}}
		} else {
			out[name] = &dual{common: c}
		}
	}
	return out
}

// TestFormsAgainstDenseAlgebra compares evidence, gradient and posterior of both forms
// with log N(y|0, K), its central differences, and the posterior by the n×n formula.
func TestFormsAgainstDenseAlgebra(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for name, p := range problems() {
		for _, ard := range []bool{false, true} {
			e := must.Value(New(model(p.features, prior.Normal{ARD: ard}, likelihood.Gaussian{}), Config{}))(t)
			noise, lambda := 0.4, make([]float64, p.features.Weights())
			at := values{noise: noise}
			for k, g := range e.groups {
				v := 0.5 + 0.2*float64(k%5)
				at.prior = append(at.prior, v)
				for j := g.First; j < g.First+g.Count; j++ {
					lambda[j] = v
				}
			}
			for kind, f := range forms(t, e, p.data) {
				t.Run(fmt.Sprintf("%s ard=%v %s", name, ard, kind), func(t *testing.T) {
					compareForm(t, e, f, p.features, p.data, at, lambda)
				})
			}
		}
	}
}

func compareForm(t *testing.T, e *Engine, f form, features credence.Features, data *table, at values, lambda []float64) {
	ctx := context.Background()
	must.Succeed(t, f.load(ctx, features))
	unit := f.base().summary.units.Scale
	inUnits := values{noise: at.noise / unit / unit}
	for _, v := range at.prior {
		inUnits.prior = append(inUnits.prior, v/unit/unit)
	}
	s := slopes{prior: make([]float64, len(at.prior))}
	var tunable credence.Tunable
	if e.tuned {
		tunable = features.(credence.Tunable)
		s.hyper = make([]float64, len(tunable.Hyper()))
	}
	got := must.Value(f.evaluate(ctx, &inUnits, &s))(t)
	want, mean, cov := reference(t, features, data, at.noise, lambda)
	near(t, "evidence", got, want, algebra)
	alone := must.Value(f.evaluate(ctx, &inUnits, nil))(t)
	near(t, "evidence without slopes", alone, want, algebra)
	if _, err := f.evaluate(ctx, &inUnits, &s); err != nil { // for the posterior
		t.Fatal(err)
	}
	comparePosterior(t, f.posterior(), features, data, mean, cov)
	if data.Rows() > 100 {
		return // differences of a large reference take long, and blocks do not matter to them
	}

	evidence := func(features credence.Features, noise float64, lambda []float64) float64 {
		v, _, _ := reference(t, features, data, noise, lambda)
		return v
	}
	slope := func(up, down float64) float64 { return (up - down) / (2 * step) }
	near(t, "slope of log noise", s.noise,
		slope(evidence(features, at.noise*math.Exp(step), lambda), evidence(features, at.noise*math.Exp(-step), lambda)), difference)
	for k, g := range e.groups {
		if k > 3 { // one weight is like another
			break
		}
		moved := func(by float64) []float64 {
			out := append([]float64(nil), lambda...)
			for j := g.First; j < g.First+g.Count; j++ {
				out[j] *= math.Exp(by)
			}
			return out
		}
		near(t, fmt.Sprintf("slope of log prior variance %d", k), s.prior[k],
			slope(evidence(features, at.noise, moved(step)), evidence(features, at.noise, moved(-step))), difference)
	}
	for h := range s.hyper {
		moved := func(by float64) credence.Features {
			values := problem.HyperValues(tunable)
			values[h] *= math.Exp(by)
			return tunable.WithHyper(values)
		}
		near(t, fmt.Sprintf("slope of log hyper-parameter %d", h), s.hyper[h],
			slope(evidence(moved(step), at.noise, lambda), evidence(moved(-step), at.noise, lambda)), difference)
	}
}

func comparePosterior(t *testing.T, q credence.Posterior, features credence.Features, data *table, mean interface{ AtVec(int) float64 }, cov interface{ At(i, j int) float64 }) {
	t.Helper()
	d := features.Weights()
	if q.Weights() != d {
		t.Fatalf("the posterior has %d weights, want %d", q.Weights(), d)
	}
	m, v := make([]float64, d), make([]float64, d)
	q.Marginals(m, v)
	for j := range d {
		near(t, fmt.Sprintf("mean of weight %d", j), m[j], mean.AtVec(j), algebra)
		near(t, fmt.Sprintf("variance of weight %d", j), v[j], cov.At(j, j), algebra)
	}
	if d == 0 {
		return
	}
	ws := credence.NewWorkspace(1)
	var phi credence.Design
	features.Transform(ws, &phi, data.batch())
	n := data.Rows()
	fm, fv := make([]float64, n), make([]float64, n)
	q.Latent(ws, fm, fv, &phi)
	dense := designOf(features, data)
	for i := range min(n, 20) {
		wantMean, wantVariance := 0.0, 0.0
		for j := range d {
			wantMean += dense.At(i, j) * mean.AtVec(j)
			for k := range d {
				wantVariance += dense.At(i, j) * dense.At(i, k) * cov.At(j, k)
			}
		}
		near(t, fmt.Sprintf("mean of f in row %d", i), fm[i], wantMean, algebra)
		near(t, fmt.Sprintf("variance of f in row %d", i), fv[i], wantVariance, algebra)
	}
}

// TestFormsAgree compares the two forms with each other on random problems.
func TestFormsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(60, 60))
	for trial := range 100 {
		n, p, s := 1+rng.IntN(40), 1+rng.IntN(12), rng.IntN(8)
		features := newBent(p, s)
		data := randomTable(uint64(trial), n, p, s).withRoles(uint64(trial), rng.IntN(2) == 0, rng.IntN(2) == 0)
		if data.weight != nil {
			data.weight[0] = 1.5
		}
		e := must.Value(New(model(features, prior.Normal{ARD: rng.IntN(2) == 0}, likelihood.Gaussian{}), Config{}))(t)
		at := values{noise: math.Exp(2 * rng.NormFloat64())}
		for range e.groups {
			at.prior = append(at.prior, math.Exp(2*rng.NormFloat64()))
		}
		var evidence []float64
		var all []slopes
		for _, name := range []string{"primal", "dual"} {
			f := forms(t, e, data)[name]
			must.Succeed(t, f.load(context.Background(), features))
			got := slopes{prior: make([]float64, len(e.groups)), hyper: make([]float64, p)}
			v := must.Value(f.evaluate(context.Background(), &at, &got))(t)
			evidence, all = append(evidence, v), append(all, got)
		}
		// Condition numbers reach 1e6 here.
		const tolerance = 1e-8
		near(t, "evidence", evidence[0], evidence[1], tolerance)
		near(t, "slope of noise", all[0].noise, all[1].noise, tolerance)
		for k := range e.groups {
			near(t, "slope of prior variance", all[0].prior[k], all[1].prior[k], tolerance)
		}
		for h := range p {
			near(t, "slope of hyper-parameter", all[0].hyper[h], all[1].hyper[h], tolerance)
		}
	}
}

// TestFactorFoundAgain: values at which the matrix has no factor, as a search may try them, leave no failure behind for
// the next ones.
func TestFactorFoundAgain(t *testing.T) {
	data := randomTable(59, 40, 3, 0)
	for i := range 40 {
		data.x.Row(i)[1] = data.x.Row(i)[0]
	}
	e := must.Value(New(model(linear(3), prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	good, bad := values{noise: 0.4, prior: []float64{1, 1}}, values{noise: 1e-308, prior: []float64{1, 1e300}}
	for name, f := range forms(t, e, data) {
		must.Succeed(t, f.load(t.Context(), e.model.Features))
		want := must.Value(f.evaluate(t.Context(), &good, nil))(t)
		for _, s := range []*slopes{nil, {prior: make([]float64, 2)}} {
			if lost := must.Value(f.evaluate(t.Context(), &bad, s))(t); f.base().failed == nil || !math.IsNaN(lost) {
				t.Errorf("%s: the evidence is %v at next to no noise, and %v lacks", name, lost, f.base().failed)
			}
			if got := must.Value(f.evaluate(t.Context(), &good, s))(t); got != want && s == nil || f.base().failed != nil || f.base().jitter != 0 {
				t.Errorf("%s: the evidence is %v after that, want %v; what failed is %v, jitter %g", name, got, want, f.base().failed, f.base().jitter)
			}
		}
	}
}
