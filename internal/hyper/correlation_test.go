package hyper

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/special"
)

// TestCorrelations: roots are those of correlations, and back, slopes are those of differences, and the priors of the
// coordinates together are the LKJ density: log p + log|∂R/∂z| of any two points differ as (η−1) log|R| does.
func TestCorrelations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{1, 2, 3, 5} {
		pairs := special.Pairs(k)
		density := func(z []float64) (prior, wanted float64) {
			odds, at := make([]float64, pairs), 0
			for i, v := range z {
				odds[i] = math.Exp(2 * v)
			}
			for r := range k {
				for c := range r {
					v, _, _ := LKJ(k, c).At(z[at])
					prior += v
					at++
				}
			}
			l := make([]float64, k*k)
			special.CorrelationRoot(l, k, odds)
			for r := range k {
				wanted += 2 * (Shape - 1) * math.Log(l[r*k+r])
			}
			if pairs == 0 {
				return
			}
			jacobian := mat.NewDense(pairs, pairs, nil)
			const h = 1e-6
			for i := range z {
				up, down := append([]float64(nil), odds...), append([]float64(nil), odds...)
				up[i] *= math.Exp(2 * h)
				down[i] *= math.Exp(-2 * h)
				above, below := special.Correlations(k, up), special.Correlations(k, down)
				for j := range above {
					jacobian.Set(j, i, (above[j]-below[j])/(2*h))
				}
			}
			det, _ := mat.LogDet(jacobian)
			return prior, wanted + det
		}
		var gap float64
		for trial := range 5 {
			z, odds := make([]float64, pairs), make([]float64, pairs)
			for i := range z {
				z[i] = 0.7 * rng.NormFloat64()
				odds[i] = math.Exp(2 * z[i])
			}
			prior, wanted := density(z)
			if trial == 0 {
				gap = prior - wanted
			} else if !(math.Abs(prior-wanted-gap) <= 1e-6) {
				t.Errorf("k = %d: the density is off by %v, then by %v", k, gap, prior-wanted)
			}
			l, slope := make([]float64, k*k), make([]float64, k*k)
			special.CorrelationRoot(l, k, odds)
			back, err := special.Odds(k, special.Correlations(k, odds))
			if err != nil {
				t.Fatal(err)
			}
			for i := range odds {
				if !(math.Abs(back[i]/odds[i]-1) <= 1e-9) {
					t.Errorf("odds %v come back as %v", odds[i], back[i])
				}
			}
			for r := range k {
				norm := 0.0
				for c := range k {
					norm += l[r*k+c] * l[r*k+c]
				}
				if !(math.Abs(norm-1) <= 1e-12) {
					t.Errorf("a variance of %v", norm)
				}
				for c := range r {
					const h = 1e-6
					up, down, above, below := append([]float64(nil), odds...), append([]float64(nil), odds...), make([]float64, k*k), make([]float64, k*k)
					up[special.Pairs(r)+c] *= math.Exp(2 * h)
					down[special.Pairs(r)+c] *= math.Exp(-2 * h)
					special.CorrelationRoot(above, k, up)
					special.CorrelationRoot(below, k, down)
					special.CorrelationSlope(slope, l, k, r, c, odds)
					for j := range slope {
						if want := (above[j] - below[j]) / (2 * h); !(math.Abs(slope[j]-want) <= 1e-8) {
							t.Errorf("k = %d: slope %v in (%d, %d), want %v", k, slope[j], r, c, want)
						}
					}
				}
			}
		}
	}
	if _, err := special.Odds(3, []float64{0.9, 0.9, -0.9}); err == nil {
		t.Error("no correlations are accepted")
	}
	if _, err := special.Odds(2, []float64{1}); err == nil {
		t.Error("a correlation of 1 is accepted")
	}
}
