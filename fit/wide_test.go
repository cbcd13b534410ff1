package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestWideClasses: with more than 2,000 columns auto, svi and convex have the same prior variance, by rows that are
// left out; what people read has no intervals of weights, and hyper=mode is as it was.
func TestWideClasses(t *testing.T) {
	const n, p = 40, 2001
	rng := rand.New(rand.NewPCG(5, 5))
	b, y, first := table.New(), make([]float64, n), make([]float64, n)
	for j := range p {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		if b.Numbers(fmt.Sprint("x", j), x); j == 0 {
			first = x
		}
	}
	for i, v := range first {
		if v > 0 {
			y[i] = 1
		}
	}
	rows := must.Value(b.Numbers("y", y).Source())(t)
	fits := map[string]*credence.Fitted{}
	for _, engine := range []string{"", "svi", "svi(hyper=heldout)", "convex", "convex(hyper=heldout)", "svi(hyper=mode)", "convex(hyper=mode)"} {
		fits[engine] = must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ .", Family: "bernoulli", Engine: engine}))(t)
		r := &fits[engine].Report
		told, _ := score.Intervals(r)
		switch want := fits[""].Report.Hyper.Of("prior_variance.linear", 0); {
		case strings.Contains(engine, "mode"):
			if r.Hyperparameters != "mode" || !told || r.HyperEvaluations != 0 {
				t.Errorf("%s: %+v", engine, r)
			}
		case r.Hyperparameters != "heldout" || told || r.HyperEvaluations == 0 || math.Abs(r.Hyper.Of("prior_variance.linear", 0)/want-1) > 1e-9 || r.Evidence != nil || r.EvidenceMode != nil || r.ELBOMode != nil || r.EvidenceBoundMode != nil:
			t.Errorf("%s: %+v", engine, r)
		}
	}
	left := fits[""].Report.Hyper.Of("held_out_log_loss", 0)
	if b := score.Summarise(fits[""]).Baseline; float64(b.Evidence) != left || b.Bound != "" || b.How != "on rows left out" || !(left > 0) {
		t.Errorf("beside a prediction without columns: %+v, want the log loss %v of rows left out", b, left)
	}
	share := fits[""].Report.Hyper.Of("spread", 0)
	law := fits[""].Members[0].Model.Prior.(prior.Normal).Variances[p]
	if want := share * fits[""].Report.Hyper.Of("prior_variance.linear", 0); !(math.Abs(law/want-1) <= 1e-12) || !(share > 0) {
		t.Errorf("a further weight has the variance %v, want %v", law, want)
	}
	one, other := score.NewScores("a", fits[""]), score.NewScores("b", fits["convex"])
	compared := must.Value(score.Compare(one, other))(t)
	if slices.ContainsFunc(compared.Models, func(c score.Compared) bool { return c.ELBO != nil || c.EvidenceBound != nil || c.Evidence != nil }) {
		t.Errorf("evidence is compared: %+v", compared.Models)
	}
	if !strings.Contains(strings.Join(compared.Warnings, "; "), "a has no evidence, since its prior variances were chosen by rows that were left out") {
		t.Errorf("%q", compared.Warnings)
	}
}
