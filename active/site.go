package active

import (
	"math"

	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// logistic is the even part of the site of a label.
var logistic = convex.Logistic{Slope: 1}

// widthTolerance is the relative error of the second moment at which a site's width is found.
const widthTolerance = 1e-14

// includedPrecision is 1/γ of the tightest bound to the logistic site of shift β (½ for a positive
// label, −½ for a negative one) at f ~ N(mean, variance): the root of x = E f² under the posterior
// that γ(x) gives.
func includedPrecision(shift, mean, variance float64) float64 {
	moved := mean + shift*variance
	low, high := 0.0, variance+moved*moved
	x := high
	for range 200 {
		_, slope, curvature := logistic.At(x)
		precision := -2 * slope // and −2·curvature is its derivative in x
		kappa := 1 + variance*precision
		at := moved / kappa
		excess := x - variance/kappa - at*at
		if excess > 0 {
			high = x
		} else {
			low = x
		}
		derivative := 1 - 2*curvature*variance*(variance/(kappa*kappa)+2*at*at/kappa)
		next := x - excess/derivative
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-x) <= widthTolerance*x {
			return precision
		}
		x = next
	}
	_, slope, _ := logistic.At(x)
	return -2 * slope
}

// disagreement is the mutual information of the label and f (BALD, Houlsby et al. 2011): the expected
// divergence of the label's distribution at f from that over all f, or the entropy over all f less
// that at f.
func disagreement(mean, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	p, _, _ := quad.LogSigmoid(mean, variance)
	q, _, _ := quad.LogSigmoid(-mean, variance)
	if variance > wideVariance {
		return -p*math.Exp(p) - q*math.Exp(q) - averaged(&entropies, mean, variance)
	}
	value, _, _ := quad.Normal(func(f float64) (a, b, c float64) {
		return special.BernoulliDivergence(special.Sigmoid(f), special.Sigmoid(-f), p-q-f), 0, 0
	}, mean, variance)
	return value
}

// Where f is wider than the logistic function, the entropy at f is averaged by the trapezium rule on a
// fixed grid: the entropy is analytic as far as ±πi, so that the error of this step is of the order of
// exp(−4π²).
const (
	wideVariance = 4
	entropyStep  = 0.5
	entropySide  = 120 // points on either side of 0
)

// entropyGrid is the entropy of a label at the points of the grid.
type entropyGrid [2*entropySide + 1]float64

// entropiesOf is the grid of a link, given log P(y=1) at f.
func entropiesOf(logPositive func(f float64) float64) (h entropyGrid) {
	for k := range h {
		f := entropyStep * float64(k-entropySide)
		for _, value := range []float64{logPositive(f), logPositive(-f)} {
			h[k] -= value * math.Exp(value)
		}
	}
	return h
}

// averaged is the mean entropy at f ~ N(mean, variance).
func averaged(entropies *entropyGrid, mean, variance float64) (sum float64) {
	scale := entropyStep / math.Sqrt(2*math.Pi*variance)
	for k, h := range entropies {
		gap := entropyStep*float64(k-entropySide) - mean
		sum += h * scale * math.Exp(-gap*gap/(2*variance))
	}
	return sum
}

var entropies = entropiesOf(special.LogSigmoid)

// positive is P(y=1).
func positive(mean, variance float64) float64 {
	if !(variance > 0) {
		return special.Sigmoid(mean)
	}
	return quad.Sigmoid(mean, variance)
}
