package effect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/study"
)

// TestCoverage: 90 % intervals of average comparisons and slopes hold truths that are drawn, .86 to .94 of them.
// Weights are drawn from a normal distribution of SD .5; the truth is the same average over the same rows at the true
// weights.
func TestCoverage(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 1000
	curves := map[string]func(f float64) float64{
		"gaussian": func(f float64) float64 { return f }, "bernoulli": func(f float64) float64 { return 1 / (1 + math.Exp(-f)) },
		"poisson": math.Exp, "negbinomial": math.Exp, "gamma": math.Exp,
		"ordinal": func(f float64) float64 { return 1/(1+math.Exp(0.5-f)) + 1/(1+math.Exp(1.5-f)) },
	}
	draws := map[string]func(rng *rand.Rand, f float64) float64{
		"gaussian": gaussian, "bernoulli": bernoulli, "poisson": poisson,
		"negbinomial": func(rng *rand.Rand, f float64) float64 { return poisson(rng, f+math.Log(gamma(rng, 3)/3)) },
		"gamma":       func(rng *rand.Rand, f float64) float64 { return math.Exp(f) * gamma(rng, 2) / 2 },
		"ordinal": func(rng *rand.Rand, f float64) float64 {
			u := rng.Float64()
			v := f + math.Log(u/(1-u))
			return map[bool]float64{true: 1}[v > 0.5] + map[bool]float64{true: 1}[v > 1.5]
		},
	}
	for _, name := range []string{"gaussian", "bernoulli", "poisson", "negbinomial", "gamma", "ordinal"} {
		for _, n := range []int{50, 400} {
			t.Run(fmt.Sprint(name, "/", n), func(t *testing.T) {
				held, count := map[string]int{}, 0
				for set := range sets {
					rng := rand.New(rand.NewPCG(uint64(set), uint64(n)))
					d := draw(n, uint64(1000*n+set), gaussian)
					slope, bend := 0.5*rng.NormFloat64(), 0.5*rng.NormFloat64()
					level := map[string]float64{"Bern": 0.5 * rng.NormFloat64(), "Chur": 0.5 * rng.NormFloat64()}
					f := func(x float64, flag bool, city string) float64 {
						sum := 0.3 + slope*x + level[city]
						if flag {
							sum += bend * x
						}
						return sum
					}
					for i := range d.y {
						d.y[i] = draws[name](rng, f(d.x[i], d.flag[i], d.city[i]))
					}
					if least, most := slices.Min(d.y), slices.Max(d.y); least == most || name == "ordinal" && most < 2 {
						continue
					}
					scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city", Family: name})
					mu := curves[name]
					truth := map[string]float64{}
					for i := range d.x {
						x, flag, city := d.x[i], d.flag[i], d.city[i]
						truth["x +1"] += (mu(f(x+1, flag, city)) - mu(f(x, flag, city))) / float64(n)
						truth["x dY/dX"] += (mu(f(x+1e-5, flag, city)) - mu(f(x-1e-5, flag, city))) / 2e-5 / float64(n)
						truth["city Chur - Basel"] += (mu(f(x, flag, "Chur")) - mu(f(x, flag, "Basel"))) / float64(n)
					}
					count++
					list := append(of(t, scorer, d, effect.Options{Columns: []string{"x", "city"}}), of(t, scorer, d, effect.Options{What: effect.Slopes, Columns: []string{"x"}})...)
					for what, v := range truth {
						for _, e := range list {
							if e.Term+" "+e.Contrast == what && float64(e.Low) <= v && v <= float64(e.High) {
								held[what]++
							}
						}
					}
				}
				t.Logf("%s, %d rows, %d sets: x + 1 %.3f, slope %.3f, city %.3f", name, n, count, float64(held["x +1"])/float64(count), float64(held["x dY/dX"])/float64(count), float64(held["city Chur - Basel"])/float64(count))
				for what, k := range held { // 3.3 standard errors beyond .86 and .94
					if share, e := float64(k)/float64(count), 3.3*math.Sqrt(0.1*0.9/float64(count)); !(share >= 0.86-e && share <= 0.94+e) {
						t.Errorf("%s, %d rows: %s holds %.3f", name, n, what, share)
					}
				}
			})
		}
	}
}

// gamma draws from a gamma distribution of a whole shape.
func gamma(rng *rand.Rand, shape int) (sum float64) {
	for range shape {
		sum -= math.Log(1 - rng.Float64())
	}
	return sum
}
