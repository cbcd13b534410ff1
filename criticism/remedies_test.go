package criticism_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// sheet is rows of named columns.
type sheet struct {
	names  []string
	values [][]float64
}

// with adds or replaces a column.
func (s sheet) with(name string, value func(row func(name string) float64, i int) float64) sheet {
	column := make([]float64, len(s.values[0]))
	for i := range column {
		column[i] = value(func(name string) float64 { return s.column(name)[i] }, i)
	}
	out := sheet{}
	for k, other := range s.names {
		if other != name {
			out.names, out.values = append(out.names, other), append(out.values, s.values[k])
		}
	}
	return sheet{append(out.names, name), append(out.values, column)}
}

func (s sheet) column(name string) []float64 {
	for k, other := range s.names {
		if other == name {
			return s.values[k]
		}
	}
	panic("no column " + name)
}

// keep returns the rows for which where holds.
func (s sheet) keep(where func(row func(name string) float64, i int) bool) sheet {
	out := sheet{s.names, make([][]float64, len(s.names))}
	for i := range s.values[0] {
		if where(func(name string) float64 { return s.column(name)[i] }, i) {
			for k := range s.names {
				out.values[k] = append(out.values[k], s.values[k][i])
			}
		}
	}
	return out
}

func (s sheet) source(t testing.TB) credence.Source {
	t.Helper()
	b := table.New()
	for k, name := range s.names {
		b.Numbers(name, s.values[k])
	}
	source, err := b.Source()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// fitted fits a formula.
func (s sheet) fitted(t testing.TB, formula, family string) (*credence.Fitted, credence.Source) {
	t.Helper()
	source := s.source(t)
	model, err := fit.Table(context.Background(), source, fit.Options{Formula: formula, Family: family, Missing: frame.Mean, Seed: 1})
	if err != nil {
		t.Fatalf("%s, %s: %v", formula, family, err)
	}
	return model, source
}

// loss is the mean of −log p(y) of other rows, of y itself where the formula transforms it.
func loss(t testing.TB, train, test sheet, formula, family string) float64 {
	t.Helper()
	model, _ := train.fitted(t, formula, family)
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := score.Evaluate(context.Background(), scorer, test.source(t))
	if err != nil {
		t.Fatal(err)
	}
	if e.NLPDOriginal != nil {
		return float64(*e.NLPDOriginal)
	}
	return float64(e.NLPD)
}

// other follows a remedy by another formula or family.
func other(formula, family string) func(testing.TB, sheet, sheet, criticism.Finding) float64 {
	return func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		return loss(t, train, test, formula, family)
	}
}

// hurdle fits whether a count is zero, and those above zero less one, apart.
func hurdle(family string) func(testing.TB, sheet, sheet, criticism.Finding) float64 {
	return func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		isZero := func(row func(string) float64, _ int) float64 {
			if row("y") == 0 {
				return 1
			}
			return 0
		}
		above := func(row func(string) float64, _ int) bool { return row("y") > 0 }
		less := func(row func(string) float64, _ int) float64 { return row("y") - 1 }
		rest, left := train.keep(above).with("y", less), test.keep(above).with("y", less)
		return loss(t, train.with("y", isZero), test.with("y", isZero), base, "bernoulli") +
			loss(t, rest, left, base, family)*float64(len(left.values[0]))/float64(len(test.values[0]))
	}
}

// beyond fits whether a row goes beyond each grade, of the rows that reach it.
func beyond(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
	sum := 0.0
	for grade := range 3 {
		at := float64(grade)
		reach := func(row func(string) float64, _ int) bool { return row("y") >= at }
		further := func(row func(string) float64, _ int) float64 {
			if row("y") > at {
				return 1
			}
			return 0
		}
		left := test.keep(reach)
		sum += loss(t, train.keep(reach).with("y", further), left.with("y", further), base, "bernoulli") * float64(len(left.values[0]))
	}
	return sum / float64(len(test.values[0]))
}

const base = "y ~ a + b + c + d"

// rowOf is a row function of a sheet.
type rowOf = func(name string) float64

