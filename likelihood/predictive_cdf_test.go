package likelihood

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/param"
)

// Distribution functions are those of adaptive quadrature over f, on either side of where the normal of f
// becomes the narrower, for sharp and for heavy-tailed families and far into both tails.
func TestPredictiveCDFAgainstQuadrature(t *testing.T) {
	var families []interface {
		Predictive
		Cumulative
		Supported
	}
	for _, a := range []float64{1e-4, 0.004, 0.05, 0.3, 1, 4, 60, 1e5} {
		families = append(families, Gamma{Shape: param.Hold(a)}, NegativeBinomial{Size: param.Hold(a)})
	}
	for _, df := range []float64{0.6, 2, 3, 5, 30, 1e4} {
		families = append(families, StudentT{DegreesOfFreedom: param.Hold(df), Scale: param.Hold(0.7)})
	}
	families = append(families, Poisson{}, Poisson{Link: Softplus}, Binomial{Trials: 3}, Binomial{Trials: 4000})
	breaks := make([]float64, 0, 128)
	for _, l := range families {
		lower, upper := l.Support()
		for i, mean := range []float64{-2, 0.3, 4} {
			for k, sd := range []float64{1e-3, 0.02, 0.1, 0.17, 0.18, 0.3, 0.44, 0.46, 0.6, 1, 2.5, 12} {
				if !study.Long() && (i+k)%3 != 0 {
					continue
				}
				worst, at := 0.0, 0.0
				for _, z := range []float64{-9, -4, -2, -1, -0.3, 0, 0.5, 1.3, 3, 6} {
					y := mean + 1.5*z*math.Max(sd, 0.4)
					if !math.IsInf(lower, -1) {
						y = math.Exp(y)
					}
					if l.Discrete() {
						y = math.Floor(math.Min(y, upper))
					}
					breaks = breaks[:0]
					step := (math.Log(math.Max(y, 1e-300)) - mean) / sd // a narrow one lies between two nodes
					for x := -8.5; x <= 8.5; x += 0.5 {
						breaks = append(breaks, x)
						for _, near := range [...]float64{step - 0.01, step - 1e-4, step, step + 1e-4, step + 0.01} {
							if near > x && near < x+0.5 {
								breaks = append(breaks, near)
							}
						}
					}
					want, _, _ := quad.Adaptive(func(x float64) (float64, float64, float64) {
						return special.NormalDensity(x) * l.CDF(y, mean+sd*x), 0, 0
					}, breaks, 1e-11)
					if off := math.Abs(l.PredictiveCDF(y, mean, sd*sd) - want); !(off <= worst) {
						worst, at = off, y
					}
				}
				if !(worst < 1e-8) {
					t.Errorf("%s, f ~ N(%g, %g²): the distribution function at %g is off by %.2g", fmt.Sprint(l), mean, sd, at, worst)
				}
			}
		}
	}
}
