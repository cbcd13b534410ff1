package criticism

import (
	"cmp"
	"math"
	"slices"
)

// standardise subtracts the mean and divides by the standard deviation, and says whether the values vary.
func standardise(u []float64) bool {
	n := float64(len(u))
	mean, squares := 0.0, 0.0
	for _, v := range u {
		mean += v / n
	}
	for i, v := range u {
		u[i] = v - mean
		squares += u[i] * u[i] / n
	}
	sd := math.Sqrt(squares)
	if !(sd > 1e-12*math.Abs(mean)) || math.IsInf(sd, 0) {
		clear(u)
		return false
	}
	for i := range u {
		u[i] /= sd
	}
	return true
}

// ranks returns the ranks, equal ones for equal values, in (−1, 1).
func ranks(u []float64) []float64 {
	order := make([]int, len(u))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u[a], u[b]) })
	out := make([]float64, len(u))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && u[order[to]] == u[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			out[i] = float64(from+to)/float64(len(u)) - 1
		}
		from = to
	}
	return out
}

// curves returns the Legendre polynomials of the ranks, of so many degrees from the first on.
func curves(rank []float64, first int) [][]float64 {
	below, at := make([]float64, len(rank)), slices.Clone(rank)
	for i := range below {
		below[i] = 1
	}
	var out [][]float64
	for degree := 1; degree < first+bends; degree++ {
		if degree >= first {
			out = append(out, slices.Clone(at))
		}
		k := float64(degree)
		for i, u := range rank {
			below[i], at[i] = at[i], ((2*k+1)*u*at[i]-k*below[i])/(k+1)
		}
	}
	return out
}

// scoreTest tests whether scores, of mean 0 under the model, follow any of the curves, once what the
// nuisance explains is taken out of the curves under the weights. The variance of the sums is that of the
// scores themselves: neither wrong dispersions nor heavy tails pass for a trend. It returns the share
// of Σ score²/weight that a step along the curves explains, less what it explains by chance, and the
// probability of such scores under the model.
func scoreTest(curves, nuisance [][]float64, weights, score []float64) (explained, p float64) {
	var basis, kept [][]float64
	dot := func(a, b []float64) float64 {
		sum := 0.0
		for i, v := range a {
			sum += weights[i] * v * b[i]
		}
		return sum
	}
	// clean takes the basis out of u, twice for the sake of rounding, and says whether anything is left.
	clean := func(u []float64, against [][]float64) bool {
		before := dot(u, u)
		for range 2 {
			for _, b := range against {
				factor := dot(u, b)
				for i := range u {
					u[i] -= factor * b[i]
				}
			}
		}
		after := dot(u, u)
		if !(after > 1e-8*before) {
			return false
		}
		for i := range u {
			u[i] /= math.Sqrt(after)
		}
		return true
	}
	for _, v := range nuisance {
		if u := slices.Clone(v); clean(u, basis) {
			basis = append(basis, u)
		}
	}
	for _, v := range curves {
		if u := slices.Clone(v); clean(u, append(slices.Clone(basis), kept...)) {
			kept = append(kept, u)
		}
	}
	total, part := 0.0, 0.0
	for i, v := range score {
		if weights[i] > 0 {
			total += v * v / weights[i]
		}
	}
	for _, b := range kept {
		sum := 0.0
		for i, v := range score {
			sum += b[i] * v
		}
		part += sum * sum
	}
	explained = part/total - float64(len(kept))/float64(len(score))
	// With c the scores times a curve, χ² = sᵀ (Σ c cᵀ)⁻¹ s for s = Σ c: by Gram-Schmidt of the c.
	products := make([][]float64, len(kept))
	for k, b := range kept {
		products[k] = make([]float64, len(score))
		for i, v := range score {
			products[k][i] = b[i] * v
		}
	}
	ones := make([]float64, len(score))
	for i := range weights {
		ones[i] = 1
	}
	weights = ones
	var done [][]float64
	chi2 := 0.0
	for _, c := range products {
		if !clean(c, done) {
			continue
		}
		done = append(done, c)
		sum := dot(c, ones)
		chi2 += sum * sum
	}
	df := float64(len(done))
	if df == 0 || math.IsNaN(chi2) || math.IsNaN(explained) {
		return 0, 1
	}
	return explained, chiSquareAbove(chi2, df)
}
