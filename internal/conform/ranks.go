package conform

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// Ranks collects where truths that were drawn from a prior lie in the posteriors that follow: uniformly
// in (0, 1) where these are right (Talts et al. 2018). Quantities have names, and one rank a set, for
// those of one set are not independent.
type Ranks struct {
	names []string
	of    map[string][]float64
}

// rankBins is the number of bins whose counts are compared.
const rankBins = 10

// Add adds a rank in (0, 1).
func (r *Ranks) Add(name string, rank float64) {
	if r.of == nil {
		r.of = map[string][]float64{}
	}
	if r.of[name] == nil {
		r.names = append(r.names, name)
	}
	r.of[name] = append(r.of[name], rank)
}

// AddDraws adds the rank of a truth among draws, at random between those that it equals.
func (r *Ranks) AddDraws(name string, truth float64, draws []float64, rng *rand.Rand) {
	below, equal := 0, 1
	for _, v := range draws {
		switch {
		case v < truth:
			below++
		case v == truth:
			equal++
		}
	}
	r.Add(name, (float64(below)+float64(equal)*rng.Float64())/float64(len(draws)+1))
}

// p is the probability of counts as uneven, by χ².
func (r *Ranks) p(name string) float64 {
	list := r.of[name]
	counts, expected, chi2 := make([]float64, rankBins), float64(len(list))/rankBins, 0.0
	for _, u := range list {
		counts[min(int(u*rankBins), rankBins-1)]++
	}
	for _, c := range counts {
		chi2 += (c - expected) * (c - expected) / expected
	}
	return mathext.GammaIncRegComp((rankBins-1)/2.0, chi2/2)
}

// Uneven returns the names whose ranks are not uniform at a level that all of them share (Holm 1979).
func (r *Ranks) Uneven(level float64) []string {
	order := slices.Clone(r.names)
	slices.SortStableFunc(order, func(a, b string) int {
		if r.p(a) < r.p(b) {
			return -1
		}
		return 1
	})
	for k, name := range order {
		if r.p(name) > level/float64(len(order)-k) {
			return order[:k]
		}
	}
	return order
}

// Check tells what Tell does, and fails where ranks are not uniform at a hundredth.
func (r *Ranks) Check(t testing.TB) {
	t.Helper()
	r.Tell(t)
	if uneven := r.Uneven(0.01); len(uneven) > 0 {
		t.Errorf("ranks are not uniform: %s", strings.Join(uneven, "; "))
	}
}

// Tell tells the share of ranks in the middle nine tenths and p of every quantity.
func (r *Ranks) Tell(t testing.TB) {
	t.Helper()
	for _, name := range r.names {
		held := 0
		for _, u := range r.of[name] {
			if math.Abs(u-0.5) < 0.45 {
				held++
			}
		}
		t.Logf("%s: %.3f of %d in 90 %%, ranks p = %.3f", name, float64(held)/float64(len(r.of[name])), len(r.of[name]), r.p(name))
	}
}