// draws returns a value function that draws from a family at f, which is linear in the columns, and more.
func draws(rng *rand.Rand, family likelihood.Sampler, more func(row rowOf, i int) float64) func(rowOf, int) float64 {
	return func(row rowOf, i int) float64 {
		f := 0.5 + 0.4*row("a") - 0.3*row("b") + 0.3*row("c")
		if more != nil {
			f += more(row, i)
		}
		return family.Sample(rng, f)
	}
}

var unit = likelihood.Gaussian{NoiseVariance: param.Hold(1)}
var graded = likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 0.5, 2}, State: param.Held}}

// remedies are what findings say to do, each with data that provoke it and how it is followed. Two thirds of the
// rows are fitted, and the others have to be likelier by what is followed.
var remedies = []struct {
	name, formula, family string
	draw                  func(rng *rand.Rand, s sheet) sheet
	train, test           func(s sheet) sheet // nil: as they are
	check, remedy         string
	follow                func(t testing.TB, train, test sheet, found criticism.Finding) float64
	rows                  int // of training and test together, 900 for 0
	slow                  bool
	never                 string // a check that would say the same of another fault
	seed                  uint64 // of the first set
}{
	{name: "copy of the target", formula: base + " + z", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, unit, nil)).with("z", func(row rowOf, _ int) float64 { return math.Round(1000*(3-2*row("y"))) / 1000 })
	}, test: without("z"), check: "target", remedy: "leave it out, - z", follow: other(base+" + z - z", "")},
	{name: "parts of the target", formula: base + " + u + v", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("u", draws(rng, unit, nil)).with("v", func(rowOf, int) float64 { return rng.NormFloat64() }).
			with("y", func(row rowOf, _ int) float64 { return row("u") + row("v") })
	}, test: without("u", "v"), check: "target", remedy: "leave out what is not known", follow: other(base, "")},
	{name: "repeats", draw: func(rng *rand.Rand, s sheet) sheet { return s.with("y", draws(rng, unit, nil)) }, train: func(s sheet) sheet {
		first := s.keep(func(_ rowOf, i int) bool { return i < 20 })
		out := sheet{s.names, make([][]float64, len(s.names))}
		for k := range out.values {
			for range 5 {
				out.values[k] = append(out.values[k], first.values[k]...)
			}
		}
		return out
	}, check: "repeats", remedy: "keep one of each", follow: func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		return loss(t, train.keep(func(_ rowOf, i int) bool { return i < 20 }), test, base, "")
	}},
	{name: "outliers left out", draw: wild, test: tame, check: "outliers", remedy: "correct or leave out", follow: func(t testing.TB, train, test sheet, f criticism.Finding) float64 {
		out := map[int]bool{}
		for _, i := range f.Rows {
			out[i] = true
		}
		return loss(t, train.keep(func(_ rowOf, i int) bool { return !out[i] }), test, base, "")
	}},
	{name: "outliers, studentt", draw: wild, check: "outliers", remedy: "--family studentt", follow: other(base, "studentt")},
	{name: "impossible counts", family: "poisson", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, likelihood.Poisson{}, func(_ rowOf, i int) float64 {
			if i%100 == 1 {
				return 2.5
			}
			return 0
		}))
	}, check: "outliers", remedy: "--family negbinomial", follow: other(base, "negbinomial")},
	{name: "neighbours", draw: alike, check: "order", remedy: "such as hsgp(time)", follow: other(base+" + hsgp(t)", "")},
	{name: "neighbours, time beside", formula: base + " + t - t", draw: alike, check: "order", remedy: "add hsgp(t)", follow: other(base+" + hsgp(t)", "")},
	{name: "drift", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, unit, func(row rowOf, i int) float64 { return 2 * row("t") / 900 }))
	}, check: "order", remedy: "hsgp(t", follow: other(base+" + hsgp(t)", "")},
	{name: "groups", draw: func(rng *rand.Rand, s sheet) sheet {
		levels := make([]float64, 20)
		for k := range levels {
			levels[k] = rng.NormFloat64()
		}
		return s.with("y", draws(rng, unit, func(row rowOf, _ int) float64 { return levels[int(row("g"))] }))
	}, check: "groups", remedy: "add (1 | g)", follow: other(base+" + (1 | g)", "")},
	{name: "overdispersed counts", family: "poisson", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, likelihood.NegativeBinomial{Size: param.Hold(2)}, nil))
	}, check: "dispersion", remedy: "--family negbinomial", follow: other(base, "negbinomial")},
	{name: "overdispersed successes", family: "binomial(trials=8)", draw: func(rng *rand.Rand, s sheet) sheet {
		levels := make([]float64, 20)
		for k := range levels {
			levels[k] = 1.5 * rng.NormFloat64()
		}
		return s.with("y", draws(rng, likelihood.Binomial{Trials: 8}, func(row rowOf, _ int) float64 { return levels[int(row("g"))] }))
	}, check: "dispersion", remedy: "such as (1 | group)", follow: other(base+" + (1 | g)", "binomial(trials=8)")},
	{name: "counts that vary too little", family: "poisson", draw: steady, check: "dispersion", remedy: "--family ordinal", follow: other(base, "ordinal"), never: "zeros"},
	{name: "zeros, poisson", family: "poisson", draw: zeroed(likelihood.Poisson{}), check: "zeros", remedy: "--family negbinomial, which", follow: other(base, "negbinomial")},
	{name: "zeros, then apart", family: "poisson", draw: zeroed(likelihood.Poisson{}), check: "zeros", remedy: "apart", follow: hurdle("poisson")},
	{name: "zeros, negbinomial", family: "negbinomial", draw: zeroed(likelihood.NegativeBinomial{Size: param.Hold(6)}), check: "zeros", remedy: "fit whether it is zero", follow: hurdle("negbinomial"), rows: 2400},
	{name: "no zeros", family: "poisson", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", func(row rowOf, i int) float64 { return 1 + draws(rng, likelihood.Poisson{}, nil)(row, i) })
	}, check: "zeros", remedy: "fit the counts less one", follow: func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		less := func(row rowOf, _ int) float64 { return row("y") - 1 }
		return loss(t, train.with("y", less), test.with("y", less), base, "poisson")
	}},
	{name: "curve", draw: bent(unit, 0.5), check: "trend", remedy: "add s(b)", follow: other(base+" + s(b)", "")},
	{name: "curve of three knots", formula: "y ~ a + s(b, k=3) + c + d", draw: winding, check: "trend", remedy: "s(b, k=30)", follow: other("y ~ a + s(b, k=30) + c + d", "")},
	{name: "stiff curve", formula: "y ~ a + s(b, k=12) + c + d", draw: wavy(unit, 2), check: "trend", remedy: "s(b, k=36)", follow: other("y ~ a + s(b, k=36) + c + d", "")},
	{name: "stiff curve of counts", formula: "y ~ a + s(b) + c + d", family: "poisson", draw: wavy(likelihood.Poisson{}, 1), check: "trend", remedy: "s(b, k=30)", follow: other("y ~ a + s(b, k=30) + c + d", "poisson")},
	{name: "stiff curve of classes", formula: "y ~ a + hsgp(b, m=6) + c + d", family: "bernoulli", draw: wavy(likelihood.Bernoulli{}, 3), check: "trend", remedy: "hsgp(b, m=30)", follow: other("y ~ a + hsgp(b, m=30) + c + d", "bernoulli")},
	{name: "curve of three values", draw: func(rng *rand.Rand, s sheet) sheet {
		s = s.with("b", func(rowOf, int) float64 { return float64(rng.IntN(3)) })
		return s.with("y", draws(rng, unit, func(row rowOf, _ int) float64 { return math.Abs(row("b") - 1) }))
	}, check: "trend", remedy: "add onehot(b)", follow: other(base+" + onehot(b)", "")},
	{name: "curve of counts", family: "poisson", draw: bent(likelihood.Poisson{}, 0.3), check: "trend", remedy: "add s(b)", follow: other(base+" + s(b)", "poisson")},
	{name: "curve of classes", family: "bernoulli", draw: bent(likelihood.Bernoulli{}, 1), check: "trend", remedy: "add s(b)", follow: other(base+" + s(b)", "bernoulli")},
	{name: "curve of grades", family: "ordinal", draw: bent(graded, 1), check: "trend", remedy: "add s(b)", follow: other(base+" + s(b)", "ordinal"), slow: true},
	{name: "interaction", draw: crossed(unit, 0.7), check: "interaction", remedy: "add a:b", follow: other(base+" + a:b", "")},
	{name: "interaction of counts", family: "poisson", draw: crossed(likelihood.Poisson{}, 0.4), check: "interaction", remedy: "add a:b", follow: other(base+" + a:b", "poisson")},
	{name: "interaction of few large counts", family: "poisson", draw: crossed(likelihood.Poisson{}, 0.4), check: "interaction", remedy: "add a:b", follow: other(base+" + a:b", "poisson"), seed: 4},
	{name: "cloglog", family: "bernoulli", draw: steep(likelihood.Bernoulli{Link: likelihood.Cloglog}), check: "link", remedy: "'bernoulli(link=cloglog)'", follow: other(base, "bernoulli(link=cloglog)"), rows: 9000, slow: true},
	{name: "logit", family: "bernoulli(link=cloglog)", draw: steep(likelihood.Bernoulli{}), check: "link", remedy: "--family 'bernoulli'", follow: other(base, "bernoulli"), rows: 9000, slow: true},
	{name: "softplus", family: "poisson", draw: steep(likelihood.Poisson{Link: likelihood.Softplus}), check: "link", remedy: "'poisson(link=softplus)'", follow: other(base, "poisson(link=softplus)")},
	{name: "link, rbf", family: "poisson", draw: steep(likelihood.Poisson{Link: likelihood.Softplus}), check: "link", remedy: "rbf(.)", follow: other(base+" + rbf(.)", "poisson"), slow: true},
	{name: "odds", family: "ordinal", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", func(row rowOf, _ int) float64 {
			for grade, cut := range []float64{-1, 0.5, 2} {
				if rng.Float64() > 1/(1+math.Exp(cut+0.5-1.5*float64(grade-1)*row("a"))) {
					return float64(grade)
				}
			}
			return 3
		})
	}, check: "odds", remedy: "beyond a grade", follow: beyond},
	{name: "spread, precision", draw: spreading, check: "dispersion", remedy: "give precision(w)", follow: func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		w := func(row rowOf, _ int) float64 { return math.Exp(-1.4 * row("a")) }
		return loss(t, train.with("w", w), test.with("w", w), base+" + precision(w)", "")
	}},
	{name: "spread, studentt", draw: spreading, check: "dispersion", remedy: "--family studentt", follow: other(base, "studentt")},
	{name: "spread of durations", family: "gamma", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", func(row rowOf, i int) float64 {
			return draws(rng, likelihood.Gamma{Shape: param.Hold(3 * math.Exp(-row("a")))}, nil)(row, i)
		})
	}, check: "dispersion", remedy: "fit groups of rows that spread alike apart", follow: func(t testing.TB, train, test sheet, _ criticism.Finding) float64 {
		sum := 0.0
		for _, below := range []bool{true, false} {
			here := func(row rowOf, _ int) bool { return row("a") < 0 == below }
			left := test.keep(here)
			sum += loss(t, train.keep(here), left, base, "gamma") * float64(len(left.values[0]))
		}
		return sum / float64(len(test.values[0]))
	}},
	{name: "prediction, rbf", rows: 450, formula: wide, draw: powered, check: "trend", remedy: "rbf(.)", follow: other(wide+" + rbf(.)", ""), slow: true},
	{name: "prediction, products", formula: wide, draw: powered, check: "trend", remedy: "add products", follow: other("y ~ a + b + c + d + u + v + w + x + u:v + u:w + u:x + v:w + v:x + w:x", "")},
	{name: "counts as measurements", formula: base, draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, likelihood.NegativeBinomial{Size: param.Hold(1)}, nil))
	}, check: "outliers", remedy: "--family negbinomial", follow: other(base, "negbinomial")},
	{name: "heavy tails", draw: func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, likelihood.StudentT{DegreesOfFreedom: param.Hold(3), Scale: param.Hold(1)}, nil))
	}, check: "tails", remedy: "--family studentt", follow: other(base, "studentt")},
	{name: "long tail above, log", draw: skewed, check: "tails", remedy: "log(y)", follow: other("log(y) ~ a + b + c + d", "")},
	{name: "long tail above, gamma", draw: skewed, check: "tails", remedy: "--family gamma", follow: other(base, "gamma")},
}

