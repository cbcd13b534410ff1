package online

import (
	"cmp"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/spec"
)

// SGDConfig holds the options of AdaGrad.
type SGDConfig struct {
	Rate float64 `json:"rate"` // learning rate; 0 means 0.08
	L2   float64 `json:"l2"`   // penalty on w²/2 for every occurrence of a feature
}

// Fields are the options as texts name them.
func (c *SGDConfig) Fields() []spec.Field {
	return []spec.Field{
		spec.Float("rate", &c.Rate, spec.Positive(), "learning rate", "tried on the rows as they come"),
		spec.Float("l2", &c.L2, spec.AtLeast(0), "penalty on half the square of a weight", "0"),
	}
}

// SGD is logistic regression by stochastic gradients with the per-coordinate
// rates of AdaGrad.
type SGD struct {
	learner[SGDConfig] // w, Σ g²
}

// firstSquare is the start of Σ g², which bounds the first step of a coordinate.
const firstSquare = 1

// NewSGD returns a learner that has seen nothing.
func NewSGD(cfg SGDConfig) *SGD {
	cfg.Rate = cmp.Or(cfg.Rate, 0.08)
	return &SGD{learner[SGDConfig]{cfg: cfg, state: store{start: pair{0, firstSquare}}, bias: pair{0, firstSquare}}}
}

// Continue implements [ability.Continuer]: the sums of squared gradients count share, so that steps are
// longer; the weights stay.
func (s *SGD) Continue(share float64) {
	discount := func(p *pair) { p[1] = firstSquare + share*(p[1]-firstSquare) }
	discount(&s.bias)
	for slot := range s.state.slots {
		discount(s.state.at(int32(slot)))
	}
}

// Learn implements [credence.Online].
func (s *SGD) Learn(b *credence.Batch, probability []float64) (refused []int) {
	s.state.reserve(b.Sparse.Cols)
	for i := range b.Sparse.Rows {
		s.state.prefetch(b, i)
		r := rowOf(b, i)
		sum := s.bias[0] + r.offset
		for k, slot := range r.columns {
			sum += s.state.at(slot)[0] * linop.At(r.values, k)
		}
		probability[i] = special.Sigmoid(sum)
		if !r.counts() {
			continue
		}
		slope := r.weight * (probability[i] - r.target)
		if !b.Ordinary(i) && !s.bearable(&r, slope) {
			refused = append(refused, i)
			continue
		}
		s.bias.descend(slope, s.cfg.Rate)
		for k, slot := range r.columns {
			p := s.state.at(slot)
			p.descend(slope*linop.At(r.values, k)+s.cfg.L2*p[0], s.cfg.Rate)
		}
	}
	return refused
}

// bearable says whether a row would leave numbers that stay finite.
func (s *SGD) bearable(r *row, slope float64) bool {
	bias := s.bias
	bias.descend(slope, s.cfg.Rate)
	bounded := bias.bounded()
	for k, slot := range r.columns {
		p := *s.state.at(slot)
		p.descend(slope*linop.At(r.values, k)+s.cfg.L2*p[0], s.cfg.Rate)
		bounded = bounded && p.bounded()
	}
	return bounded
}

// descend is a step of AdaGrad.
func (p *pair) descend(gradient, rate float64) {
	p[1] += gradient * gradient
	p[0] -= rate * gradient / math.Sqrt(p[1])
}
