package ep_test

import (
	"context"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestWide: the time of fits by the number of dense columns.
func TestWide(t *testing.T) {
	study.OnlyCalibration(t)
	for _, p := range []int{1_000, 10_000, 100_000} {
		s := conform.NewSelection(200, p, 20, 0, 1, 0.1, false, 1)
		model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
		engine := must.Value(ep.New(model, ep.Config{Hyper: "mode"}))(t)
		before := study.Processor()
		fitted := must.Value(engine.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		found, called := 0, 0
		for j, w := range s.Weights {
			if fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j+1) > 0.5 {
				if called++; w != 0 {
					found++
				}
			}
		}
		t.Logf("%d columns: %.1f CPU s, %d sweeps, %s, %d called, %d of them of the 20 that matter",
			p, (study.Processor() - before).Seconds(), fitted.Report.Iterations, fitted.Report.Status, called, found)
	}
}
