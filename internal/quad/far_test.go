package quad

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/special"
)

// A mode is found at the end of an exponential however far the mean stands above: E exp(−e^f) is the
// probability of a negative f where the normal is wide.
func TestFarMode(t *testing.T) {
	logZ, _, _ := Tilted(func(f float64) (value, first, second float64) {
		mu := math.Exp(f)
		return -mu, -mu, -mu
	}, 300, 1e7)
	// −e^f turns at about −γ, the mean of the Gumbel distribution.
	want := math.Log(special.NormalCDF((-0.5772156649 - 300) / math.Sqrt(1e7)))
	if !(math.Abs(logZ-want) <= 1e-6) {
		t.Errorf("log E is %v, want %v", logZ, want)
	}
}

// Counts as far apart as 1e300 are told apart by halves of the logarithm.
func TestFarCount(t *testing.T) {
	for _, want := range []float64{0, 3, 1e9, 1e40, 1e200} {
		calls := 0
		got := Count(func(y float64) float64 {
			calls++
			if y >= want {
				return 0.9
			}
			return 0.1
		}, 0.5, 1e300, 1e299, 0, math.Inf(1))
		if got != want || calls > 120 {
			t.Errorf("count %v in %d evaluations, want %v", got, calls, want)
		}
	}
}

// Far below 0 the logistic function is an exponential, whose expectation is in closed form, from
// where sums still hold to where steps of f no longer change it.
func TestFarLogistic(t *testing.T) {
	for _, mean := range []float64{-60, -1e3, -1e200} {
		logZ, dMean, dVariance := LogSigmoid(mean, 2)
		if want := mean + 1; !(math.Abs(logZ/want-1) <= 1e-14) || dMean != 1 || dVariance != 0.5 {
			t.Errorf("at %g: %v, %v, %v", mean, logZ, dMean, dVariance)
		}
	}
	inside, _, _ := LogSigmoid(-51.7, 2) // the last sum, beside the first closed form
	outside, _, _ := LogSigmoid(-51.8, 2)
	if !(math.Abs(inside-outside-0.1) <= 1e-12) {
		t.Errorf("from %v to %v", inside, outside)
	}
}
