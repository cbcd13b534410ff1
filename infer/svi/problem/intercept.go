package problem

import (
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
)

// Intercept is where the intercept stands, b̃ = b0 + x̄ᵀw ~ N(Mean, Variance). In the centred coordinates (b̃ − Mean, w) the
// prior is diagonal.
type Intercept base.Intercept

// Centre stores the centred coordinates of weights in dst, which may be w. p may be nil.
func (p *Intercept) Centre(dst, w []float64) {
	copy(dst, w)
	if p != nil {
		dst[0] += kernel.Dot(p.Columns, w) - p.Mean
	}
}

// Weights stores the weights of centred coordinates in dst, which may be c.
func (p *Intercept) Weights(dst, c []float64) {
	copy(dst, c)
	if p != nil {
		dst[0] += p.Mean - kernel.Dot(p.Columns, c)
	}
}

// AddExpected returns −E (b̃ − Mean)²/2·Variance under independent weights of the given means and
// variances, and adds share times its gradients in them.
func (p *Intercept) AddExpected(dMean, dVariance, mean, variance []float64, share float64) float64 {
	gap := mean[0] + kernel.Dot(p.Columns, mean) - p.Mean
	square := gap*gap + variance[0]
	dMean[0] -= share * gap / p.Variance
	dVariance[0] -= share / (2 * p.Variance)
	for j, x := range p.Columns {
		square += x * x * variance[j]
		dMean[j] -= share * gap * x / p.Variance
		dVariance[j] -= share * x * x / (2 * p.Variance)
	}
	return -square / (2 * p.Variance)
}

// CentreSlope takes a gradient in the weights, in place, to one in the centred coordinates.
func (p *Intercept) CentreSlope(g []float64) {
	if p != nil {
		kernel.Axpy(-g[0], p.Columns, g)
	}
}

// CentreCurvature does the same to second derivatives.
func (p *Intercept) CentreCurvature(l gauss.Layout, h []float64) {
	if p != nil {
		l.Centre(h, p.Columns)
	}
}

// WeightFactor takes the upper triangular factor of a covariance of centred coordinates, in place, to
// that of the weights, and returns what takes it back.
func (p *Intercept) WeightFactor(f []float64) (back func()) {
	if p == nil || f == nil {
		return func() {}
	}
	was := append([]float64{}, f[:len(p.Columns)]...)
	base.UncentreFactor(p.Columns, f)
	return func() { copy(f, was) }
}