const wide = base + " + u + v + w + x"

// powered is a square of a sum of eight columns.
func powered(rng *rand.Rand, s sheet) sheet {
	for _, name := range []string{"u", "v", "w", "x"} {
		s = s.with(name, func(rowOf, int) float64 { return rng.NormFloat64() })
	}
	return s.with("y", draws(rng, unit, func(row rowOf, _ int) float64 {
		f := 1.5 + 0.4*(row("u")+row("v")+row("w")+row("x"))
		return f * f
	}))
}

// without are rows in which columns are not known.
func without(names ...string) func(sheet) sheet {
	return func(s sheet) sheet {
		for _, name := range names {
			s = s.with(name, func(rowOf, int) float64 { return math.NaN() })
		}
		return s
	}
}

// wild has one row in a hundred far off, and tame leaves those out.
func wild(rng *rand.Rand, s sheet) sheet {
	return s.with("y", func(row rowOf, i int) float64 {
		y := draws(rng, unit, nil)(row, i)
		if i%100 == 1 {
			y += 15
		}
		return y
	})
}

func tame(s sheet) sheet { return s.keep(func(row rowOf, _ int) bool { return row("y") < 9 }) }

// alike are rows whose noise goes with that of those before.
func alike(rng *rand.Rand, s sheet) sheet {
	noise := 0.0
	return s.with("y", draws(rng, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, func(rowOf, int) float64 {
		noise = 0.97*noise + 0.2*rng.NormFloat64()
		return noise
	}))
}

