package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// unscaled returns rows whose columns have the given sizes and means, of which only those with an
// effect, in their own standard deviations, matter.
func unscaled(seed uint64, n int, size, mean, effect []float64) *table {
	rng := rand.New(rand.NewPCG(seed, 77))
	data := &table{x: linop.NewDense(n, len(size)), target: make([]float64, n)}
	for i := range n {
		data.target[i] = 3 + 0.3*rng.NormFloat64()
		for j := range size {
			v := rng.NormFloat64()
			data.x.Row(i)[j] = mean[j] + size[j]*v
			data.target[i] += effect[j] * v
		}
	}
	return data
}

// A guess from which the way is uphill is left, however far off.
func TestGuessIsLeft(t *testing.T) {
	data, features := unscaled(1, 300, []float64{1, 1, 1000}, make([]float64, 3), []float64{2, -1.5, 0}), linear(3)
	want := *fitted(t, model(features, prior.Normal{}, likelihood.Gaussian{}), Config{}, data).Report.Evidence
	for _, v := range []float64{0.01, 1, 1e4, 1e8} {
		guess := prior.Normal{Variance: param.Parameter{Value: v, State: param.Guess}}
		near(t, "evidence", *fitted(t, model(features, guess, likelihood.Gaussian{}), Config{}, data).Report.Evidence, want, 1e-6)
	}
}

// ml is type-II maximum likelihood.
var ml = Config{Hyper: param.MaximumLikelihood}

// Where columns are not scaled, the prior variance that is learned is as good as any held one.
func TestColumnsOfAnySize(t *testing.T) {
	for name, c := range map[string]struct{ size, mean, effect []float64 }{
		"large without effect":   {[]float64{1, 1, 1000}, []float64{0, 0, 0}, []float64{2, -1.5, 0}},
		"larger without effect":  {[]float64{1, 1, 1e5}, []float64{0, 0, 0}, []float64{2, -1.5, 0}},
		"large with effect":      {[]float64{1, 1, 1000}, []float64{0, 0, 0}, []float64{2, -1.5, 1}},
		"large with the effect":  {[]float64{1, 1, 1000}, []float64{0, 0, 0}, []float64{0, 0, 1}},
		"a year":                 {[]float64{8, 1}, []float64{2000, 0}, []float64{1, 0}},
		"latitude and longitude": {[]float64{2, 2}, []float64{36, -120}, []float64{1, 1}},
		"all sizes":              {[]float64{1e-3, 1, 10, 1e4}, []float64{0, 5, 0, 0}, []float64{1, 0.5, 0, 0.2}},
		"one size":               {[]float64{1, 1, 1}, []float64{0, 0, 0}, []float64{2, -1.5, 0}},
		"none matters":           {[]float64{1, 1, 1000}, []float64{0, 0, 0}, []float64{0, 0, 0}},
	} {
		for _, n := range []int{300, 60, len(c.size)} { // the last in the dual form
			data := unscaled(1, n, c.size, c.mean, c.effect)
			features := linear(len(c.size))
			evidence := func(p prior.Normal) float64 {
				return *fitted(t, model(features, p, likelihood.Gaussian{}), ml, data).Report.Evidence
			}
			best := math.Inf(-1)
			for v := 1e-12; v < 1e9; v *= 2 {
				best = math.Max(best, evidence(prior.Normal{Variance: param.Parameter{Value: v, State: param.Held}}))
			}
			if got := evidence(prior.Normal{}); got < best-0.01 {
				t.Errorf("%s, %d rows: evidence %.3f, and %.3f with a held variance", name, n, got, best)
			}
			relevant := prior.Normal{ARD: true}
			if got := evidence(relevant); n > 50 && got < best-0.01 {
				t.Errorf("%s, %d rows, a variance each: evidence %.3f, and %.3f with one", name, n, got, best)
			}
		}
	}
}
