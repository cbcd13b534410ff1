package active

import (
	"math"
	"sync"

	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// link is what scores of classes ask of the distribution of a label given f.
type link struct {
	// include returns the shift and the precision of the normal site that stands for a label, 1 or −1, of a row whose f
	// has this mean and variance.
	include func(label, mean, variance float64) (shift, precision float64)
	// positive is P(y=1), and disagreement the mutual information of label and f, under this mean and variance.
	positive, disagreement func(mean, variance float64) float64
	// What the grids have: the scores and the entropy of the label, even in the mean, and P(y=1) at negative means.
	informations, disagreements, entropies, minorities func() *table
}

func newLink(include func(label, mean, variance float64) (shift, precision float64), positive, disagreement func(mean, variance float64) float64) *link {
	l := &link{include: include, positive: positive, disagreement: disagreement}
	grid := func(of func(mean, variance float64) float64) func() *table {
		return sync.OnceValue(func() *table { return newTable(of) })
	}
	l.informations, l.disagreements, l.entropies = grid(l.information), grid(disagreement), grid(l.entropy)
	l.minorities = grid(func(mean, variance float64) float64 { return positive(-mean, variance) })
	return l
}

// The links that scores know: of the logistic one a label is the site of the tightest bound, of the probit one that of
// the moments, which are in closed form (Rasmussen & Williams 2006, Eq. 3.85).
var (
	logit  = newLink(includeLogistic, positive, disagreement)
	probit = newLink(includeNormal, positiveNormal, disagreementNormal)
)

func includeLogistic(label, mean, variance float64) (shift, precision float64) {
	return label / 2, includedPrecision(label/2, mean, variance)
}

// includeNormal is the site under which mean and variance of f are those of N(f|mean, variance) Φ(label·f).
func includeNormal(label, mean, variance float64) (shift, precision float64) {
	width := 1 + variance
	_, slope, curvature := special.LogNormalCDFDerivatives(label * mean / math.Sqrt(width))
	slope *= label / math.Sqrt(width)
	precision = curvature / (1 + variance*(1-curvature)) // 1/ρ' = 1/ρ + 1/γ, ρ' = ρ − ρ² curvature/(1+ρ)
	return slope + precision*(mean+variance*slope), precision
}

func positiveNormal(mean, variance float64) float64 {
	return special.NormalCDF(mean / math.Sqrt(1+variance))
}

var normalEntropies = entropiesOf(special.LogNormalCDF)

// disagreementNormal is disagreement under the probit link.
func disagreementNormal(mean, variance float64) float64 {
	log := func(mean, variance float64) float64 { return special.LogNormalCDF(mean / math.Sqrt(1+variance)) }
	return disagreementOf(log, func(f float64) (one, zero, odds float64) {
		p, q := special.LogNormalCDF(f), special.LogNormalCDF(-f)
		return math.Exp(p), math.Exp(q), p - q
	}, &normalEntropies, mean, variance)
}

// divergence is D[Q'‖Q] between the normal distributions of f after and before a site is included.
func divergence(shift, precision, mean, variance float64) float64 {
	share := 1 / (1 + variance*precision)
	move := (shift - mean*precision) * share
	return (-special.LogRemainder(share-1) + move*move*variance) / 2
}

// information is the expected divergence over the two labels, S_IG.
func (l *link) information(mean, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	sum := 0.0
	for _, label := range []float64{1, -1} {
		shift, precision := l.include(label, mean, variance)
		sum += l.probability(label*mean, variance) * divergence(shift, precision, mean, variance)
	}
	return sum
}

// entropy is that of the label.
func (l *link) entropy(mean, variance float64) float64 {
	sum := 0.0
	for _, p := range []float64{l.positive(mean, variance), l.positive(-mean, variance)} {
		if p > 0 {
			sum -= p * math.Log(p)
		}
	}
	return sum
}

// probability is P(y=1) by the grid.
func (l *link) probability(mean, variance float64) float64 {
	minority := l.minorities().at(mean, variance)
	if mean > 0 {
		return 1 - minority
	}
	return minority
}

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

// disagreement is the mutual information of the label and f under the logistic link.
func disagreement(mean, variance float64) float64 {
	log := func(mean, variance float64) float64 {
		value, _, _ := quad.LogSigmoid(mean, variance)
		return value
	}
	return disagreementOf(log, func(f float64) (one, zero, odds float64) {
		return special.Sigmoid(f), special.Sigmoid(-f), f
	}, &entropies, mean, variance)
}

// disagreementOf is the mutual information of the label and f (BALD, Houlsby et al. 2011): the expected divergence of
// the label's distribution at f, with the logarithm of its odds, from that over all f, of which log is the logarithm of
// P(y=1), or the entropy over all f less that at f.
func disagreementOf(log func(mean, variance float64) float64, at func(f float64) (one, zero, odds float64), entropies *entropyGrid, mean, variance float64) float64 {
	if !(variance > 0) {
		return 0
	}
	p, q := log(mean, variance), log(-mean, variance)
	if variance > wideVariance {
		return -p*math.Exp(p) - q*math.Exp(q) - averaged(entropies, mean, variance)
	}
	value, _, _ := quad.Normal(func(f float64) (a, b, c float64) {
		one, zero, odds := at(f)
		return special.BernoulliDivergence(one, zero, p-q-odds), 0, 0
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
