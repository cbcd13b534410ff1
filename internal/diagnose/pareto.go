package diagnose

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/order"
)

// Smooth fits a generalised Pareto distribution to the tail of importance weights, which are the
// largest min(S/5, 3√S) of S, and returns its shape k. It replaces the logarithms of the tail by
// those of the distribution's expected order statistics, none above the largest weight, and keeps
// the order of logWeights. Smooth returns NaN for fewer than 25 weights or a weight that is NaN, and
// 0 for a tail of equal weights; it then changes nothing.
func Smooth(logWeights []float64) (k float64) {
	n := len(logWeights)
	tail := tailOf(n)
	if tail < 5 {
		return math.NaN()
	}
	if slices.ContainsFunc(logWeights, math.IsNaN) {
		return math.NaN()
	}
	places := order.Last(n, tail+1, func(a, b int) int {
		switch v, w := logWeights[a], logWeights[b]; {
		case v < w:
			return -1
		case v > w:
			return 1
		}
		return a - b
	})
	threshold := logWeights[places[0]]
	places = places[1:]
	largest := logWeights[places[tail-1]]
	cut := math.Exp(threshold - largest)
	excess := make([]float64, tail)
	for i, at := range places {
		excess[i] = math.Exp(logWeights[at]-largest) - cut
	}
	if excess[tail-1] <= 1e-12 {
		return 0
	}
	k, scale := Fit(excess)
	if math.IsNaN(k) {
		return k
	}
	for i, at := range places {
		p := (float64(i) + 0.5) / float64(tail)
		logWeights[at] = largest + math.Min(0, math.Log(cut+Quantile(p, k, scale)))
	}
	return k
}

// tailOf is the number of weights, out of n, that make the tail.
func tailOf(n int) int {
	return int(math.Min(0.2*float64(n), 3*math.Sqrt(float64(n))))
}

// StandardError returns about the standard error of a shape k that Smooth finds in n weights:
// (1+k)/√M for a tail of M values (Hosking & Wallis 1987), times the share of the tail in the average
// with priorShape.
func StandardError(k float64, n int) float64 {
	tail := float64(tailOf(n))
	return (1 + k) / math.Sqrt(tail) * tail / (tail + priorValues)
}

// An estimated shape is averaged with priorShape, which counts as priorValues values of the tail
// (Vehtari and others 2024, appendix G).
const priorShape, priorValues = 0.5, 10

// Quantile returns the p-quantile of the generalised Pareto distribution with location 0.
func Quantile(p, k, scale float64) float64 {
	if math.Abs(k) < 1e-12 {
		return -scale * math.Log1p(-p)
	}
	return scale * math.Expm1(-k*math.Log1p(-p)) / k
}

// Fit returns shape and scale of the generalised Pareto distribution for values above a
// threshold, in ascending order, by the empirical Bayes estimate of Zhang & Stephens
// (2009), the shape averaged with priorShape.
func Fit(x []float64) (k, scale float64) {
	n := len(x)
	const prior = 3 // Zhang & Stephens' scale of the prior of θ
	points := 30 + int(math.Sqrt(float64(n)))
	quartile := x[int(float64(n)/4+0.5)-1]
	if !(quartile > 0) {
		quartile = x[n-1] / float64(n) // ties at the threshold
	}
	theta, likelihood := make([]float64, points), make([]float64, points)
	for j := range theta {
		theta[j] = 1/x[n-1] + (1-math.Sqrt(float64(points)/(float64(j)+0.5)))/(prior*quartile)
		shape := meanLog(x, theta[j])
		likelihood[j] = float64(n) * (math.Log(-theta[j]/shape) - shape - 1)
	}
	mean := 0.0
	for j := range theta {
		sum := 0.0
		for _, l := range likelihood {
			sum += math.Exp(l - likelihood[j])
		}
		mean += theta[j] / sum
	}
	k = meanLog(x, mean)
	scale = -k / mean
	count := float64(n)
	return k*count/(count+priorValues) + priorShape*priorValues/(count+priorValues), scale
}

// meanLog is the mean of log(1 − θx), the shape that goes with θ.
func meanLog(x []float64, theta float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log1p(-theta * v)
	}
	return sum / float64(len(x))
}

// EffectiveShare returns (Σr)²/(S Σr²) for the logarithms of S weights: the number of draws of equal
// weight that would say as much, as a share of S.
func EffectiveShare(logWeights []float64) float64 {
	largest := slices.Max(logWeights)
	sum, squares := 0.0, 0.0
	for _, v := range logWeights {
		r := math.Exp(v - largest)
		sum += r
		squares += r * r
	}
	return sum * sum / squares / float64(len(logWeights))
}

// LogMean returns the logarithm of the mean weight.
func LogMean(logWeights []float64) float64 {
	largest := slices.Max(logWeights)
	sum := 0.0
	for _, v := range logWeights {
		sum += math.Exp(v - largest)
	}
	return largest + math.Log(sum/float64(len(logWeights)))
}
