package score_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// correlated is a posterior of an intercept and two weights of unit variance with correlation r, of which the prior
// has variance v.
func correlated(t *testing.T, first, second, r, v float64) *credence.Fitted {
	t.Helper()
	set, err := feature.New(feature.Inputs{Dense: []feature.Input{{Column: credence.Column{Name: "x"}}, {Column: credence.Column{Name: "z"}}}},
		&feature.Intercept{}, &feature.Linear{Inputs: []int{0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	q := &posterior.Full{Mean: []float64{7, first, second}, Factor: []float64{1, 0, 0, 0, math.Sqrt(1 - r*r), r, 0, 0, 1}}
	model := credence.Model{Features: set, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{Variances: []float64{1, v, v}}}
	return &credence.Fitted{Members: []credence.Member{{Model: model, Posterior: q}}}
}

// Wald's statistic of two correlated weights is (m₁² − 2 r m₁ m₂ + m₂²)/(1 − r²).
func TestBlocksByHand(t *testing.T) {
	for _, c := range []struct {
		first, second, r, v float64
		effect              bool
		df                  float64
	}{
		{1, 1, 0, 1e9, false, 2},
		{1.9, 1.9, 0, 1e9, true, 2},     // 7.2 against 5.99, though each interval holds 0
		{1.7, 1.7, 0, 1e9, false, 2},    // 5.78
		{1.2, -1.2, 0.9, 1e9, true, 2},  // together: 28.8
		{1.9, 1.9, 0.99, 1e9, false, 2}, // one direction: 3.6
		{0, 2, 0, 1e9, true, 2},         // an interval excludes 0, which 4 against 5.99 does not
		{1.5, 1.5, 0, 2, true, 1},       // the prior settles one of the two: 4.5 against 3.84
		{1.3, 1.3, 0, 1.01, false, 1},   // at least one degree of freedom
	} {
		blocks := score.Blocks(correlated(t, c.first, c.second, c.r, c.v))
		want := (c.first*c.first - 2*c.r*c.first*c.second + c.second*c.second) / (1 - c.r*c.r)
		if len(blocks) != 1 || blocks[0].Name != "linear" || blocks[0].Weights != 2 || blocks[0].Effect != c.effect ||
			math.Abs(blocks[0].Wald-want) > 1e-10*want || math.Abs(blocks[0].DF-c.df) > 1e-8 {
			t.Errorf("%+v gives %+v, want Wald %v", c, blocks, want)
		}
	}
}

// Under ARD every weight has a prior variance of its own; a weight that is included is an effect, whatever its
// interval.
func TestBlocksOfOtherPriors(t *testing.T) {
	model := correlated(t, 1, 1, 0, 1)
	model.Members[0].Model.Prior = prior.Normal{ARD: true, Variances: []float64{1, 4, 1e9}}
	if blocks := score.Blocks(model); !(math.Abs(blocks[0].DF-1.75) <= 1e-8) {
		t.Errorf("%+v, want 1.75 degrees of freedom", blocks)
	}
	for probability, effect := range map[float64]bool{0.4: false, 0.6: true} {
		model.Members[0].Posterior = &posterior.SpikeSlab{Mean: []float64{1, 1, 0}, Variance: []float64{1, 1, 0}, Probability: []float64{1, probability, 0}}
		if blocks := score.Blocks(model); blocks[0].Effect != effect || blocks[0].Wald != 1 {
			t.Errorf("inclusion %v: %+v", probability, blocks)
		}
	}
}

// A block without an effect is found to have none in at least 95 of 100 tables, less five standard errors, and one
// with a strong effect never.
func TestNoEffectIsFoundWhereThereIsNone(t *testing.T) {
	const sets, n = 60, 80
	none := map[string]int{}
	for s := range sets {
		rng := rand.New(rand.NewPCG(uint64(s), 77))
		columns := map[string][]float64{}
		for range n {
			for _, name := range []string{"a", "b", "c"} {
				columns[name] = append(columns[name], rng.NormFloat64())
			}
			last := len(columns["a"]) - 1
			columns["y"] = append(columns["y"], columns["a"][last]+rng.NormFloat64())
		}
		rows := table.New()
		for _, name := range []string{"a", "b", "c", "y"} {
			rows.Numbers(name, columns[name])
		}
		source := must.Value(rows.Source())(t)
		for _, b := range score.Blocks(fitted(t, source, fit.Options{Formula: "y ~ a + poly(b, 3) + rbf(c, n=10, lengthscale=1)", Engine: "exact(draws=1)"})) {
			if !b.Effect {
				none[b.Name]++
			}
		}
	}
	t.Logf("no effect in %v of %d", none, sets)
	least := sets*0.95 - 5*math.Sqrt(sets*0.95*0.05)
	if none["linear"] != 0 || float64(none["poly(b, 3)"]) < least || float64(none["rbf(c, n=10, lengthscale=1)"]+none["rbf(c)"]) < least {
		t.Errorf("of %d tables, no effect was found in %v", sets, none)
	}
}
