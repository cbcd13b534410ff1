package active

import (
	"math"
	"sync"

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
	if !(variance > 0) {
		return 0
	}
	at := mean / math.Sqrt(1+variance)
	p, q := special.LogNormalCDF(at), special.LogNormalCDF(-at)
	if variance > wideVariance {
		return -p*math.Exp(p) - q*math.Exp(q) - averaged(&normalEntropies, mean, variance)
	}
	value, _, _ := quad.Normal(func(f float64) (a, b, c float64) {
		one, zero := special.LogNormalCDF(f), special.LogNormalCDF(-f)
		return special.BernoulliDivergence(math.Exp(one), math.Exp(zero), p-q-(one-zero)), 0, 0
	}, mean, variance)
	return value
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
