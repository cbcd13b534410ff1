package likelihood

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
)

// CDF returns σ(Cutpoints[k] − f) for k the whole part of y.
func (l Ordinal) CDF(y, f float64) float64 { return l.PredictiveCDF(y, f, 0) }

// Sample returns a draw of the grade.
func (l Ordinal) Sample(rng *rand.Rand, f float64) float64 {
	return l.PredictiveQuantile(rng.Float64(), f, 0)
}

// ExpectedLogDensity is a constant plus two expectations of log σ, by the
// logistic mixture.
func (l Ordinal) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	k, ok := l.grade(y)
	if !ok {
		return math.Inf(-1), math.NaN(), math.NaN()
	}
	value = l.logGap(k)
	if k < l.top() {
		s, p, c := quad.Softplus(mean-l.cut(k), variance)
		value, dMean, dVariance = value-s, dMean-p, dVariance-c
	}
	if k > 0 {
		s, p, c := quad.Softplus(l.cut(k-1)-mean, variance)
		value, dMean, dVariance = value-s, dMean+p, dVariance-c
	}
	return value, dMean, dVariance
}

// TiltedMoments is by quadrature.
func (l Ordinal) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	return tiltedMoments(l, y, mean, variance)
}

// above returns P(y > k) and P(y ≤ k) under f ~ N(mean, variance).
func (l Ordinal) above(k int, mean, variance float64) (above, below float64) {
	return Bernoulli{}.predictive(mean-l.cut(k), variance)
}

// PredictiveMean returns Σ_k P(y > k).
func (l Ordinal) PredictiveMean(mean, variance float64) float64 {
	sum := 0.0
	for k := range l.top() {
		above, _ := l.above(k, mean, variance)
		sum += above
	}
	return sum
}

// PredictiveVariance is the sum of the covariances of the indicators 1[y > k].
func (l Ordinal) PredictiveVariance(mean, variance float64) float64 {
	sum, below := 0.0, 0.0
	for k := range l.top() {
		above, complement := l.above(k, mean, variance)
		// Cov(1[y>j], 1[y>k]) = P(y>k) P(y≤j) for j ≤ k.
		sum += above * (complement + 2*below)
		below += complement
	}
	return sum
}

// PredictiveCDF returns E σ(Cutpoints[k] − f) for k the whole part of y.
func (l Ordinal) PredictiveCDF(y, mean, variance float64) float64 {
	switch {
	case y < 0:
		return 0
	case y >= float64(l.top()):
		return 1
	}
	_, below := l.above(int(y), mean, variance)
	return below
}

// PredictiveQuantile returns the lowest grade with PredictiveCDF ≥ p.
func (l Ordinal) PredictiveQuantile(p, mean, variance float64) float64 {
	for k := range l.top() {
		if p < 1 && l.PredictiveCDF(float64(k), mean, variance) >= p {
			return float64(k)
		}
	}
	return float64(l.top())
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Ordinal) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	expectedBatch(l, value, dMean, dVariance, y, mean, variance)
}

// Parameters returns the first cutpoint, "cutpoint", which may have any sign, and
// the gaps to the following ones, "gap1", "gap2", …, which are positive.
func (l Ordinal) Parameters() []Parameter {
	list := []Parameter{{Name: "cutpoint", Parameter: param.Parameter{Value: l.cut(0), State: l.Cutpoints.State}}}
	for k := 1; k < l.top(); k++ {
		list = append(list, Parameter{
			Name: "gap" + strconv.Itoa(k), Positive: true,
			Parameter: param.Parameter{Value: l.cut(k) - l.cut(k-1), State: l.Cutpoints.State},
		})
	}
	return list
}

// WithParameters returns the family with another first cutpoint and gaps.
func (l Ordinal) WithParameters(values []float64) Family {
	checkValues("ordinal", values, l.top())
	cutpoints := slices.Clone(values)
	for k := 1; k < len(cutpoints); k++ {
		cutpoints[k] += cutpoints[k-1]
	}
	return Ordinal{param.List{Values: cutpoints, State: l.Cutpoints.State}}
}

