package gibbs_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// strong draws n rows of 1,000 columns, of which 20 at random places have weights of ±U(½, 2), and targets with a noise deviation of
// ½. Grouped, these are four groups of five columns with pairwise correlation .8 and one sign, and each group has five
// columns more that do not matter.
func strong(n int, grouped bool, rng *rand.Rand) (rows *credence.Batch, weights []float64) {
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
		rows.Target = append(rows.Target, y)
	}
	return rows, weights
}

// TestDesigns: the default beside the lasso on columns with strong weights, apart and in correlated groups: root mean square error, F1 at ½, log
// density and the share of 90 % intervals that hold new targets.
func TestDesigns(t *testing.T) {
	study.OnlyCalibration(t)
	const test, sets = 500, 10
	for _, c := range []struct {
		grouped bool
		n       int
	}{{true, 60}, {true, 120}, {false, 100}, {false, 120}, {false, 80}, {false, 60}} {
		name := "iid"
		if c.grouped {
			name = "group"
		}
		t.Run(fmt.Sprintf("%s/%d", name, c.n), func(t *testing.T) {
			figures, warned := map[string][]float64{}, 0
			for seed := range uint64(sets) {
				all, weights := strong(c.n+test, c.grouped, rand.New(rand.NewPCG(study.Seed(6000)+seed, uint64(c.n))))
				model := credence.Model{Features: conform.Columns{Dense: len(weights), Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
				first, err := ep.New(model, ep.Config{Hyper: hyper.Mode})
				if err != nil {
					t.Fatal(err)
				}
				data := conform.Memory{All: conform.Rows(all, 0, c.n)}
				began, err := first.Fit(context.Background(), data)
				if err != nil {
					t.Fatal(err)
				}
				start := make([]float64, len(weights)+1)
				for j := range start {
					start[j] = began.Members[0].Posterior.(credence.Selector).InclusionProbability(j)
				}
				chains, err := gibbs.New(model, gibbs.Config{Start: start})
				if err != nil {
					t.Fatal(err)
				}
				model.Prior = prior.Normal{}
				lasso, err := penalised.New(model, penalised.Config{Alpha: 1})
				if err != nil {
					t.Fatal(err)
				}
				for name, engine := range map[string]credence.Engine{"default": chains, "lasso": lasso} {
					fitted, err := engine.Fit(context.Background(), data)
					if err != nil {
						t.Fatal(err)
					}
					if name == "default" && len(fitted.Report.Warnings) > 0 {
						warned++
					}
					rows := conform.Rows(all, c.n, test)
					var predicted credence.Distribution
					if err := fitted.DistributionTo(credence.NewWorkspace(1), &predicted, rows); err != nil {
						t.Fatal(err)
					}
					square, density, held := 0.0, 0.0, 0.0
					for i, y := range rows.Target {
						mean, _ := predicted.Moments(i)
						gap := y - mean
						square, density = square+gap*gap/test, density-predicted.LogDensity(i, y)/test
						if below := predicted.CDF(i, y); below >= 0.05 && below <= 0.95 {
							held += 1.0 / test
						}
					}
					hit, called := 0.0, 0.0
					for j, w := range weights {
						if fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j+1) > 0.5 {
							if called++; w != 0 {
								hit++
							}
						}
					}
					for what, v := range map[string]float64{"RMSE": math.Sqrt(square), "NLPD": density, "coverage": held, "F1": 2 * hit / (20 + called)} {
						figures[name+" "+what] = append(figures[name+" "+what], v)
					}
				}
				text := fmt.Sprintf("%d sets, %d warned of:", seed+1, warned)
				for _, what := range []string{"default RMSE", "lasso RMSE", "default F1", "lasso F1", "default NLPD", "default coverage"} {
					mean, spread := study.MeanAndError(figures[what])
					text += fmt.Sprintf("  %s %.3f ± %.3f", what, mean, spread)
				}
				t.Log(text)
			}
		})
	}
}