// steady draws counts of a third of the variance of a Poisson.
func steady(rng *rand.Rand, s sheet) sheet {
	return s.with("y", func(row rowOf, _ int) float64 {
		mean := 2.5 * math.Exp(0.3*row("a"))
		return math.Max(0, math.Round(mean+math.Sqrt(mean/4)*rng.NormFloat64()))
	})
}

// zeroed makes a quarter of counts zero.
func zeroed(family likelihood.Sampler) func(*rand.Rand, sheet) sheet {
	return func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", func(row rowOf, i int) float64 {
			y := draws(rng, family, func(rowOf, int) float64 { return 1 })(row, i)
			if rng.IntN(4) == 0 {
				return 0
			}
			return y
		})
	}
}

// bent has a curve in b.
func bent(family likelihood.Sampler, by float64) func(*rand.Rand, sheet) sheet {
	return func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, family, func(row rowOf, _ int) float64 { return by * (row("b")*row("b") - 1) }))
	}
}

// winding has a curve in b that goes up, down and up again.
func winding(rng *rand.Rand, s sheet) sheet {
	return s.with("y", draws(rng, unit, func(row rowOf, _ int) float64 { return 2 * math.Sin(2*row("b")) }))
}

// wavy has a curve in b that goes up and down seven times over most rows.
func wavy(family likelihood.Sampler, by float64) func(*rand.Rand, sheet) sheet {
	return func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, family, func(row rowOf, _ int) float64 { return by * math.Sin(8*row("b")) }))
	}
}

