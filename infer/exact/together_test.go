package exact

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// grouped are features with columns that vary together by level.
type grouped struct {
	plain
	covariances []ability.Covariance
}

func (g grouped) Covariances() []ability.Covariance { return g.covariances }

func groupedFeatures(runs ...ability.LevelRun) grouped {
	g := grouped{plain: plain{dense: 2, sizes: []int{2}}.byLevels(runs...)}
	for k, r := range g.runs {
		c := ability.Covariance{Block: k + 1, Key: r.Key, Levels: r.Levels}
		for j := range r.Columns {
			c.Columns = append(c.Columns, fmt.Sprint("x", j))
		}
		g.covariances = append(g.covariances, c)
	}
	return g
}

// TestTogetherAgainstDenseAlgebra: evidence, slopes and posterior of columns that vary together, of one key, of two in
// the head, crossed in the rest, and nested, against N(y|0, ΦPΦᵀ + σ²) and its differences.
func TestTogetherAgainstDenseAlgebra(t *testing.T) {
	run := func(key string, levels, k int) ability.LevelRun {
		return ability.LevelRun{Key: key, Levels: levels, Columns: k}
	}
	for name, features := range map[string]grouped{
		"one key":  groupedFeatures(run("g", 9, 2)),
		"a head":   groupedFeatures(run("g", 7, 3), run("g", 7, 1), run("g", 7, 2)),
		"crossed":  groupedFeatures(run("g", 9, 2), run("h", 5, 3)),
		"an outer": groupedFeatures(run("h in g", 99, 2), run("g", 33, 2)),
	} {
		t.Run(name, func(t *testing.T) {
			data := levelTable(51, 60, 2, features.plain).withRoles(52, true, true)
			for i := range data.weight {
				data.weight[i]++
			}
			e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
			at := values{noise: 0.6}
			for k := range e.groups {
				at.prior = append(at.prior, 0.5+0.3*float64(k%4))
			}
			for k := range e.odds {
				at.prior = append(at.prior, math.Exp(0.8-0.7*float64(k%4)))
			}
			covariance := func(at values) *mat.Dense {
				d := features.Weights()
				p := mat.NewDense(d, d, nil)
				for k, g := range e.groups {
					for j := g.First; j < g.End(); j += g.Step() {
						p.Set(j, j, at.prior[k])
					}
				}
				members, _ := problem.CorrelationsAt(e.together, at.prior[len(e.groups):])
				for i, term := range e.together {
					correlations := members[i].Values
					for r := range term.K {
						for c := range r {
							v := correlations[special.Pairs(r)+c] * math.Sqrt(at.prior[term.Group+r]*at.prior[term.Group+c])
							for g := range term.Levels {
								p.Set(term.First+g*term.K+r, term.First+g*term.K+c, v)
								p.Set(term.First+g*term.K+c, term.First+g*term.K+r, v)
							}
						}
					}
				}
				return p
			}
			repeated := data.repeated()
			phi := designOf(features, repeated)
			n := repeated.Rows()
			y := mat.NewVecDense(n, nil)
			for i, v := range repeated.target {
				y.SetVec(i, v-repeated.offset[i])
			}
			dense := func(at values) (evidence float64, mean mat.VecDense, cov mat.Dense) {
				p := covariance(at)
				var cross, k mat.Dense
				cross.Mul(phi, p)
				k.Mul(&cross, phi.T())
				sym := mat.NewSymDense(n, nil)
				for i := range n {
					for j := range i + 1 {
						sym.SetSym(i, j, k.At(i, j))
					}
					sym.SetSym(i, i, k.At(i, i)+at.noise/repeated.precision[i])
				}
				var chol mat.Cholesky
				if !chol.Factorize(sym) {
					t.Fatal("not positive definite")
				}
				var alpha mat.VecDense
				must.Succeed(t, chol.SolveVecTo(&alpha, y))
				mean.MulVec(cross.T(), &alpha)
				var solved mat.Dense
				must.Succeed(t, chol.SolveTo(&solved, &cross))
				cov.Mul(cross.T(), &solved)
				cov.Sub(p, &cov)
				return -0.5 * (float64(n)*math.Log(2*math.Pi) + chol.LogDet() + mat.Dot(y, &alpha)), mean, cov
			}
			r := must.Value(e.openRows(context.Background(), data, 0, false))(t)
			f := e.newForm(r, credence.NewWorkspace(2), false)
			must.Succeed(t, f.load(context.Background(), features))
			unit := f.base().summary.units.Scale
			in := func(at values) *values {
				out := &values{noise: at.noise / unit / unit}
				for k, v := range at.prior {
					if k < len(e.groups) {
						v /= unit * unit
					}
					out.prior = append(out.prior, v)
				}
				return out
			}
			s := slopes{prior: make([]float64, len(at.prior))}
			got := must.Value(f.evaluate(context.Background(), in(at), &s))(t)
			want, mean, cov := dense(at)
			near(t, "evidence", got, want, algebra)
			comparePosterior(t, f.posterior(), features, data, &mean, &cov)
			var moments hyper.Point
			f.moments(in(at), &moments)
			for j := range features.Weights() {
				near(t, "a moment", unit*unit*moments.Variance[j], cov.At(j, j), algebra)
			}
			for k := range at.prior {
				move := func(by float64) float64 {
					moved := values{noise: at.noise, prior: append([]float64(nil), at.prior...)}
					moved.prior[k] *= math.Exp(by)
					v, _, _ := dense(moved)
					return v
				}
				near(t, fmt.Sprintf("slope %d", k), s.prior[k], (move(step)-move(-step))/(2*step), difference)
			}
			move := func(by float64) float64 {
				v, _, _ := dense(values{noise: at.noise * math.Exp(by), prior: at.prior})
				return v
			}
			near(t, "slope of the noise", s.noise, (move(step)-move(-step))/(2*step), difference)
		})
	}
}

