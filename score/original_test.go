package score_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// originals visits the rows of houses scored in the target's own units, beside those of the formula's.
func originals(t *testing.T, model *credence.Fitted, all []house, visit func(own, written *score.Rows, i int)) {
	t.Helper()
	back := must.Value(score.New(model, score.Options{Original: true}))(t)
	own := must.Value(back.Table(structs(t, all), score.UseTargets))(t)
	written := must.Value(scorer(t, model).Table(structs(t, all), score.UseTargets))(t)
	if err := own.Each(t.Context(), func(a *score.Rows) error {
		return written.Each(t.Context(), func(b *score.Rows) error {
			for i := range a.Len() {
				visit(a, b, i)
			}
			return nil
		})
	}); err != nil {
		t.Fatal(err)
	}
}

// TestOriginalUnits: the prediction of a normal log is log-normal, and that of a root has the mean m² + v
// up to what lies below 0; quantiles go through the inverse, and densities have the Jacobian.
func TestOriginalUnits(t *testing.T) {
	all := houses(60)
	for formula, c := range map[string]struct {
		back, slope func(y float64) float64 // of the transform y
		mean, sd    func(m, v float64) float64
	}{
		"log(Price) ~ Size + Rooms": {math.Exp, func(y float64) float64 { return -y },
			func(m, v float64) float64 { return math.Exp(m + v/2) },
			func(m, v float64) float64 { return math.Exp(m+v/2) * math.Sqrt(math.Expm1(v)) }},
		"sqrt(Price) ~ Size + Rooms": {func(y float64) float64 { return y * y }, func(y float64) float64 { return -math.Log(2 * y) },
			func(m, v float64) float64 { return m*m + v },
			func(m, v float64) float64 { return math.Sqrt(4*m*m*v + 2*v*v) }},
		"log(log(Price)) ~ Size + Rooms": {func(y float64) float64 { return math.Exp(math.Exp(y)) }, func(y float64) float64 { return -y - math.Exp(y) }, nil, nil},
	} {
		model := fitted(t, all, fit.Options{Formula: formula, Family: "gaussian(variance=0.01)", Prior: "normal(variance=0.3)"})
		originals(t, model, all, func(own, written *score.Rows, i int) {
			got, y := own.Predict(i), written.Predict(i)
			if own.Target(i) != all[i].Price && !(math.Abs(own.Target(i)/all[i].Price-1) <= 1e-14) {
				t.Fatalf("%s: target %v of a price of %v", formula, own.Target(i), all[i].Price)
			}
			if c.mean != nil {
				m, v := written.Moments(i)
				if !(math.Abs(got.Mean/c.mean(m, v)-1) <= 1e-9) || !(math.Abs(got.SD/c.sd(m, v)-1) <= 1e-7) {
					t.Fatalf("%s: %v ± %v, want %v ± %v", formula, got.Mean, got.SD, c.mean(m, v), c.sd(m, v))
				}
			}
			var median [1]float64
			written.Quantiles(median[:], i, []float64{0.5})
			if got.Lower != c.back(y.Lower) || got.Upper != c.back(y.Upper) || got.Median != c.back(median[0]) {
				t.Fatalf("%s: %+v of %+v", formula, got, y)
			}
			inside := written.Target(i)
			if want := written.LogDensity(i, inside) + c.slope(inside); !near(own.LogDensity(i, own.Target(i)), want) {
				t.Fatalf("%s: log density %v, want %v", formula, own.LogDensity(i, own.Target(i)), want)
			}
			if got := own.LogDensity(i, -3); !math.IsInf(got, -1) {
				t.Fatalf("%s: log density %v of a negative price", formula, got)
			}
			a, _ := own.Sample(i, credence.Rand(1, credence.PredictSamples, uint64(i)))
			b, _ := written.Sample(i, credence.Rand(1, credence.PredictSamples, uint64(i)))
			if a != c.back(b) {
				t.Fatalf("%s: draws %v and %v", formula, a, b)
			}
		})
		e := must.Value(score.Evaluate(context.Background(), scorer(t, model), structs(t, all)))(t)
		want := float64(e.NLPD)
		originals(t, model, all, func(_, written *score.Rows, i int) { want -= c.slope(written.Target(i)) / 60 })
		if e.NLPDOriginal == nil || !near(float64(*e.NLPDOriginal), want) {
			t.Errorf("%s: nlpd_original %v, want %v", formula, e.NLPDOriginal, want)
		}
	}
}

