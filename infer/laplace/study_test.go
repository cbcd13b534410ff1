package laplace_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestSimulation is the paper's simulation with noise, slab, spike and inclusion held as in the paper,
// beside the lasso: 1,000 columns of which 20 matter; the root mean square error on new rows, F1 of
// the selection and seconds. CREDENCE_ROWS and CREDENCE_SEEDS choose sizes.
func TestSimulation(t *testing.T) {
	study.Only(t)
	seeds := 5
	if text := os.Getenv("CREDENCE_SEEDS"); text != "" {
		fmt.Sscan(text, &seeds)
	}
	rows := "100"
	if text := os.Getenv("CREDENCE_ROWS"); text != "" {
		rows = text
	}
	for _, text := range strings.Split(rows, ",") {
		n := 0
		fmt.Sscan(text, &n)
		scores := map[string][][]float64{}
		var names []string
		for seed := range seeds {
			all := conform.NewSelection(n+500, 1000, 20, 0, 1, 0.1, false, 1000+uint64(seed))
			s := conform.Selection{Batch: *conform.Rows(&all.Batch, 0, n), Features: all.Features, Weights: all.Weights}
			data := conform.Memory{All: &s.Batch}
			run := func(name string, e credence.Engine, err error) {
				if err != nil {
					t.Fatal(err)
				}
				before, begin := study.Processor(), time.Now()
				fitted, err := e.Fit(context.Background(), data)
				if err != nil {
					t.Fatal(err)
				}
				seconds := (study.Processor() - before).Seconds()
				if seconds == 0 {
					seconds = time.Since(begin).Seconds()
				}
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
				if scores[name] == nil {
					names = append(names, name)
				}
				scores[name] = append(scores[name], []float64{math.Sqrt(square + 0.1), 2 * hit / (called + relevant), called - hit, seconds})
			}
			held := credence.Model{
				Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.1)},
				Prior: prior.SpikeSlab{Inclusion: param.Hold(0.5), Slab: param.Hold(1), Spike: param.Hold(1e-3)},
			}
			learned := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
			lasso := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
			flas, err := laplace.New(held, laplace.Config{Threads: 1})
			run("flas", flas, err)
			star, err := laplace.New(held, laplace.Config{Method: laplace.GIST, Threads: 1})
			run("flas*", star, err)
			free, err := laplace.New(learned, laplace.Config{Threads: 1})
			run("flas learned", free, err)
			penalty, err := penalised.New(lasso, penalised.Config{Alpha: 1, Threads: 1})
			run("lasso", penalty, err)
			capped, err := penalised.New(lasso, penalised.Config{Alpha: 1, Cap: 2, Threads: 1})
			run("cappedl1", capped, err)
		}
		for _, name := range names {
			text := fmt.Sprintf("n=%d %-12s", n, name)
			for k, what := range []string{"rmse", "f1", "false", "s"} {
				var of []float64
				sum := 0.0
				for _, v := range scores[name] {
					of = append(of, v[k])
					sum += v[k] / float64(seeds)
				}
				sort.Float64s(of)
				text += fmt.Sprintf("  %s %.3f (median %.3f, worst %.3f)", what, sum, of[len(of)/2], of[len(of)-1])
			}
			t.Log(text)
		}
	}
}