// TestTogetherStated: correlations and standard deviations that are held stay, and the report and the prior of the
// model have what was learned.
func TestTogetherStated(t *testing.T) {
	features := groupedFeatures(ability.LevelRun{Key: "g", Levels: 30, Columns: 2})
	data := levelTable(53, 200, 2, features.plain)
	learned := must.Value(must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t).Fit(context.Background(), data))(t)
	if _, ok := learned.Members[0].Posterior.(*posterior.Arrow); !ok || len(learned.Members[0].Model.Prior.(prior.Normal).Correlations) != 1 {
		t.Errorf("%T, %v", learned.Members[0].Posterior, learned.Members[0].Model.Prior)
	}
	names := map[string]float64{}
	for _, v := range learned.Report.Hyper {
		names[v.Name] = v.Value
	}
	if rho, ok := names["correlation.b.x0.x1"]; !ok || !(math.Abs(rho) < 0.8) || names["prior_variance.b.x1"] == 0 {
		t.Errorf("%v", names)
	}
	// What is told of the spread of a correlation's odds is that of its law, which is near normal here.
	spread := learned.Report.HyperSD[slices.IndexFunc(learned.Report.HyperSD, func(v credence.Value) bool { return v.Name == "correlation.b.x0.x1" })].Value
	law, sum, mean, square := learned.Report.HyperJoint.Odds[0], 0.0, 0.0, 0.0
	for k := 1; k < len(law.At); k++ {
		from, to := math.Log(law.At[k-1])/2, math.Log(law.At[k])/2
		u, share := (from+to)/2, (to-from)*(math.Exp(law.LogDensity[k-1])+math.Exp(law.LogDensity[k]))
		sum, mean, square = sum+share, mean+share*u, square+share*u*u
	}
	if want := math.Sqrt(square/sum - mean*mean/sum/sum); law.Name != "correlation.b.x0.x1" || !(math.Abs(spread/want-1) <= 0.15) {
		t.Errorf("the spread of %s is %v, and %v by its law", law.Name, spread, want)
	}
	features.covariances[0].SD, features.covariances[0].Held, features.covariances[0].Correlations = []float64{2, 0.5}, true, []float64{-0.3}
	held := must.Value(must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t).Fit(context.Background(), data))(t)
	p := held.Members[0].Model.Prior.(prior.Normal)
	first := features.runs[0].First
	if near := math.Abs(p.Correlations[0].Values[0] + 0.3); near > 1e-12 || !(math.Abs(p.Variances[first]-4) <= 1e-9) || !(math.Abs(p.Variances[first+1]-0.25) <= 1e-9) {
		t.Errorf("%v, %v", p.Correlations, p.Variances[first:first+2])
	}
	block := features.Blocks()[1]
	if got, want := p.UnseenForm(block, []float64{1, -2}), 4+4*0.25+2*0.3*2*2*0.5; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("a further level has variance %v, want %v", got, want)
	}
	features.covariances[0].Correlations = []float64{1}
	if _, err := New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}); err == nil {
		t.Error("a correlation of 1 is accepted")
	}
}

// TestHeldBesideLearned: the correlation that is learned stands after those that are held.
func TestHeldBesideLearned(t *testing.T) {
	features := groupedFeatures(ability.LevelRun{Key: "g", Levels: 9, Columns: 3}, ability.LevelRun{Key: "h", Levels: 5, Columns: 2})
	features.covariances[0].Correlations = []float64{0.1, 0.2, -0.3}
	e := must.Value(New(model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}))(t)
	list := e.correlations()
	if len(list) != 1 {
		t.Fatalf("%d correlations are learned", len(list))
	}
	at := point{values: values{prior: make([]float64, len(e.groups)+4)}}
	s := slopes{prior: make([]float64, len(at.prior))}
	last := len(at.prior) - 1
	if s.prior[last] = 7; list[0].value(&at) != &at.prior[last] || list[0].slope(&s) != 7 {
		t.Error("it stands at another place")
	}
}
