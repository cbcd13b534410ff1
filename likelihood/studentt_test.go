package likelihood

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
)

// The density of y under a normal f is a sum over fine steps of log λ, from heavy tails to next to normal ones, and
// where the residual asks for another λ than the noise does.
func TestStudentTiltedMoments(t *testing.T) {
	for _, df := range []float64{0.05, 1, 4, 40, 1e4, 1e6} {
		for _, variance := range []float64{1e-12, 1e-3, 1, 1e3} {
			for _, d := range []float64{0, 0.5, 3, 10, 30, 1e3, 1e6} {
				a := df / 2
				h := 0.1 / math.Sqrt(a+4)
				start := math.Min(0, math.Log((a+0.5)/(a+d*d/2))) - math.Sqrt(90/a) - 45/(a+0.5)
				end := 2 * math.Log1p(45/a+math.Sqrt(90/a))
				logTerm := func(u float64) (t, v float64) {
					v = variance + math.Exp(-u)
					return -a*special.ExpRemainder(u) - (math.Log(v)+d*d/v)/2, v
				}
				peak := math.Inf(-1)
				for u := start; u < end; u += h {
					t, _ := logTerm(u)
					peak = math.Max(peak, t)
				}
				var z, first, second float64
				for u := start; u < end; u += h {
					t, v := logTerm(u)
					w := math.Exp(t - peak)
					z, first, second = z+w, first+w*d/v, second+w*(d*d/v-1)/(2*v)
				}
				want := [3]float64{peak + gammaAtMode(a) - special.LogSqrt2Pi + math.Log(h*z), first / z, second / z}
				l := StudentT{DegreesOfFreedom: param.From(df), Scale: param.From(1)}
				value, dMean, dVariance := l.TiltedMoments(d, 0, variance)
				size := [3]float64{1 + math.Abs(want[0]), 1 + math.Abs(want[1]), 1/(1+variance) + math.Abs(want[2])}
				for k, got := range [3]float64{value, dMean, dVariance} {
					if !(math.Abs(got-want[k]) <= 1e-10*size[k]) {
						t.Errorf("df %v, variance %v, residual %v: moment %d is %v, by fine steps %v", df, variance, d, k, got, want[k])
					}
				}
			}
		}
	}
}

// Residuals and degrees of freedom beyond use end the sum, too.
func TestStudentTiltedMomentsEnd(t *testing.T) {
	for _, df := range []float64{1e-300, 2, 1e12, 1e40, 1e300} {
		for _, d := range []float64{0, 1e30, 1e150, 1e200, math.MaxFloat64, math.Inf(1), math.NaN()} {
			l := StudentT{DegreesOfFreedom: param.From(df), Scale: param.From(1)}
			if value, _, _ := l.TiltedMoments(d, 0, 0.5); d <= 1e30 && math.IsNaN(value) {
				t.Errorf("df %v, residual %v: %v", df, d, value)
			}
		}
	}
}
