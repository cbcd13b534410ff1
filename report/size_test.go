package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/table"
)

// TestSize: a page of 60 weights has 300 kB at most; in a study, those of 200 and 500 random features in four draws, of
// which factors are rounded, 1.5 and 6 MB.
func TestSize(t *testing.T) {
	for _, c := range []struct {
		columns, features, members, least int
		most                              int
	}{{59, 0, 1, 60, 300_000}, {8, 200, 4, 400, 1_500_000}, {8, 500, 4, 1000, 6_000_000}} {
		t.Run(fmt.Sprintf("%d columns, %d features", c.columns, c.features), func(t *testing.T) {
			if c.features > 0 {
				study.Only(t)
			}
			const n = 800
			rng, b := rand.New(rand.NewPCG(3, 4)), table.New()
			y, names := make([]float64, n), []string(nil)
			for j := range c.columns {
				x := make([]float64, n)
				for i := range x {
					x[i] = rng.NormFloat64()
					y[i] += x[i]/float64(1+j) + .1*rng.NormFloat64()
				}
				names = append(names, fmt.Sprintf("x%d", j))
				b.Numbers(names[j], x)
			}
			formula := "y ~ " + strings.Join(names, " + ")
			if c.features > 0 {
				formula += fmt.Sprintf(" + rbf(., n=%d)", c.features)
			}
			rows := must.Value(b.Numbers("y", y).Source())(t)
			scorer := scorerOf(t, rows, fit.Options{Formula: formula})
			drawn := map[any]bool{}
			for _, m := range scorer.Fitted().Members {
				drawn[m.Model.Features] = true
			}
			weights := scorer.Fitted().Members[0].Posterior.Weights()
			var page bytes.Buffer
			summary := must.Value(Write(t.Context(), &page, Input{Models: []Model{{"m", scorer}}, Rows: rows}))(t)
			if len(drawn) != c.members || weights < c.least || !summary.Form || page.Len() > c.most {
				t.Errorf("%d bytes of %d weights in %d draws, form %v; %d at most", page.Len(), weights, len(drawn), summary.Form, c.most)
			}
			t.Logf("%d weights in %d draws: %d bytes", weights, len(drawn), page.Len())
		})
	}
}
