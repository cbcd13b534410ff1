package online

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/spec"
)

// AdPredictorConfig holds the options of adPredictor.
type AdPredictorConfig struct {
	Variance float64 `json:"variance"`       // of the prior of every weight; 0 means 0.01
	Beta     float64 `json:"beta,omitempty"` // scale of the noise of the latent score; 0 means 1
}

// Fields are the options as texts name them.
func (c *AdPredictorConfig) Fields() []spec.Field {
	return []spec.Field{
		spec.Float("variance", &c.Variance, spec.Positive(), "prior variance of every weight", "tried on the rows as they come"),
		spec.Float("beta", &c.Beta, spec.Positive(), "scale of the noise of the score", "1"),
	}
}

// AdPredictor is probit regression by assumed density filtering: one Gaussian a
// weight, moments matched row by row.
type AdPredictor struct {
	learner[AdPredictorConfig] // mean, variance
}

// biasVariance is that of the prior of the bias, in units of β².
const biasVariance = 100

// NewAdPredictor returns a learner that has seen nothing.
func NewAdPredictor(cfg AdPredictorConfig) *AdPredictor {
	cfg.Variance, cfg.Beta = cmp.Or(cfg.Variance, 0.01), cmp.Or(cfg.Beta, 1)
	return &AdPredictor{learner[AdPredictorConfig]{
		cfg: cfg, state: store{start: pair{0, cfg.Variance}},
		bias: pair{0, biasVariance * cfg.Beta * cfg.Beta},
	}}
}

// moments returns the mean and the variance of the latent score, noise included. An offset is in
// units of the noise, as the weights of a model are.
func (a *AdPredictor) moments(r *row) (mean, variance float64) {
	mean, variance = a.bias[0]+a.cfg.Beta*r.offset, a.cfg.Beta*a.cfg.Beta+a.bias[1]
	chunks := a.state.chunks
	if r.values == nil {
		for _, slot := range r.columns {
			p := chunks.at(slot)
			mean += p[0]
			variance += p[1]
		}
		return mean, variance
	}
	for k, slot := range r.columns {
		p, x := chunks.at(slot), r.values[k]
		mean += x * p[0]
		variance += x * x * p[1]
	}
	return mean, variance
}

// Learn implements [credence.Online].
func (a *AdPredictor) Learn(b *credence.Batch, probability []float64) (refused []int) {
	a.state.reserve(b.Sparse.Cols)
	for i := range b.Sparse.Rows {
		a.state.prefetch(b, i)
		r := rowOf(b, i)
		mean, variance := a.moments(&r)
		scale := 1 / math.Sqrt(variance)
		t := mean * scale
		probability[i] = special.NormalCDF(t)
		if !r.counts() {
			continue
		}
		z, own, sign := t, probability[i], 1.0
		if r.target < 0.5 {
			z, own, sign = -t, 1-own, -1
		}
		var v, w float64 // the paper's v(t) and w(t)
		if z > -4 {
			v = special.NormalDensity(z) / own // own ≥ 3·10⁻⁵ keeps 11 digits
			w = v * (z + v)
		} else {
			_, v, w = special.LogNormalCDFDerivatives(z)
		}
		up, down := sign*v*scale, w*scale*scale
		if !b.Ordinary(i) && !a.bearable(&r, up, down) {
			refused = append(refused, i)
			continue
		}
		a.bias.filter(1, r.weight, up, down)
		chunks := a.state.chunks
		for k, slot := range r.columns {
			if p := chunks.at(slot); r.values == nil && r.weight == 1 {
				p.filterOne(up, down)
			} else {
				p.filter(linop.At(r.values, k), r.weight, up, down)
			}
		}
	}
	return refused
}

// Continue implements [ability.Continuer]: the precisions above those of the priors count share.
func (a *AdPredictor) Continue(share float64) {
	if share == 1 {
		return
	}
	discount := func(p *pair, prior float64) {
		precision := 1/prior + share*(1/p[1]-1/prior)
		p[0] *= share / p[1] / precision
		p[1] = 1 / precision
	}
	discount(&a.bias, biasVariance*a.cfg.Beta*a.cfg.Beta)
	for slot := range a.state.slots {
		discount(a.state.at(int32(slot)), a.cfg.Variance)
	}
}

// Unites implements [ability.Uniter].
func (a *AdPredictor) Unites() error { return nil }

// Leave implements [ability.Uniter]: no rows are kept.
func (a *AdPredictor) Leave(bool) {}

// United implements [ability.Uniter]: nothing of the prior is learned.
func (a *AdPredictor) United() {}

// Unite implements [ability.Uniter]: precisions and shifts add up, less those of the prior, whose mean is 0.
func (a *AdPredictor) Unite(other credence.Online, slots []int32) error {
	o, ok := other.(*AdPredictor)
	if !ok || o == nil || o.cfg != a.cfg || o.state.slots > len(slots) {
		return fmt.Errorf("online: %d features of %T, of other options perhaps, cannot be added", len(slots), other)
	}
	if len(slots) > 0 {
		a.state.reserve(int(slices.Max(slots)) + 1)
	}
	unite := func(p, q *pair, prior float64) {
		precision := 1/p[1] + (1/q[1] - 1/prior)
		*p = pair{(p[0]/p[1] + q[0]/q[1]) / precision, 1 / precision}
	}
	unite(&a.bias, &o.bias, biasVariance*a.cfg.Beta*a.cfg.Beta)
	for i, slot := range slots[:o.state.slots] {
		unite(a.state.at(slot), o.state.at(int32(i)), a.cfg.Variance)
	}
	return nil
}

// bearable says whether a row would leave numbers that stay finite.
func (a *AdPredictor) bearable(r *row, up, down float64) bool {
	bias := a.bias
	bias.filter(1, r.weight, up, down)
	bounded := bias.bounded() && ability.Bounded(r.weight)
	for k, slot := range r.columns {
		p := *a.state.at(slot)
		p.filter(linop.At(r.values, k), r.weight, up, down)
		bounded = bounded && p.bounded()
	}
	return bounded
}

// filter is the update of one Gaussian by a row of weight ω: mean += x s² up, s² *= 1 − x² s² down, where ω is 1.
// The row's factor of this weight is a Gaussian, the quotient of that after the row and that before, and counts ω
// times: with r = x² s² down < 1
//
//	mean += ω x s² up/(1 + (ω−1) r),   s² *= (1 − r)/(1 + (ω−1) r)
//
// so that no weight, however large, moves the mean beyond that of the factor alone. The shrinking is bounded, so that
// rows to come are heard.
func (p *pair) filter(x, weight, up, down float64) {
	s := p[1]
	r := x * x * s * down
	all := 1 + (weight-1)*r
	p[0] += x * s * (weight * up) / all
	p[1] = s * max((1-r)/all, smallestShrink)
}

// filterOne is filter of a value of 1 and a weight of 1, without what these leave as it is.
func (p *pair) filterOne(up, down float64) {
	s := p[1]
	shrink := 1 - s*down
	if shrink < smallestShrink {
		shrink = smallestShrink
	}
	p[0] += s * up
	p[1] = s * shrink
}

const smallestShrink = 0.01
