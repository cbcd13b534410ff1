package ep_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestSimulationClasses: ep beside the lasso on classes of the simulation, σ(Xw) of 20 weights from N(0, 4), with
// nothing stated.
func TestSimulationClasses(t *testing.T) {
	study.OnlyCalibration(t)
	const p, rows, sets = 1000, 500, 10
	for _, n := range []int{120, 200, 400} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var figures [2][4][]float64 // of ep and of the lasso: log loss, error, F1, false ones
			for seed := range uint64(sets) {
				s := conform.NewSelection(n+rows, p, 20, 0, 4, 0, false, study.Seed(3000)+seed)
				rng := rand.New(rand.NewPCG(study.Seed(3000)+seed, 5))
				for i, y := range s.Target {
					s.Target[i] = 0
					if rng.Float64() < 1/(1+math.Exp(0.7-y)) {
						s.Target[i] = 1
					}
				}
				model := credence.Model{Features: s.Features, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}
				engine := must.Value(ep.New(model, ep.Config{}))(t)
				model.Prior = prior.Normal{}
				lasso := must.Value(penalised.New(model, penalised.Config{Alpha: 1}))(t)
				for k, e := range []credence.Engine{engine, lasso} {
					fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: conform.Rows(&s.Batch, 0, n)}))(t)
					var predicted credence.Distribution
					test := conform.Rows(&s.Batch, n, rows)
					must.Succeed(t, fitted.DistributionTo(credence.NewWorkspace(0), &predicted, test))
					loss, wrong := 0.0, 0.0
					for i, y := range test.Target {
						density := predicted.LogDensity(i, y)
						if loss -= density / rows; density < math.Log(0.5) {
							wrong += 1.0 / rows
						}
					}
					q, hit, called := fitted.Members[0].Posterior.(credence.Selector), 0.0, 0.0
					for j, w := range s.Weights {
						if q.InclusionProbability(j+1) > 0.5 {
							if called++; w != 0 {
								hit++
							}
						}
					}
					for m, v := range []float64{loss, wrong, 2 * hit / (20 + called), called - hit} {
						figures[k][m] = append(figures[k][m], v)
					}
				}
			}
			for k, name := range []string{"ep", "lasso"} {
				for m, what := range []string{"log loss", "error", "F1", "false"} {
					mean, spread := study.MeanAndError(figures[k][m])
					t.Logf("n=%d %-5s %-8s %.3f ± %.3f (most %.3f)", n, name, what, mean, spread, slices.Max(figures[k][m]))
				}
			}
			for i, v := range figures[1][0] {
				figures[1][0][i] = figures[0][0][i] - v
			}
			mean, spread := study.MeanAndError(figures[1][0])
			t.Logf("n=%d log loss of ep less that of the lasso %.3f ± %.3f", n, mean, spread)
		})
	}
}
