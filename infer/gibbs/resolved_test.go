package gibbs_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestResolved: where nothing matters a flat prior of the inclusion has half of the columns in at next to no weight,
// which is said and counts for nothing; columns that matter, few or all, are as they were, and so is a slab that is
// stated.
func TestResolved(t *testing.T) {
	for _, c := range []struct {
		n, p, relevant int
		slab           float64
		prior          prior.SpikeSlab
		told           bool
	}{
		{100, 100, 0, 1, prior.SpikeSlab{}, false}, {60, 60, 0, 1, prior.SpikeSlab{}, false},
		{100, 100, 20, 0.3, prior.SpikeSlab{}, true}, {200, 50, 50, 0.04, prior.SpikeSlab{}, true}, {60, 200, 3, 1, prior.SpikeSlab{}, true},
		{100, 100, 0, 1, prior.SpikeSlab{Slab: param.Hold(1e-4)}, true},
	} {
		for seed := range uint64(2) {
			s := conform.NewSelection(c.n, c.p, c.relevant, 0, c.slab, 1, false, 510+seed)
			model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: c.prior}
			chains := must.Value(gibbs.New(model, gibbs.Config{Flips: 4000}))(t)
			sites := must.Value(ep.New(model, ep.Config{}))(t)
			for name, engine := range map[string]credence.Engine{"gibbs": chains, "ep": sites} {
				fitted := must.Value(engine.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
				called, resolved, hit := 0, 0, 0
				for j, w := range s.Weights {
					in := fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j + 1)
					of := in
					if fitted.Resolved != nil {
						of = fitted.Resolved[j+1]
					}
					if of > in+1e-12 || of < 0 {
						t.Errorf("%s: column %d is in with %v, of which %v is resolved", name, j, in, of)
					}
					if in > 0.5 {
						called++
					}
					if of > 0.5 {
						if resolved++; w != 0 {
							hit++
						}
					}
				}
				warned := slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool { return strings.HasPrefix(w, "nothing is told apart") })
				t.Logf("%s: %d of %d columns matter, %d called, %d of what is resolved, %d of them matter; warned %t", name, c.relevant, c.p, called, resolved, hit, warned)
				switch {
				case c.told && (warned || resolved != called):
					t.Errorf("%s, %+v: warned %t, %d called and %d of what is resolved", name, c, warned, called, resolved)
				case !c.told && (resolved > 1 || called > 1 && !warned):
					t.Errorf("%s, %+v: warned %t, %d called and %d of what is resolved", name, c, warned, called, resolved)
				}
			}
		}
	}
}
