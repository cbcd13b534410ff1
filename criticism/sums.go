package criticism

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
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

// floatBits are integers in the order of the values.
func floatBits(values []float64) []uint64 {
	keys := make([]uint64, len(values))
	for i, v := range values {
		b := math.Float64bits(v)
		keys[i] = b ^ (uint64(int64(b)>>63) | 1<<63)
	}
	return keys
}

// ascending returns the places of the keys in their order, equal ones as they stand. It counts their bytes, from the
// lowest on.
func ascending(keys []uint64) []int {
	var counts [8][256]int
	for _, key := range keys {
		for b := range counts {
			counts[b][key>>(8*b)&255]++
		}
	}
	places, next := order.Places(len(keys)), make([]int, len(keys))
	for b := range counts {
		count := &counts[b]
		if len(keys) == 0 || count[keys[0]>>(8*b)&255] == len(keys) { // all are the same
			continue
		}
		at := 0
		for k, n := range count {
			count[k], at = at, at+n
		}
		for _, i := range places {
			k := keys[i] >> (8 * b) & 255
			next[count[k]] = i
			count[k]++
		}
		places, next = next, places
	}
	return places
}

// Ranks returns the ranks of values, equal ones for equal values, in (−1, 1).
func Ranks(u []float64) []float64 {
	places, out := ascending(floatBits(u)), make([]float64, len(u))
	for from, to := range order.Runs(len(u), func(first, other int) bool { return u[places[other]] == u[places[first]] }) {
		for _, i := range places[from:to] {
			out[i] = float64(from+to)/float64(len(u)) - 1
		}
	}
	return out
}

// curves returns the Legendre polynomials of degrees 2 to 4 of the ranks.
func curves(rank []float64) [][]float64 {
	out := [][]float64{make([]float64, len(rank)), make([]float64, len(rank)), make([]float64, len(rank))}
	for i, u := range rank {
		v := u * u
		out[0][i], out[1][i], out[2][i] = (3*v-1)/2, u*(5*v-3)/2, (v*(35*v-30)+3)/8
	}
	return out
}

// gram returns the lower triangle of the products of vectors under the weights, and their products with the score.
func gram(vectors [][]float64, weights, score []float64) (products, sums []float64) {
	m := len(vectors)
	products, sums = make([]float64, m*m), make([]float64, m)
	row := make([]float64, m)
	for i, w := range weights {
		for r, v := range vectors {
			row[r] = v[i]
		}
		y := score[i]
		for r, u := range row {
			sums[r] += u * y
			u *= w
			into := products[r*m : r*m+r+1]
			for c := range into {
				into[c] += u * row[c]
			}
		}
	}
	return products, sums
}

// factor returns the Cholesky factor of d × d products, of which the lower triangle is given: the lower triangle, with
// one over the pivots in its diagonal. Those of rows that depend on the ones before them are 0.
func factor(products []float64, d int) []float64 {
	l := make([]float64, d*d)
	for r := range d {
		for c := range r + 1 {
			v := products[r*d+c]
			for j := range c {
				v -= l[r*d+j] * l[c*d+j]
			}
			if c < r {
				l[r*d+c] = v * l[c*d+c]
			} else if v > 1e-8*products[r*d+r] {
				l[r*d+r] = 1 / math.Sqrt(v)
			}
		}
	}
	return l
}

// solve stores L⁻¹ x in z, 0 in rows that depend on others.
func solve(z, l, x []float64) []float64 {
	d := len(x)
	for r, v := range x {
		row := l[r*d : r*d+r+1]
		for j, u := range row[:r] {
			v -= u * z[j]
		}
		z[r] = v * row[r]
	}
	return z
}

// quadratic returns uᵀ V⁻¹ u for the first k of u and V, whose lower triangle is given; 0 where V is singular.
func quadratic(variance, u []float64, k int) float64 {
	d, sum := len(u), 0.0
	l := factor(variance, d)
	for r, v := range solve(make([]float64, d), l, u)[:k] {
		if l[r*d+r] == 0 {
			return 0
		}
		sum += v * v
	}
	return sum
}

// lastGiven returns the last of sums over its standard deviation, given the others, under the covariance of which
// products is the lower triangle; 0 where it goes with them.
func lastGiven(products, sums []float64) float64 {
	return solve(make([]float64, len(sums)), factor(products, len(sums)), sums)[len(sums)-1]
}

// firstPart is the part of the error of a test of several curves that is for the first alone.
const firstPart = 0.75

