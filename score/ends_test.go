package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/special"
)

// TestMixtureEnds: the ends are quantiles of draws of the mixture that has the moments, those of a normal law where the
// weight is surely in, to the bit of its standard deviation, and 0 where 0 is likely enough.
func TestMixtureEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const count = 400_000
	for _, c := range []struct{ inclusion, mean, sd, interval float64 }{{.97, 2, 1, .9}, {.5, 1, 1, .9}, {.25, -3, .5, .9}, {.3, 0, 1, .5}, {.04, 4, 1, .9}, {.75, .1, 2, .99}} {
		draws := make([]float64, count)
		for i := range draws {
			if rng.Float64() < c.inclusion {
				draws[i] = c.mean + c.sd*rng.NormFloat64()
			}
		}
		slices.Sort(draws)
		mean := c.inclusion * c.mean
		sd := math.Sqrt(c.inclusion*(c.sd*c.sd+c.mean*c.mean) - mean*mean)
		lower, upper := mixtureEnds(mean, sd, c.inclusion, c.interval)
		for p, got := range map[float64]float64{(1 - c.interval) / 2: lower, (1 + c.interval) / 2: upper} {
			// Five standard errors of a share of so many draws to either side.
			reach := 5 * math.Sqrt(p*(1-p)/count)
			if least, most := special.Quantile(draws, max(0, p-reach)), special.Quantile(draws, min(1, p+reach)); got < least-1e-9 || got > most+1e-9 {
				t.Errorf("%+v: the quantile at %v is %v, of draws between %v and %v", c, p, got, least, most)
			}
		}
	}
	z := special.NormalQuantile(.95)
	if lower, upper := mixtureEnds(1e9, 1e-3, 1, .9); !(math.Abs(upper-lower-2e-3*z) <= 1e-6) {
		t.Errorf("a weight that is surely in has ends %v and %v", lower, upper)
	}
	for _, inclusion := range []float64{0, 1e-300, .05} {
		if lower, upper := mixtureEnds(inclusion, inclusion, inclusion, .9); lower != 0 || upper != 0 {
			t.Errorf("an inclusion of %v has ends %v and %v", inclusion, lower, upper)
		}
	}
}
