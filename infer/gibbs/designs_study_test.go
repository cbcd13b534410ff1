package gibbs_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// strong draws n rows of 1,000 columns, of which 20 at random places have weights of ±U(½, 2), and targets with a noise
// deviation of ½, or the class of those above 0. Grouped, these are four groups of five columns with pairwise
// correlation .8 and one sign, and each group has five columns more that do not matter.
func strong(n int, grouped, classes bool, rng *rand.Rand) (rows *credence.Batch, weights []float64) {
	const p, relevant, correlation = 1000, 20, 0.8
	places := rng.Perm(p)
	weights = make([]float64, p)
	sign := 1.0
	for k, j := range places[:relevant] {
		if k%5 == 0 || !grouped {
			sign = float64(2*rng.IntN(2) - 1)
		}
		weights[j] = sign * (0.5 + 1.5*rng.Float64())
	}
	rows = &credence.Batch{X: linop.NewDense(n, p)}
	for i := range n {
		row, y := rows.X.Row(i), rng.NormFloat64()/2
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		for g := 0; g < relevant/5 && grouped; g++ {
			common := rng.NormFloat64()
			for k := range 5 {
				for _, j := range []int{places[5*g+k], places[relevant+5*g+k]} {
					row[j] = math.Sqrt(correlation)*common + math.Sqrt(1-correlation)*row[j]
				}
			}
		}
		for j, w := range weights {
			y += w * row[j]
		}
		if classes {
			y = (math.Copysign(1, y) + 1) / 2
		}
		rows.Target = append(rows.Target, y)
	}
	return rows, weights
}

// TestDesigns: the default beside the lasso and the elastic net on columns with strong weights, apart and in correlated
// groups: root mean square error, or the share of classes that are wrong, F1 at ½, log density and the share of 90 %
// intervals that hold new targets.
func TestDesigns(t *testing.T) {
	study.OnlyCalibration(t)
	const test, sets = 500, 10
	for _, c := range []struct {
		name             string
		grouped, classes bool
		n                int
	}{{"group", true, false, 60}, {"group", true, false, 120}, {"iid", false, false, 100}, {"iid", false, false, 120}, {"iid", false, false, 80},
		{"iid", false, false, 60}, {"classes", false, true, 60}, {"classes", false, true, 120}} {
		t.Run(fmt.Sprintf("%s/%d", c.name, c.n), func(t *testing.T) {
			names := []string{"default", "lasso", "elastic net"}
			figures, warned := map[string][]float64{}, 0
			for seed := range uint64(sets) {
				all, weights := strong(c.n+test, c.grouped, c.classes, rand.New(rand.NewPCG(study.Seed(6000)+seed, uint64(c.n))))
				data, rows := conform.Memory{All: conform.Rows(all, 0, c.n)}, conform.Rows(all, c.n, test)
				for k, engine := range designEngines(t, len(weights), c.classes, data) {
					fitted := must.Value(engine.Fit(context.Background(), data))(t)
					if k == 0 && len(fitted.Report.Warnings) > 0 {
						warned++
					}
					var predicted credence.Distribution
					must.Succeed(t, fitted.DistributionTo(credence.NewWorkspace(1), &predicted, rows))
					square, density, held := 0.0, 0.0, 0.0
					for i, y := range rows.Target {
						mean, _ := predicted.Moments(i)
						if c.classes {
							mean = math.Round(mean)
						}
						square, density = square+(y-mean)*(y-mean)/test, density-predicted.LogDensity(i, y)/test
						if below := predicted.CDF(i, y); below >= 0.05 && below <= 0.95 {
							held += 1.0 / test
						}
					}
					if !c.classes {
						square = math.Sqrt(square)
					}
					hit, called := 0.0, 0.0
					for j, in := range inclusions(fitted)[1:] {
						if in > 0.5 {
							if called++; weights[j] != 0 {
								hit++
							}
						}
					}
					of := map[string]float64{"error": square, "NLPD": density, "F1": 2 * hit / (20 + called)}
					if !c.classes {
						of["coverage"] = held
					}
					if errors := figures["default error"]; k > 0 {
						of["error above the default's"] = square - errors[len(errors)-1]
					}
					for what, v := range of {
						figures[names[k]+" "+what] = append(figures[names[k]+" "+what], v)
					}
				}
				text := fmt.Sprintf("%d sets, %d warned of:", seed+1, warned)
				for _, what := range slices.Sorted(maps.Keys(figures)) {
					mean, spread := study.MeanAndError(figures[what])
					text += fmt.Sprintf("  %s %.3f ± %.3f", what, mean, spread)
				}
				t.Log(text)
			}
		})
	}
}

// designEngines are the default, the lasso and the elastic net of equal parts: the default is ep of classes, and of
// normal targets chains that begin where it ends.
func designEngines(t *testing.T, columns int, classes bool, data credence.Data) (engines []credence.Engine) {
	t.Helper()
	model := credence.Model{Features: conform.Columns{Dense: columns, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
	config := ep.Config{Hyper: param.Mode}
	if classes {
		model.Likelihood, config = likelihood.Bernoulli{}, ep.Config{}
	}
	first, err := ep.New(model, config)
	must.Succeed(t, err)
	engines = append(engines, first)
	if !classes {
		began, err := first.Fit(context.Background(), data)
		must.Succeed(t, err)
		engines[0], err = gibbs.New(model, gibbs.Config{Start: inclusions(began)})
		must.Succeed(t, err)
	}
	model.Prior = prior.Normal{}
	for _, alpha := range []float64{1, 0.5} {
		e, err := penalised.New(model, penalised.Config{Alpha: alpha})
		must.Succeed(t, err)
		engines = append(engines, e)
	}
	return engines
}
