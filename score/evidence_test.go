package score_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// TestCompareAcrossTransforms: a model of log(Price) is compared with one of Price in the units of Price:
// its densities have the Jacobian of the test rows and its evidence that of the training rows, by weight.
func TestCompareAcrossTransforms(t *testing.T) {
	type weighed struct{ Size, Price, W float64 }
	var all []weighed
	slope := 0.0
	for i, h := range houses(80) {
		all = append(all, weighed{h.Size, h.Price, float64(1 + i%3)})
		slope -= float64(1+i%3) * math.Log(h.Price)
	}
	source := structs(t, all)
	plain := fitted(t, source, fit.Options{Formula: "Price ~ Size + weight(W)", Family: "gaussian(variance=400)", Prior: "normal(variance=1e4)"})
	log := fitted(t, source, fit.Options{Formula: "log(Price) ~ Size + weight(W)", Family: "gaussian(variance=0.01)", Prior: "normal(variance=1)"})
	for order, models := range [][2]*credence.Fitted{{plain, log}, {log, plain}} {
		c := must.Value(score.Compare(gather(t, "a", models[0], source), gather(t, "b", models[1], source)))(t)
		if !strings.Contains(c.Warnings[0], "different transforms of Price: every figure is of Price itself") {
			t.Errorf("warnings %q", c.Warnings)
		}
		one, other := c.Models[order], c.Models[1-order]
		if *one.Evidence != *plain.Report.Evidence || !near(*other.Evidence, *log.Report.Evidence+slope) {
			t.Errorf("evidence %v and %v, want %v and %v", *one.Evidence, *other.Evidence, *plain.Report.Evidence, *log.Report.Evidence+slope)
		}
		e, err := score.Evaluate(t.Context(), scorer(t, log), source)
		if err != nil || !near(float64(other.NLPD), float64(*e.NLPDOriginal)) {
			t.Errorf("nlpd %v, want %v: %v", other.NLPD, *e.NLPDOriginal, err)
		}
		if gain := float64(one.NLPD - other.NLPD); !near(float64(other.Gain-one.Gain), gain) {
			t.Errorf("gain %v, want %v", other.Gain-one.Gain, gain)
		}
		if apart := float64(c.Models[1].MeanDifference); apart > 20 || apart == 0 { // of prices from 180 to 300
			t.Errorf("means are %v apart", apart)
		}
	}
	c, err := score.Compare(gather(t, "a", log, source), gather(t, "b", log, source))
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "these are the rows that a was fitted to") || *c.Models[1].Evidence != *log.Report.Evidence || c.Models[1].NLPD == metric.Score(0) {
		t.Errorf("a model beside itself: %+v, %v", c, err)
	}
}

// TestEvidenceThatCannotBeCompared: another kind is left out; other rows, scaling, weights, priors and
// bounds are named.
func TestEvidenceThatCannotBeCompared(t *testing.T) {
	all := houses(60)
	source := structs(t, all)
	base := func() *credence.Fitted { return fitted(t, all, fit.Options{Formula: "Price ~ Size"}) }
	first := base()
	for name, c := range map[string]struct {
		other *credence.Fitted
		want  string
		left  bool
	}{
		"raw":    {fitted(t, all, fit.Options{Formula: "Price ~ Size", Raw: true}), "b was fitted with --raw and a to scaled columns", true},
		"rows":   {fitted(t, all[:50], fit.Options{Formula: "Price ~ Size"}), "a was fitted to 60 rows and b to 50: their evidence is not comparable", true},
		"weight": {fitted(t, all, fit.Options{Formula: "Price ~ Size + weight(Rooms)"}), "add up to a weight of 60 and those of b to 180", true},
		"prior":  {fitted(t, all, fit.Options{Formula: "Price ~ Size", Prior: "normal(variance=~3)"}), "a has the prior normal and b the prior normal(variance=~3)", true},
		"kind":   {func() *credence.Fitted { f := base(); f.Report.Hyperparameters = "other"; return f }(), "of b of kind other: it is left out", false},
		"bound": {func() *credence.Fitted {
			f := base()
			f.Report.Evidence, f.Report.EvidenceMode, f.Report.ELBO, f.Report.EvidenceGap = nil, nil, new(-250.0), new(0.031)
			return f
		}(), "the evidence of b is a lower bound, short of it by about 0.031", true},
		"quadrature": {func() *credence.Fitted {
			f := base()
			f.Report.EvidenceCorrection = new(1.5)
			return f
		}(), "quadrature in each group says that the evidence has more than these bounds: 0 of a and 1.5 of b", true},
		"bound of more": {func() *credence.Fitted {
			f := base()
			f.Report.Evidence, f.Report.EvidenceMode, f.Report.ELBO, f.Report.EvidenceGap, f.Report.EvidenceGapLeast = nil, nil, new(-250.0), new(0.42), true
			return f
		}(), "the evidence of b is a lower bound, short of it by at least 0.42", true},
		"none":     {without(base(), nil), "b has no evidence, which engine exact does not give: compare densities", false},
		"estimate": {without(base(), new(-250.0)), "the evidence of b is an estimate", true},
	} {
		got := must.Value(score.Compare(gather(t, "a", first, source), gather(t, "b", c.other, source)))(t)
		if all := strings.Join(got.Warnings, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: warnings %q, want %q", name, all, c.want)
		}
		if m := got.Models[1]; (m.Evidence != nil || m.ELBO != nil || m.EvidenceEstimate != nil) != c.left {
			t.Errorf("%s: evidence %v, bound %v", name, m.Evidence, m.ELBO)
		}
	}
}

