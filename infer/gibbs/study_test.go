package gibbs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// inclusions are those of all weights of a fit.
func inclusions(fitted *credence.Fitted) []float64 {
	q := fitted.Members[0].Posterior.(credence.Selector)
	list := make([]float64, q.Weights())
	for j := range list {
		list[j] = q.InclusionProbability(j)
	}
	return list
}

// TestSimulation: ep and gibbs on 50 sets of the simulation with nothing stated, 10 with -short.
func TestSimulation(t *testing.T) {
	study.OnlyCalibration(t)
	for _, n := range []int{60, 80, 100, 120} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var integrated, mode, chains []conform.Score
			sets := uint64(50)
			if testing.Short() {
				sets = 10
			}
			for seed := range sets {
				s := conform.NewTrial(n, 1000+seed)
				model := credence.Model{Features: s.Train.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
				e, err := ep.New(model, ep.Config{})
				_, score := s.Fit(t, e, err)
				integrated = append(integrated, score)
				e, err = ep.New(model, ep.Config{Hyper: param.Mode})
				first, score := s.Fit(t, e, err)
				mode = append(mode, score)
				g, err := gibbs.New(model, gibbs.Config{Start: inclusions(first)})
				_, after := s.Fit(t, g, err)
				after.Seconds += score.Seconds
				chains = append(chains, after)
				t.Logf("%d sets: gibbs%s", seed+1, conform.Scores(chains))
			}
			t.Logf("n=%d ep%s", n, conform.Scores(integrated))
			t.Logf("n=%d ep(hyper=mode)%s", n, conform.Scores(mode))
			t.Logf("n=%d gibbs%s", n, conform.Scores(chains))
		})
	}
}

// TestNull: how many of 100 features ep and gibbs call where none matters, with the prior of π by default, Beta(1, 9),
// and with a flat one.
func TestNull(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, p = 20, 100
	for _, stated := range []prior.SpikeSlab{{}, {InclusionPrior: [2]float64{1, 1}}} {
		for _, n := range []int{60, 100} {
			for _, correlation := range []float64{0, 0.5} {
				t.Run(fmt.Sprintf("%v/%d/%v", stated.InclusionPrior, n, correlation), func(t *testing.T) {
					shares, resolved, warned := [2]float64{}, [2]float64{}, [2]int{}
					for seed := range uint64(sets) {
						s := conform.NewSelection(n, p, 0, correlation, 1, 1, false, study.Seed(500)+seed)
						model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: stated}
						first, err := ep.New(model, ep.Config{})
						must.Succeed(t, err)
						var start []float64
						for k := range shares {
							var engine credence.Engine = first
							if k == 1 {
								engine, err = gibbs.New(model, gibbs.Config{Start: start})
								must.Succeed(t, err)
							}
							fitted, err := engine.Fit(context.Background(), conform.Memory{All: &s.Batch})
							must.Succeed(t, err)
							if slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool { return strings.HasPrefix(w, "nothing is told apart") }) {
								warned[k]++
							}
							start = inclusions(fitted)
							for j, in := range start[1:] {
								if in > 0.5 {
									if shares[k] += 100.0 / sets / p; fitted.Resolved == nil || fitted.Resolved[j+1] > 0.5 {
										resolved[k] += 100.0 / sets / p
									}
								}
							}
						}
					}
					t.Logf("prior %v, n=%d, correlation %.1f: above ½ are %.2f %% by ep and %.2f %% by gibbs, called %.2f %% and %.2f %%; %v of %d sets are warned of",
						stated.InclusionPrior, n, correlation, shares[0], shares[1], resolved[0], resolved[1], warned, sets)
				})
			}
		}
	}
}