// scoreTest tests whether scores, of mean 0 under the model and with variances that go with the weights,
// follow any of the curves, once what the nuisance explains is taken out of both. It returns the share of
// Σ score²/weight that a step along the curves explains, less what it explains by chance, and the
// probability of such scores under the model: firstPart of it is for the first curve alone, the rest for all
// together. The variance of a sum is the larger one of that by the weights, with the scale of the scores,
// and of their squares after the step, over what leverage leaves (MacKinnon & White 1985, HC2): neither wrong
// dispersions nor spreads that vary pass for a trend, nor do squares that are small by chance. A scale that is
// known is 1, of classes, whose rarest ones would make it anything. upwards is the sign of the step along the first
// curve.
func scoreTest(curves, nuisance [][]float64, weights, score []float64, known bool) (explained, p float64, upwards bool) {
	vectors := slices.Concat(nuisance, curves)
	m := len(vectors)
	products, sums := gram(vectors, weights, score)
	l := factor(products, m)
	steps := solve(make([]float64, m), l, sums)
	var u []float64 // steps along the curves that are kept
	var kept []int
	q := 0
	for r, step := range steps {
		if l[r*m+r] == 0 {
			continue
		}
		if q++; r >= len(nuisance) {
			u, kept = append(u, step), append(kept, r)
		}
	}
	n, k := len(score), len(u)
	if k == 0 || n <= q {
		return 0, 1, false
	}
	scale, total := 0.0, 0.0
	variance, row, z := make([]float64, k*k), make([]float64, m), make([]float64, m)
	for i, v := range score {
		w := weights[i]
		if !(w > 0) {
			continue
		}
		for r, v := range vectors {
			row[r] = v[i]
		}
		fit, leverage := 0.0, 0.0
		for j, x := range solve(z, l, row) {
			fit += x * steps[j]
			leverage += x * x
		}
		total += v * v / w
		left := v - w*fit
		scale += left * left / w
		left *= left / (1 - math.Min(w*leverage, largestLeverage))
		for r, a := range kept {
			x := z[a] * left
			for c, b := range kept[:r+1] {
				variance[r*k+c] += x * z[b]
			}
		}
	}
	df := float64(n - q)
	if scale /= df; known {
		scale, total = 1, float64(n)
	}
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

// slope returns the correlation of standardised values, and the slope of b on a over its standard error: the larger of
// that under equal spreads and of that of its own terms after the step.
func slope(a, b []float64) (correlation, z float64) {
	var products, squares, others float64
	for i, x := range a {
		products += x * b[i]
		squares += x * x
		others += b[i] * b[i]
	}
	if !(squares > 0 && others > 0) {
		return 0, 0
	}
	step, own := products/squares, 0.0
	for i, x := range a {
		left := x * (b[i] - step*x)
		own += left * left
	}
	return products / math.Sqrt(squares*others), products / math.Sqrt(math.Max(own, squares*others/float64(len(a))))
}

// moment3 are the first three cumulants of a sum.
type moment3 struct{ mean, variance, third float64 }

// above returns about P(T ≥ t) of a sum: the tail of the gamma distribution, shifted and maybe turned
// round, that has its cumulants.
func (m moment3) above(t float64) float64 {
	if !(m.variance > 0) {
		if t > m.mean {
			return 0
		}
		return 1
	}
	z, skew := (t-m.mean)/math.Sqrt(m.variance), m.third/math.Pow(m.variance, 1.5)
	if math.Abs(skew) < 1e-3 {
		return special.NormalCDF(-z)
	}
	// A gamma variable of this shape a, less a and over √a, has skewness 2/√a.
	root := 2 / math.Abs(skew)
	shape := root * root
	if skew > 0 {
		return mathext.GammaIncRegComp(shape, math.Max(0, shape+root*z))
	}
	return mathext.GammaIncReg(shape, math.Max(0, shape-root*z))
}

// below returns about P(T ≤ t).
func (m moment3) below(t float64) float64 { return moment3{-m.mean, m.variance, -m.third}.above(-t) }

// beyond returns the probability of a sum as far from its mean as t, on either side, and whether t is above the mean.
func (m moment3) beyond(t float64) (p float64, above bool) {
	if t > m.mean {
		return math.Min(1, 2*m.above(t)), true
	}
	return math.Min(1, 2*m.below(t)), false
}

// kurtosisAbove is the probability that n normal values have at least this kurtosis: the cube root
// of a ratio of moments is about normal (Anscombe & Glynn 1983).
func kurtosisAbove(kurtosis, n float64) float64 {
	mean := 3 * (n - 1) / (n + 1)
	variance := 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5))
	x := (kurtosis - mean) / math.Sqrt(variance)
	skew := 6 * (n*n - 5*n + 2) / ((n + 7) * (n + 9)) * math.Sqrt(6*(n+3)*(n+5)/(n*(n-2)*(n-3)))
	a := 6 + 8/skew*(2/skew+math.Sqrt(1+4/(skew*skew)))
	z := (1 - 2/(9*a) - math.Cbrt((1-2/a)/(1+x*math.Sqrt(2/(a-4))))) / math.Sqrt(2/(9*a))
	return special.NormalCDF(-z)
}

// fisherAbove returns P(F ≥ x) of a ratio of variances.
func fisherAbove(x, above, below float64) float64 {
	if !(x > 0) {
		return 1
	}
	return mathext.RegIncBeta(below/2, above/2, below/(below+above*x))
}

// studentTail returns P(|T| ≥ t) of a Student-t variable.
func studentTail(t, df float64) float64 { return 2 * special.StudentCDF(-math.Abs(t), df) }