// crossed has a product of a and b.
func crossed(family likelihood.Sampler, by float64) func(*rand.Rand, sheet) sheet {
	return func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, family, func(row rowOf, _ int) float64 { return by * row("a") * row("b") }))
	}
}

// steep moves far enough for links to differ.
func steep(family likelihood.Sampler) func(*rand.Rand, sheet) sheet {
	return func(rng *rand.Rand, s sheet) sheet {
		return s.with("y", draws(rng, family, func(row rowOf, _ int) float64 { return 2*row("a") + 1.5*row("b") - 0.5 }))
	}
}

// spreading has noise of SD exp(.7 a).
func spreading(rng *rand.Rand, s sheet) sheet {
	return s.with("y", draws(rng, likelihood.Gaussian{NoiseVariance: param.Hold(1e-9)}, func(row rowOf, _ int) float64 {
		return math.Exp(0.7*row("a")) * rng.NormFloat64()
	}))
}

// skewed is positive, with noise that is normal in logarithms.
func skewed(rng *rand.Rand, s sheet) sheet {
	return s.with("y", func(row rowOf, i int) float64 {
		return math.Exp(0.3*draws(rng, unit, nil)(row, i) + 0.7*rng.NormFloat64())
	})
}

// TestRemedies: whoever follows the remedy of a finding predicts other rows better, where it is provoked.
func TestRemedies(t *testing.T) {
	for _, c := range remedies {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && testing.Short() {
				t.Skip("fits of many rows or features")
			}
			formula, n, sets := c.formula, c.rows, 1
			if study.Long() {
				sets = 5
			}
			if formula == "" {
				formula = base
			}
			if n == 0 {
				n = 900
			}
			gains := 0.0
			for seed := range uint64(sets) {
				m := newMixed(n, firstSeed()+c.seed+seed+40)
				all := sheet{[]string{"a", "b", "c", "d"}, [][]float64{m.a, m.b, m.c, m.d}}.
					with("g", func(rowOf, int) float64 { return float64(m.rng.IntN(20)) }).
					with("t", func(_ rowOf, i int) float64 { return float64(i) + 0.25 })
				all = c.draw(m.rng, all)
				train, test := all.keep(func(_ rowOf, i int) bool { return i%3 > 0 }), all.keep(func(_ rowOf, i int) bool { return i%3 == 0 })
				if c.train != nil {
					train = c.train(train)
				}
				if c.test != nil {
					test = c.test(test)
				}
				model, source := train.fitted(t, formula, c.family)
				data, err := model.Frame.(*frame.Frame).Bind(source, frame.RequireTargets)
				if err != nil {
					t.Fatal(err)
				}
				options := criticism.Options{Fitted: true, Beside: source}
				if c.name == "neighbours" {
					options.Beside = nil // the time is not in the file
				}
				found, err := criticism.Of(context.Background(), model, data, options)
				if err != nil {
					t.Fatal(err)
				}
				var finding *criticism.Finding
				for k := range found {
					if found[k].Check == c.never {
						t.Errorf("set %d: %s", seed, found[k])
					}
					if found[k].Check == c.check && strings.Contains(found[k].Remedy, c.remedy) {
						finding = &found[k]
					}
				}
				if finding == nil {
					t.Fatalf("set %d: no %s with %q in %s", seed, c.check, c.remedy, fmt.Sprint(found))
				}
				gains += (loss(t, train, test, formula, c.family) - c.follow(t, train, test, *finding)) / float64(sets)
			}
			t.Logf("%s: %.4f nat a row", c.name, gains)
			if !(gains > 0) {
				t.Errorf("following %q loses %.4f nat a row", c.remedy, -gains)
			}
		})
	}
}

