package online

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// SGDConfig holds the options of AdaGrad.
type SGDConfig struct {
	Rate float64 `json:"rate"` // learning rate; 0 means 0.08
	L2   float64 `json:"l2"`   // penalty on w²/2 for every occurrence of a feature
}

// SGD is logistic regression by stochastic gradients with the per-coordinate
// rates of AdaGrad.
type SGD struct {
	cfg   SGDConfig
	state store // w, Σ g²
	bias  pair
	rows  int64
}

// firstSquare is the start of Σ g², which bounds the first step of a coordinate.
const firstSquare = 1

// NewSGD returns a learner that has seen nothing.
func NewSGD(cfg SGDConfig) *SGD {
	if cfg.Rate == 0 {
		cfg.Rate = 0.08
	}
	return &SGD{cfg: cfg, state: store{start: pair{0, firstSquare}}, bias: pair{0, firstSquare}}
}

// Learn scores every row and then learns it. The probability of class 1, as it
// was before the row was learned, is stored in probability.
func (s *SGD) Learn(b *credence.Batch, probability []float64) {
	s.state.reserve(b.Sparse.Cols)
	for i := range b.Sparse.Rows {
		r := rowOf(b, i)
		probability[i] = s.score(&r)
		if !r.counts() {
			continue
		}
		s.rows++
		slope := r.weight * (probability[i] - r.target)
		s.bias.descend(slope, s.cfg.Rate)
		for k, slot := range r.columns {
			p := s.state.at(slot)
			p.descend(slope*r.value(k)+s.cfg.L2*p[0], s.cfg.Rate)
		}
	}
}

// descend is a step of AdaGrad.
func (p *pair) descend(gradient, rate float64) {
	p[1] += gradient * gradient
	p[0] -= rate * gradient / math.Sqrt(p[1])
}

func (s *SGD) score(r *row) float64 {
	sum := s.bias[0] + r.offset
	for k, slot := range r.columns {
		sum += s.state.at(slot)[0] * r.value(k)
	}
	return special.Sigmoid(sum)
}

// Score stores the probability of class 1 of every row.
func (s *SGD) Score(b *credence.Batch, probability []float64) {
	s.state.reserve(b.Sparse.Cols)
	for i := range b.Sparse.Rows {
		r := rowOf(b, i)
		probability[i] = s.score(&r)
	}
}
