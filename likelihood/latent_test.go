package likelihood

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/param"
)

// The variance of a target on the scale of f: published constants, and trigamma at 1, 2 and ½, which are π²/6, π²/6 − 1
// and π²/2.
func TestLatentNoise(t *testing.T) {
	sixth, two := math.Pi*math.Pi/6, param.Parameter{State: param.Held, Value: 2}
	for _, c := range []struct {
		family Family
		mean   float64
		want   float64
	}{
		{Gaussian{NoiseVariance: two}, 7, 2},
		{Bernoulli{}, 0.3, 2 * sixth}, {Binomial{}, 3, 2 * sixth}, {Bernoulli{Link: Probit}, 0.3, 1}, {Bernoulli{Link: Cloglog}, 0.3, sixth},
		{Poisson{}, 1, sixth}, {Poisson{}, 2, sixth - 1}, {Gamma{Shape: two}, 5, sixth - 1},
		{NegativeBinomial{Size: two}, 2, sixth}, // 1/(1/2 + 1/2) = 1
		{NegativeBinomial{Size: param.Parameter{State: param.Held, Value: 1}}, 1, 3 * sixth},
	} {
		if got := LatentNoise(c.family, c.mean); !(math.Abs(got-c.want) <= 1e-9) {
			t.Errorf("%v at %v: %v, want %v", c.family, c.mean, got, c.want)
		}
	}
	if got := LatentNoise(Poisson{Link: Softplus}, 2); !math.IsNaN(got) {
		t.Errorf("poisson(link=softplus): %v", got)
	}
}