// ExpectedParameterGradient stores the derivatives in the first cutpoint and in the
// logarithms of the gaps, by the logistic mixture.
func (l Ordinal) ExpectedParameterGradient(dst []float64, y, mean, variance float64) {
	checkValues("ordinal", dst, l.top())
	clear(dst)
	k, ok := l.grade(y)
	if !ok {
		for j := range dst {
			dst[j] = math.NaN()
		}
		return
	}
	sigmoid := func(m float64) float64 {
		if variance <= 0 {
			return special.Sigmoid(m)
		}
		_, p, _ := quad.Softplus(-math.Abs(m), variance) // the smaller side, which has its digits
		if m >= 0 {
			return 1 - p
		}
		return p
	}
	var upper, lower float64 // derivatives in the cutpoints above and below grade k
	if k < l.top() {
		upper = sigmoid(mean - l.cut(k))
	}
	if k > 0 {
		lower = -sigmoid(l.cut(k-1) - mean)
	}
	dst[0] = upper + lower
	for j := 1; j < l.top(); j++ {
		// Gap j moves the cutpoints from j on: both those of grade k, the upper
		// one, or none.
		gap := l.cut(j) - l.cut(j-1)
		switch {
		case j < k:
			dst[j] = gap * (upper + lower)
		case j == k && k < l.top():
			// d log(1−e^−gap) = 1/(e^gap−1), times gap.
			dst[j] = gap*upper + gap/math.Expm1(gap)
		}
	}
}

// ExpectedParameterCurvatures implements [ParametricCurvature]. Those in the cutpoints on either side of the
// grade are minus the expected curvature of log(1+eᶠ) there, and every gap below the grade moves both cutpoints.
// Rows of a grade share what they add to bend, so that the cost is rows × P + P².
func (l Ordinal) ExpectedParameterCurvatures(cross, bend, y, mean, variance, weight []float64) {
	n, top := len(y), l.top()
	gaps := make([]float64, top) // what a parameter moves the cutpoints from its own on by
	gaps[0] = 1
	for j := 1; j < top; j++ {
		gaps[j] = l.cut(j) - l.cut(j-1)
	}
	// Sums over the rows of a grade: of the curvature at the cutpoint above and at both, and of the slopes there.
	upper, both := make([]float64, top+1), make([]float64, top+1)
	upperSlope, bothSlope, rows := make([]float64, top+1), make([]float64, top+1), make([]float64, top+1)
	for i := range y {
		k, ok := l.grade(y[i])
		if !ok {
			for j := range top {
				cross[j*n+i] = math.NaN()
			}
			continue
		}
		var above, below, aboveSlope, belowSlope float64
		if k < top {
			_, p, c := quad.Softplus(mean[i]-l.cut(k), variance[i])
			above, aboveSlope = 2*c, p
		}
		if k > 0 {
			_, p, c := quad.Softplus(l.cut(k-1)-mean[i], variance[i])
			below, belowSlope = 2*c, -p
		}
		for j := range top {
			switch {
			case j < k:
				cross[j*n+i] = gaps[j] * (above + below)
			case j == k:
				cross[j*n+i] = gaps[j] * above
			default:
				cross[j*n+i] = 0
			}
		}
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		if w == 0 {
			continue
		}
		upper[k] += w * above
		both[k] += w * (above + below)
		upperSlope[k] += w * aboveSlope
		bothSlope[k] += w * (aboveSlope + belowSlope)
		rows[k] += w
	}
	if bend == nil {
		return
	}
	higher, higherSlope := 0.0, 0.0 // of the grades above j, whose cutpoints it moves together
	for j := top - 1; j >= 0; j-- {
		higher += both[j+1]
		higherSlope += bothSlope[j+1]
		for k := range j + 1 {
			second := -gaps[k] * gaps[j] * (higher + upper[j])
			bend[k*top+j] += second
			if k < j {
				bend[j*top+k] += second
			}
		}
		if j == 0 {
			continue
		}
		// In the logarithm of a gap there is its slope besides, and what log(1−e^−gap) bends by.
		half := gaps[j] / 2 / math.Sinh(gaps[j]/2)
		bend[j*top+j] += gaps[j]*(higherSlope+upperSlope[j]) + rows[j]*(gaps[j]/math.Expm1(gaps[j])-half*half)
	}
}
