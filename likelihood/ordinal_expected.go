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
