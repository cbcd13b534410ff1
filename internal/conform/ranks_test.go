package conform

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// Ranks of draws from the truth's own distribution are even, those of a narrower one are not, and ties
// are neither above nor below.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	var r Ranks
	for range 500 {
		right, narrow := make([]float64, 50), make([]float64, 50)
		for k := range right {
			right[k] = rng.NormFloat64()
			narrow[k] = 0.8 * rng.NormFloat64()
		}
		r.AddDraws("right", rng.NormFloat64(), right, rng)
		r.AddDraws("ties", 0, make([]float64, 20), rng)
		r.AddDraws("narrow", rng.NormFloat64(), narrow, rng)
	}
	if got := r.Uneven(0.01); !reflect.DeepEqual(got, []string{"narrow"}) {
		t.Errorf("uneven: %q", got)
	}
}
