package laplace_test

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/laplace"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestSimulation: FLAS and FLAS* on the simulation with noise, slab, spike and inclusion held as in
// the paper, FLAS with all of them learned, the lasso and the capped lasso; seconds are of one thread.
func TestSimulation(t *testing.T) {
	study.OnlyCalibration(t)
	for _, n := range []int{100, 120} {
		scores := make([][]conform.Score, 5)
		for seed := range uint64(10) {
			s := conform.NewTrial(n, 1000+seed)
			held := credence.Model{
				Features: s.Train.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.1)},
				Prior: prior.SpikeSlab{Inclusion: param.Hold(0.5), Slab: param.Hold(1), Spike: param.Hold(1e-3)},
			}
			learned, lasso := held, held
			learned.Likelihood, learned.Prior = likelihood.Gaussian{}, prior.SpikeSlab{}
			lasso.Likelihood, lasso.Prior = likelihood.Gaussian{}, prior.Normal{}
			run := func(k int, e credence.Engine, err error) {
				_, score := s.Fit(t, e, err)
				scores[k] = append(scores[k], score)
			}
			flas, err := laplace.New(held, laplace.Config{Threads: 1})
			run(0, flas, err)
			star, err := laplace.New(held, laplace.Config{Method: laplace.GIST, Threads: 1})
			run(1, star, err)
			free, err := laplace.New(learned, laplace.Config{Threads: 1})
			run(2, free, err)
			penalty, err := penalised.New(lasso, penalised.Config{Alpha: 1, Threads: 1})
			run(3, penalty, err)
			capped, err := penalised.New(lasso, penalised.Config{Alpha: 1, Cap: 2, Threads: 1})
			run(4, capped, err)
		}
		for k, name := range []string{"FLAS", "FLAS*", "FLAS, learned", "lasso", "capped L1"} {
			t.Logf("n=%d %s%s", n, name, conform.Scores(scores[k]))
		}
	}
}
