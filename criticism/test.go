package criticism

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
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
	type place struct {
		value float64
		row   int
	}
	order := make([]place, len(u))
	for i, v := range u {
		order[i] = place{v, i}
	}
	slices.SortFunc(order, func(a, b place) int { // of finite values, which cmp.Compare is slower for
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	out := make([]float64, len(u))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && order[to].value == order[from].value {
			to++
		}
		for _, p := range order[from:to] {
			out[p.row] = float64(from+to)/float64(len(u)) - 1
		}
		from = to
	}
	return out
}

// curves returns the Legendre polynomials of the ranks, of so many degrees from the first on.
func curves(rank []float64, first, count int) [][]float64 {
	below, at := make([]float64, len(rank)), slices.Clone(rank)
	for i := range below {
		below[i] = 1
	}
	var out [][]float64
	for degree := 1; degree < first+count; degree++ {
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

// scoreTest tests whether scores, of mean 0 under the model and with variances that go with the weights,
// follow any of the curves, once what the nuisance explains is taken out of both. It returns the share of
// Σ score²/weight that a step along the curves explains, less what it explains by chance, and the
// probability of such scores under the model: firstPart of it is for the first curve alone, the rest for all
// together. The variance of a sum is the larger one of that by the weights, with the scale of the scores,
// and of their squares after the step, over what leverage leaves (MacKinnon & White 1985, HC2): neither wrong
// dispersions nor spreads that vary pass for a trend, nor do squares that are small by chance. A scale that is
// known is 1, of classes, whose rarest ones would make it anything. upwards is the sign of the step along the first curve.
func scoreTest(curves, nuisance [][]float64, weights, score []float64, known bool) (explained, p float64, upwards bool) {
	vectors := append(slices.Clone(nuisance), curves...)
	basis, kept := orthonormal(vectors, weights)
	first := 0 // of the kept ones that is a curve
	for first < len(kept) && kept[first] < len(nuisance) {
		first++
	}
	n, q := len(score), len(kept)
	k := q - first
	if k == 0 || n <= q {
		return 0, 1, false
	}
	steps := make([]float64, q)
	total := 0.0
	for i, v := range score {
		for j, b := range basis[i*q : (i+1)*q] {
			steps[j] += b * v
		}
		if weights[i] > 0 {
			total += v * v / weights[i]
		}
	}
	scale := 0.0
	variance := make([]float64, k*k)
	for i, v := range score {
		w := weights[i]
		if !(w > 0) {
			continue
		}
		b := basis[i*q : (i+1)*q]
		fit, leverage := 0.0, 0.0
		for j, x := range b {
			fit += x * steps[j]
			leverage += x * x
		}
		left := v - w*fit
		scale += left * left / w
		left /= math.Sqrt(1 - math.Min(w*leverage, largestLeverage))
		for r := range k {
			x := b[first+r] * left
			for c := range r + 1 {
				variance[r*k+c] += x * b[first+c] * left
			}
		}
	}
	df := float64(n - q)
	if scale /= df; known {
		scale, total = 1, float64(n)
	}
	u := steps[first:]
	at := func(k int) (explained, p float64) {
		sum := 0.0
		for _, v := range u[:k] {
			sum += v * v
		}
		return sum/total - float64(k)/float64(n),
			math.Max(fisherAbove(sum/scale/float64(k), float64(k), df), fisherAbove(quadratic(variance, u, k)/float64(k), float64(k), df))
	}
	explained, p = at(k)
	if k > 1 {
		p = math.Min(1, p/(1-firstPart))
		if e, first := at(1); first/firstPart < p {
			explained, p = e, first/firstPart
		}
	}
	if math.IsNaN(p) || math.IsNaN(explained) {
		return 0, 1, false
	}
	return explained, p, u[0] > 0
}

// firstPart is the part of the error of a test of several curves that is for the first alone.
const firstPart = 0.75

// orthonormal returns the rows of an orthonormal basis, under the weights, of the space of the vectors, and which of
// them it is made of: those that depend on earlier ones add nothing. It factors their Gram matrix.
func orthonormal(vectors [][]float64, weights []float64) (basis []float64, kept []int) {
	m := len(vectors)
	gram := make([]float64, m*m)
	for i, w := range weights {
		for r, v := range vectors {
			x := w * v[i]
			for c := range r + 1 {
				gram[r*m+c] += x * vectors[c][i]
			}
		}
	}
	factor := make([]float64, 0, m*m) // rows of the kept ones
	row := make([]float64, m)
	for r := range m {
		left := gram[r*m+r]
		for k, c := range kept {
			sum := gram[r*m+c]
			for j := range k {
				sum -= row[j] * factor[k*m+j]
			}
			row[k] = sum / factor[k*m+k]
			left -= row[k] * row[k]
		}
		if !(left > 1e-8*gram[r*m+r]) {
			continue
		}
		row[len(kept)] = math.Sqrt(left)
		factor = append(factor, row...)
		kept = append(kept, r)
	}
	q := len(kept)
	basis = make([]float64, len(weights)*q)
	for i := range weights {
		b := basis[i*q : (i+1)*q]
		for k, r := range kept {
			sum := vectors[r][i]
			for j := range k {
				sum -= factor[k*m+j] * b[j]
			}
			b[k] = sum / factor[k*m+k]
		}
	}
	return basis, kept
}

// quadratic returns uᵀ V⁻¹ u for the first k of u and V, whose lower triangle is given; 0 where V is singular.
func quadratic(variance, u []float64, k int) float64 {
	d := len(u)
	factor, solved := make([]float64, k*k), make([]float64, k)
	sum := 0.0
	for r := range k {
		for c := range r + 1 {
			v := variance[r*d+c]
			for j := range c {
				v -= factor[r*k+j] * factor[c*k+j]
			}
			if c < r {
				factor[r*k+c] = v / factor[c*k+c]
				continue
			}
			if !(v > 1e-8*variance[r*d+r]) {
				return 0
			}
			factor[r*k+r] = math.Sqrt(v)
		}
		v := u[r]
		for j := range r {
			v -= factor[r*k+j] * solved[j]
		}
		solved[r] = v / factor[r*k+r]
		sum += solved[r] * solved[r]
	}
	return sum
}

// efficient returns the sum of a over its standard deviation, once what goes with the nuisance, whose sums are 0 at
// the fit, is taken out.
func efficient(a []float64, nuisance [][]float64) float64 {
	ones := make([]float64, len(a))
	for i := range ones {
		ones[i] = 1
	}
	basis, kept := orthonormal(append(slices.Clone(nuisance), a), ones)
	q := len(kept)
	if q == 0 || kept[q-1] != len(nuisance) {
		return 0
	}
	sum := 0.0
	for i := range a {
		sum += basis[i*q+q-1]
	}
	return sum
}

// fisherAbove returns P(F ≥ x) of a ratio of variances.
func fisherAbove(x, above, below float64) float64 {
	if !(x > 0) {
		return 1
	}
	return mathext.RegIncBeta(below/2, above/2, below/(below+above*x))
}
