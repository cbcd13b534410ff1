package ep

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestRanAway: of very many columns what is learned runs away from the sites, and a fit that waits for them finds the
// columns that matter.
func TestRanAway(t *testing.T) {
	const relevant, limit = 10, 90
	s := conform.NewSelection(60, 10_000, relevant, 0, 1, 0.1, false, 6)
	fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Hyper: "mode", MaxIterations: limit})
	if fitted.Report.Iterations <= limit {
		t.Errorf("the fit did not run away in %d sweeps", fitted.Report.Iterations)
	}
	found, called := 0, 0
	for j, w := range s.Weights {
		if fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j+1) > 0.5 {
			if called++; w != 0 {
				found++
			}
		}
	}
	if found < relevant-2 || called > found {
		t.Errorf("%d columns are called, %d of them of the %d that matter", called, found, relevant)
	}
}
