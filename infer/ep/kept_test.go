package ep

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
)

// TestKept: columns that are kept are in every model, under a variance of their own that is integrated over.
func TestKept(t *testing.T) {
	for _, n := range []int{25, 7} { // both forms
		s := conform.NewSelection(n, 8, 4, 0.3, 1, 0.5, false, 5)
		s.Features = conform.Columns{Dense: 8, Intercept: true, Kept: 2}
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, Prior: held(0.3, 1)}, Config{}))(t)
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		mean, sd := location(s)
		block := f.KeptBlocks[0]
		density := func(u float64) float64 { v, _, _ := block.Prior.At(u); return v }
		inclusion, weights, evidence := s.EnumerateKept(0.3, 1, 0.5, mean, 100*sd*sd, density, block.Start, f.Units.Scale)
		m, v := make([]float64, 9), make([]float64, 9)
		q := fitted.Members[0].Posterior.(credence.Selector)
		q.Marginals(m, v)
		for j, want := range inclusion {
			if got := q.InclusionProbability(j + 1); !(math.Abs(got-want) <= 0.05) || j < 2 && got != 1 {
				t.Errorf("n = %d: inclusion of column %d is %.3f, by enumeration %.3f", n, j+1, got, want)
			}
			if !(math.Abs(m[j+1]-weights[j]) <= 0.05) {
				t.Errorf("n = %d: weight %d is %.3f, by enumeration %.3f", n, j+1, m[j+1], weights[j])
			}
		}
		if got := *fitted.Report.EvidenceEstimate; !(math.Abs(got-evidence) <= 0.2) {
			t.Errorf("n = %d: log evidence is %.3f, by enumeration %.3f", n, got, evidence)
		}
		if name := fitted.Report.Hyper[len(fitted.Report.Hyper)-1].Name; name != "prior_variance.kept" {
			t.Errorf("the last learned value is %s", name)
		}
		terms := must.Value(score.Terms(fitted, score.TermOptions{}))(t)
		for j, term := range terms {
			if got := term.Inclusion != nil; got != (j > 2) {
				t.Errorf("weight %d has an inclusion: %t", j, got)
			}
		}
		above := 0
		for _, a := range inclusion[2:] {
			if a > 0.5 {
				above++
			}
		}
		if count, _ := score.Selected(fitted); count != above {
			t.Errorf("%d weights are selected, by enumeration %d", count, above)
		}
	}
}