// without is a model whose engine gives no evidence, but perhaps an estimate of it.
func without(f *credence.Fitted, estimate *float64) *credence.Fitted {
	f.Report.Evidence, f.Report.EvidenceMode, f.Report.EvidenceEstimate = nil, nil, estimate
	return f
}

// TestEvidenceBesideNone: where the first model has no evidence, the next is what others are set beside.
func TestEvidenceBesideNone(t *testing.T) {
	all := houses(60)
	source := structs(t, all)
	of := func(formula string) *credence.Fitted { return fitted(t, all, fit.Options{Formula: formula}) }
	other := of("Price ~ Rooms")
	other.Report.Hyperparameters = "mode"
	none := without(of("Price ~ Size"), nil)
	none.Report.Hyperparameters = ""
	got := must.Value(score.Compare(gather(t, "a", none, source), gather(t, "b", of("Price ~ Size"), source), gather(t, "c", of("Price ~ Size + Rooms"), source), gather(t, "d", other, source)))(t)
	for i, want := range []bool{false, true, true, false} {
		if (got.Models[i].Evidence != nil) != want {
			t.Errorf("model %d: evidence %v", i, got.Models[i].Evidence)
		}
	}
	warnings := strings.Join(got.Warnings, "\n")
	if !strings.HasPrefix(warnings, "a has no evidence, which engine exact does not give") || strings.Count(warnings, "no evidence") != 1 ||
		!strings.Contains(warnings, "the evidence of b is of kind integrate and that of d of kind mode") || strings.Contains(warnings, "unknown") {
		t.Errorf("warnings:\n%s", warnings)
	}
}

// TestEstimatesAcrossTransforms: estimates that do not tell two models apart in the units of the column are left out,
// whatever its transforms.
func TestEstimatesAcrossTransforms(t *testing.T) {
	all := houses(60)
	source := structs(t, all)
	plain, log := fitted(t, all, fit.Options{Formula: "Price ~ Size"}), fitted(t, all, fit.Options{Formula: "log(Price) ~ Size"})
	compared := func() *score.Comparison {
		return must.Value(score.Compare(gather(t, "a", plain, source), gather(t, "b", log, source)))(t)
	}
	before := compared()
	gap := *before.Models[1].Evidence - *before.Models[0].Evidence
	for _, c := range []struct {
		error float64
		told  bool
	}{{math.Abs(gap), false}, {math.Abs(gap) / 4, true}} {
		log.Report.EvidenceStandardError = new(c.error)
		got := compared()
		if (got.Models[1].Evidence != nil) != c.told || strings.Contains(strings.Join(got.Warnings, "\n"), "does not tell them apart") == c.told {
			t.Errorf("a gap of %v with an error of %v: %v, %q", gap, c.error, got.Models[1].Evidence, got.Warnings)
		}
	}
}

// TestCRPSAcrossTransforms: beside a model of the column itself, one of its logarithm has the CRPS that its predictions
// taken back have, in the units of the column; and rows that are all left out together tell no standard error.
func TestCRPSAcrossTransforms(t *testing.T) {
	all := houses(60)
	source := structs(t, all)
	plain, log := fitted(t, all, fit.Options{Formula: "Price ~ Size"}), fitted(t, all, fit.Options{Formula: "log(Price) ~ Size"})
	e := must.Value(score.Evaluate(t.Context(), must.Value(score.New(log, score.Options{Original: true}))(t), source))(t)
	for order, models := range [][2]*credence.Fitted{{plain, log}, {log, plain}} {
		a, b := gather(t, "a", models[0], source), gather(t, "b", models[1], source)
		c := must.Value(score.Compare(a, b))(t)
		if got := c.Models[1-order]; !near(float64(got.CRPS), float64(*e.CRPS)) || !near(float64(got.RMSE), float64(e.RMSE)) || !got.GainError.Defined() && order == 0 {
			t.Errorf("crps %v and rmse %v, want %v and %v", got.CRPS, got.RMSE, *e.CRPS, e.RMSE)
		}
		a.LeftOut(func(int) int { return 3 })
		b.LeftOut(func(int) int { return 3 })
		if c = must.Value(score.Compare(a, b))(t); c.Models[1].GainError.Defined() || !c.Models[1].Gain.Defined() {
			t.Errorf("of one group the gain is %v ± %v", c.Models[1].Gain, c.Models[1].GainError)
		}
	}
}

// TestCRPSAcrossTransformsCalibrated: so it is of a model of the logarithm that is calibrated.
func TestCRPSAcrossTransformsCalibrated(t *testing.T) {
	type sold struct{ X, Price float64 }
	rng := rand.New(rand.NewPCG(1, 1))
	draw := func(n int) (all []sold) {
		for range n {
			x := rng.Float64()
			all = append(all, sold{x, 1e5 * math.Exp(x+0.3*rng.NormFloat64())})
		}
		return all
	}
	train, held, test := draw(200), draw(400), draw(300)
	plain, log := fitted(t, train, fit.Options{Formula: "Price ~ X"}), fitted(t, train, fit.Options{Formula: "log(Price) ~ X"})
	log = must.Value(score.Calibrate(t.Context(), log, structs(t, held), ""))(t)
	own := must.Value(score.New(log, score.Options{Original: true}))(t)
	want := float64(*must.Value(score.Evaluate(t.Context(), own, structs(t, test)))(t).CRPS)
	c := must.Value(score.Compare(gather(t, "plain", plain, structs(t, test)), gather(t, "log", log, structs(t, test))))(t)
	if got := float64(c.Models[1].CRPS); !near(got, want) {
		t.Errorf("crps %v, want %v as of predictions taken back", got, want)
	}
}
