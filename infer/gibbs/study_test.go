package gibbs_test

import (
	"context"
	"fmt"
	"math"
	"sort"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestSimulation is the paper's simulation: 1,000 columns of which 20 matter, few rows; the root mean
// square error of f on new rows, F1 of the selection and seconds.
func TestSimulation(t *testing.T) {
	study.OnlyCalibration(t)
	for _, n := range []int{60, 80, 100, 120} {
		score := map[string][][4]float64{}
		for seed := range uint64(10) {
			all := conform.NewSelection(n+500, 1000, 20, 0, 1, 0.1, false, 1000+seed)
			s := conform.Selection{Batch: *conform.Rows(&all.Batch, 0, n), Features: all.Features, Weights: all.Weights}
			model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
			data := conform.Memory{All: &s.Batch}
			run := func(name string, e credence.Engine, err error, before float64) (*credence.Fitted, float64) {
				if err != nil {
					t.Fatal(err)
				}
				begin := time.Now()
				fitted, err := e.Fit(context.Background(), data)
				if err != nil {
					t.Fatal(err)
				}
				seconds := time.Since(begin).Seconds() + before
				q := fitted.Members[0].Posterior
				m, v := make([]float64, 1001), make([]float64, 1001)
				q.Marginals(m, v)
				square := 0.0
				for i := n; i < n+500; i++ {
					gap := m[0] - 0.7
					for j, x := range all.X.Row(i) {
						gap += x * (m[j+1] - all.Weights[j])
					}
					square += gap * gap / 500
				}
				hit, called, relevant := 0.0, 0.0, 0.0
				for j, w := range all.Weights {
					in := q.(credence.Selector).InclusionProbability(j+1) > 0.5
					if in {
						called++
					}
					if w != 0 {
						relevant++
						if in {
							hit++
						}
					}
				}
				score[name] = append(score[name], [4]float64{math.Sqrt(square + 0.1), 2 * hit / (called + relevant), called - hit, seconds})
				return fitted, seconds
			}
			e, err := ep.New(model, ep.Config{})
			run("ep", e, err, 0)
			e, err = ep.New(model, ep.Config{Hyper: hyper.Mode})
			fitted, seconds := run("ep mode", e, err, 0)
			start := make([]float64, 1001)
			for j := range start {
				start[j] = fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j)
			}
			g, err := gibbs.New(model, gibbs.Config{Start: start})
			run("gibbs", g, err, seconds)
		}
		for name, list := range score {
			text := fmt.Sprintf("n=%d %-6s", n, name)
			for k, what := range []string{"rmse", "f1", "false", "s"} {
				var of []float64
				sum := 0.0
				for _, v := range list {
					of = append(of, v[k])
					sum += v[k] / float64(len(list))
				}
				sort.Float64s(of)
				text += fmt.Sprintf("  %s %.3f (median %.3f, worst %.3f)", what, sum, of[len(of)/2], of[len(of)-1])
			}
			t.Log(text)
		}
	}
}
