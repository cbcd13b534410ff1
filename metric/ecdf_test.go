package metric

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// within returns the probability that the empirical distribution function of n uniform numbers stays between ends at
// all points: by the recursion over the points, given how many numbers are below the last.
func within(n int, at, low, high []float64) float64 {
	logs := func(k int) float64 { v, _ := math.Lgamma(float64(k + 1)); return v }
	share, from := []float64{1}, 0 // of counts from, from+1, … below the last point
	last := 0.0
	for k := 1; k < len(at)-1; k++ {
		p := (at[k] - last) / (1 - last)
		least, most := int(math.Round((low[k]+at[k])*float64(n))), int(math.Round((high[k]+at[k])*float64(n)))
		next := make([]float64, most-least+1)
		for i, s := range share {
			rest := n - from - i
			for to := max(least, from+i); to <= most; to++ {
				more := to - from - i
				next[to-least] += s * math.Exp(logs(rest)-logs(more)-logs(rest-more)+float64(more)*math.Log(p)+float64(rest-more)*math.Log1p(-p))
			}
		}
		share, from, last = next, least, at[k]
	}
	sum := 0.0
	for _, s := range share {
		sum += s
	}
	return sum
}

// The envelope holds all of the distribution function in 99 % of the sets: exactly, by recursion, at the n of its table
// and between them. What is discrete cannot be nearer at few numbers.
func TestEnvelopeHolds(t *testing.T) {
	for _, c := range []struct {
		n         int
		tolerance float64
	}{{3, .01}, {7, .006}, {10, .001}, {31, .003}, {100, .0002}, {150, .002}, {316, .001}, {700, .001}, {1400, .001}} {
		at, low, high := Envelope(c.n)
		if got := within(c.n, at, low, high); !(math.Abs(got-.99) <= c.tolerance) {
			t.Errorf("%d numbers: held in %.5f of the sets", c.n, got)
		}
	}
	// By simulation, in 2,000 sets: 0.99 ± 5 · 0.0022.
	rng, n, held := rand.New(rand.NewPCG(1, 2)), 250, 0
	at, low, high := Envelope(n)
	for range 2000 {
		u := make([]float64, n)
		for i := range u {
			u[i] = rng.Float64()
		}
		slices.Sort(u)
		inside := true
		for k, z := range at {
			below, _ := slices.BinarySearch(u, z)
			gap := float64(below)/float64(n) - z
			inside = inside && (k == 0 || k == EnvelopePoints || gap >= low[k]-1e-12 && gap <= high[k]+1e-12)
		}
		if inside {
			held++
		}
	}
	if share := float64(held) / 2000; !(math.Abs(share-.99) <= .011) {
		t.Errorf("held in %v of 2,000 sets", share)
	}
	for _, n := range []int{-1, 0, 1, 1_000_000} { // beyond the table it is the last of it
		at, low, high := Envelope(n)
		if len(at) != EnvelopePoints+1 || len(low) != len(at) || len(high) != len(at) || slices.ContainsFunc(low, math.IsNaN) || slices.Max(low) > 0 || slices.Min(high) < 0 {
			t.Errorf("%d numbers: from %v to %v", n, low, high)
		}
	}
}