// TestPowerOfStiffCurves: a term of ten functions in 600 counts, of a curve sin 8b on the logarithm where b is normal,
// is called stiff the more often the larger the curve is.
func TestPowerOfStiffCurves(t *testing.T) {
	if !study.Calibration() {
		t.Skip("a study of a minute")
	}
	const sets = 40
	for _, c := range []struct {
		amplitude   float64
		least, most int
	}{{0.4, 0, 4}, {0.6, 5, 25}, {0.7, 15, 34}, {0.8, 28, sets}, {1, 38, sets}} {
		found := 0
		for seed := range uint64(sets) {
			m := newMixed(900, firstSeed()+1000+seed)
			all := wavy(likelihood.Poisson{}, c.amplitude)(m.rng, sheet{[]string{"a", "b", "c", "d"}, [][]float64{m.a, m.b, m.c, m.d}})
			train := all.keep(func(_ rowOf, i int) bool { return i%3 > 0 })
			model, source := train.fitted(t, "y ~ a + s(b) + c + d", "poisson")
			for _, f := range findings(t, model, source, criticism.Options{Fitted: true}) {
				if f.Check == "trend" && strings.Contains(f.Remedy, "s(b, k=30)") {
					found++
				}
			}
		}
		t.Logf("amplitude %v: in %d of %d sets", c.amplitude, found, sets)
		if found < c.least || found > c.most {
			t.Errorf("a curve of amplitude %v is found in %d of %d sets, where %d to %d are expected", c.amplitude, found, sets, c.least, c.most)
		}
	}
}
