package gibbs_test

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestSimulation: ep and gibbs on the simulation with nothing stated.
func TestSimulation(t *testing.T) {
	study.OnlyCalibration(t)
	for _, n := range []int{60, 80, 100, 120} {
		var integrated, mode, chains []conform.Score
		for seed := range uint64(10) {
			s := conform.NewTrial(n, 1000+seed)
			model := credence.Model{Features: s.Train.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
			e, err := ep.New(model, ep.Config{})
			_, score := s.Fit(t, e, err)
			integrated = append(integrated, score)
			e, err = ep.New(model, ep.Config{Hyper: hyper.Mode})
			first, score := s.Fit(t, e, err)
			mode = append(mode, score)
			start := make([]float64, model.Features.Weights())
			for j := range start {
				start[j] = first.Members[0].Posterior.(credence.Selector).InclusionProbability(j)
			}
			g, err := gibbs.New(model, gibbs.Config{Start: start})
			_, after := s.Fit(t, g, err)
			after.Seconds += score.Seconds
			chains = append(chains, after)
		}
		t.Logf("n=%d ep%s", n, conform.Scores(integrated))
		t.Logf("n=%d ep(hyper=mode)%s", n, conform.Scores(mode))
		t.Logf("n=%d gibbs%s", n, conform.Scores(chains))
	}
}
