package metric

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// EnvelopePoints is the number of parts of [0, 1] between which [Envelope] is told.
const EnvelopePoints = 100

// envelopes are, for n uniform numbers, the probability γ with which a single point of their empirical distribution
// function may lie outside its interval so that all of the 99 points k/100 lie inside theirs with 99 %: by the exact
// recursion over the points of Säilynoja, Bürkner & Vehtari (2022), Algorithm 1.
var envelopes = []struct{ n, gamma float64 }{
	{5, 3.9402e-3}, {10, 2.0191e-3}, {20, 1.3859e-3}, {50, 9.3401e-4}, {100, 6.7916e-4}, {200, 5.6918e-4}, {500, 4.9363e-4}, {1000, 4.5549e-4},
	{2000, 4.2220e-4}, {5000, 3.9445e-4}, {10_000, 3.8282e-4}, {20_000, 3.7499e-4}, {50_000, 3.6605e-4},
}

// Envelope returns the points k/100 and, at each, the ends between which the empirical distribution function of n
// independent uniform numbers less the uniform one lies, at all of them in 99 % of the sets.
func Envelope(n int) (at, low, high []float64) {
	count := math.Max(1, float64(n))
	gamma := envelopes[0].gamma
	for k, e := range envelopes {
		if count < e.n {
			break
		}
		gamma = e.gamma
		if k+1 < len(envelopes) {
			next := envelopes[k+1]
			share := math.Min(1, math.Log(count/e.n)/math.Log(next.n/e.n))
			gamma = e.gamma * math.Pow(next.gamma/e.gamma, share)
		}
	}
	for k := 0; k <= EnvelopePoints; k++ {
		z := float64(k) / EnvelopePoints
		at = append(at, z)
		if k == 0 || k == EnvelopePoints {
			low, high = append(low, 0), append(high, 0)
			continue
		}
		low = append(low, binomialQuantile(count, z, gamma/2)/count-z)
		high = append(high, binomialQuantile(count, z, 1-gamma/2)/count-z)
	}
	return at, low, high
}

// binomialQuantile returns the smallest k with P(K ≤ k) ≥ p for K ~ Binomial(n, z).
func binomialQuantile(n, z, p float64) float64 {
	from, to := -1.0, n // P(K ≤ from) < p ≤ P(K ≤ to)
	for to-from > 1 {
		k := math.Floor((from + to) / 2)
		if mathext.RegIncBeta(n-k, k+1, 1-z) >= p {
			to = k
		} else {
			from = k
		}
	}
	return to
}
