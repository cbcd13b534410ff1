package diagnose

import "math"

// Chains say how well several Markov chains of equal length agree about one number: the potential
// scale reduction R̂ of their halves, and the effective sample size of all draws (Gelman et al. 2013,
// section 11.4–11.5; Vehtari et al. 2021). A number that never changes has R̂ = 1 and all draws.
func Chains(chains [][]float64) (rHat, effective float64) {
	var halves [][]float64
	for _, c := range chains {
		half := len(c) / 2
		halves = append(halves, c[:half], c[len(c)-half:])
	}
	m, n := float64(len(halves)), len(halves[0])
	means, within, grand := make([]float64, len(halves)), 0.0, 0.0
	for k, h := range halves {
		for _, v := range h {
			means[k] += v / float64(n)
		}
		for _, v := range h {
			within += (v - means[k]) * (v - means[k]) / float64(n-1) / m
		}
		grand += means[k] / m
	}
	between := 0.0 // variance of the means
	for _, v := range means {
		between += (v - grand) * (v - grand) / (m - 1)
	}
	total := within*float64(n-1)/float64(n) + between
	switch {
	case total == 0:
		return 1, m * float64(n)
	case within == 0:
		return math.Inf(1), m
	}
	rHat = math.Sqrt(total / within)
	// Geyer's initial positive sequence of the autocorrelations.
	sum, last := 0.0, math.Inf(1)
	for lag := 1; lag+1 < n; lag += 2 {
		pair := correlation(halves, means, lag, within, total) + correlation(halves, means, lag+1, within, total)
		if pair < 0 {
			break
		}
		last = math.Min(last, pair)
		sum += last
	}
	return rHat, math.Min(m*float64(n)/(1+2*sum), m*float64(n))
}

// correlation estimates that at a lag, from the variances within all halves and their spread.
func correlation(halves [][]float64, means []float64, lag int, within, total float64) float64 {
	covariance := 0.0
	for k, h := range halves {
		for i := range len(h) - lag {
			covariance += (h[i] - means[k]) * (h[i+lag] - means[k]) / float64(len(h)) / float64(len(halves))
		}
	}
	return 1 - (within-covariance)/total
}