// TestNoWayBack: a square, and the moments of the exponential of heavy tails.
func TestNoWayBack(t *testing.T) {
	all := houses(40)
	model := fitted(t, all, fit.Options{Formula: "square(Price) ~ Size"})
	if _, err := score.New(model, score.Options{Original: true}); err == nil || !strings.Contains(err.Error(), "predictions of square(Price) cannot be taken back to Price") {
		t.Errorf("the error reads %v", err)
	}
	if e, err := score.Evaluate(t.Context(), scorer(t, model), structs(t, all)); err != nil || e.NLPDOriginal != nil {
		t.Errorf("%+v, %v", e, err)
	}
	plain := fitted(t, all, fit.Options{Formula: "Price ~ Size"})
	originals(t, plain, all, func(own, written *score.Rows, i int) {
		a, b := own.Predict(i), written.Predict(i)
		if b.Median = a.Median; a != b {
			t.Fatalf("a target without a transform is taken back from %+v to %+v", b, a)
		}
	})
	heavy := fitted(t, all, fit.Options{Formula: "log(Price) ~ Size", Family: "studentt(df=5)"})
	if _, ok := heavy.Members[0].Model.Likelihood.(likelihood.StudentT); !ok {
		t.Fatal("the family is another")
	}
	originals(t, heavy, all, func(own, _ *score.Rows, i int) {
		if p := own.Predict(i); !math.IsNaN(p.Mean) || !math.IsNaN(p.SD) || !(p.Lower < p.Median && p.Median < p.Upper) {
			t.Fatalf("the exponential of a Student t has the prediction %+v", p)
		}
	})
}

// TestMeanIntervalUnits: the interval of E y of members of noises of their own has the unit of the target, whatever
// that is.
func TestMeanIntervalUnits(t *testing.T) {
	type bright struct{ X, Flux float64 }
	intervals := func(unit float64) (lower, upper []float64) {
		rng := rand.New(rand.NewPCG(4, 4))
		var all, some []bright
		for i := range 80 {
			x := float64(i) / 20
			all = append(all, bright{x, unit * math.Exp(math.Sin(x)+0.2*rng.NormFloat64())})
			if i%16 == 0 {
				some = append(some, all[i])
			}
		}
		model := fitted(t, all, fit.Options{Formula: "log(Flux) ~ rbf(X, n=3)"})
		if len(model.Members) < 2 {
			t.Fatal("the fit has one member")
		}
		own := must.Value(score.New(model, score.Options{Original: true}))(t)
		each := must.Value(own.Table(structs(t, some), score.IgnoreTargets))(t)
		must.Succeed(t, each.Each(t.Context(), func(rows *score.Rows) error {
			l, u, err := rows.MeanIntervals()
			lower, upper = append(lower, l...), append(upper, u...)
			return err
		}))
		return lower, upper
	}
	lower, upper := intervals(1)
	const unit = 1e-18
	l, u := intervals(unit)
	for i := range l {
		if !(math.Abs(l[i]/unit/lower[i]-1) <= 1e-3 && math.Abs(u[i]/unit/upper[i]-1) <= 1e-3) {
			t.Fatalf("row %d: %v to %v in units of 1, and %v to %v of %v", i, lower[i], upper[i], l[i]/unit, u[i]/unit, unit)
		}
	}
}
