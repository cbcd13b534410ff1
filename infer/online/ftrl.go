package online

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/spec"
)

// FTRLConfig holds the options of FTRL-proximal, with the paper's names.
type FTRLConfig struct {
	Alpha float64 `json:"alpha,omitempty"` // learning rate; 0 means 0.1
	Beta  float64 `json:"beta,omitempty"`  // 0 means 1
	L1    float64 `json:"l1"`              // penalty on |w|
	L2    float64 `json:"l2"`              // penalty on w²/2
}

// Fields are the options as texts name them.
func (c *FTRLConfig) Fields() []spec.Field {
	return []spec.Field{
		spec.Float("alpha", &c.Alpha, spec.Positive(), "learning rate", "tried on the rows as they come"),
		spec.Float("beta", &c.Beta, spec.Positive(), "first steps are smaller the larger it is", "1"),
		spec.Float("l1", &c.L1, spec.AtLeast(0), "penalty on the size of a weight, which leaves most at 0", ""),
		spec.Float("l2", &c.L2, spec.AtLeast(0), "penalty on half the square of a weight", "0"),
	}
}

// FTRL is logistic regression by FTRL-proximal, per-coordinate rates and an L1
// penalty that leaves most weights at exactly 0.
type FTRL struct {
	learner[FTRLConfig] // z, n
	work                []ftrlWork
}

type ftrlWork struct{ z, w, root float64 }

// NewFTRL returns a learner that has seen nothing.
func NewFTRL(cfg FTRLConfig) *FTRL {
	cfg.Alpha, cfg.Beta = cmp.Or(cfg.Alpha, 0.1), cmp.Or(cfg.Beta, 1)
	return &FTRL{learner: learner[FTRLConfig]{cfg: cfg}}
}

// weight returns w and √n of a coordinate (Algorithm 1 of the paper); both penalties are 0 for the bias.
func (f *FTRL) weight(p *pair, l1, l2 float64) (w, root float64) {
	z := p[0]
	root = math.Sqrt(p[1])
	if math.Abs(z) <= l1 {
		return 0, root
	}
	return (math.Copysign(l1, z) - z) / ((f.cfg.Beta+root)*(1/f.cfg.Alpha) + l2), root
}

// Continue implements [ability.Continuer]: the sums of the gradients and of their squares count share.
func (f *FTRL) Continue(share float64) {
	discount := func(p *pair) { p[0], p[1] = p[0]*share, p[1]*share }
	discount(&f.bias)
	f.selected = 0
	for slot := range f.state.slots {
		p := f.state.at(int32(slot))
		discount(p)
		if w, _ := f.weight(p, f.cfg.L1, f.cfg.L2); w != 0 {
			f.selected++
		}
	}
}

// Learn implements [credence.Online].
func (f *FTRL) Learn(b *credence.Batch, probability []float64) (refused []int) {
	f.state.reserve(b.Sparse.Cols)
	rate, beta, l1, l2 := 1/f.cfg.Alpha, f.cfg.Beta, f.cfg.L1, f.cfg.L2
	for i := range b.Sparse.Rows {
		f.state.prefetch(b, i)
		r := rowOf(b, i)
		f.work = slices.Grow(f.work[:0], len(r.columns))
		biasWeight, biasRoot := f.weight(&f.bias, 0, 0)
		sum := biasWeight + r.offset
		work := f.work[:len(r.columns)]
		chunks := f.state.chunks
		for k, slot := range r.columns {
			p := chunks.at(slot)
			u := &work[k]
			u.z = p[0]
			u.root = math.Sqrt(p[1])
			// Whether a weight is 0 cannot be foreseen, and a wrong guess would empty the pipeline: the mask is
			// all ones where l1 − |z| has a sign.
			w := (math.Copysign(l1, u.z) - u.z) / ((beta+u.root)*rate + l2)
			mask := uint64(int64(math.Float64bits(l1-math.Abs(u.z))) >> 63)
			u.w = math.Float64frombits(math.Float64bits(w) & mask)
			sum += u.w * linop.At(r.values, k)
		}
		probability[i] = special.Sigmoid(sum)
		if !r.counts() {
			continue
		}
		slope := r.weight * (probability[i] - r.target)
		if !b.Ordinary(i) && !f.bearable(&r, work, slope) {
			refused = append(refused, i)
			continue
		}
		f.bias.step(slope, biasWeight, biasRoot, rate)
		for k, slot := range r.columns {
			gradient := slope * linop.At(r.values, k)
			u := &work[k]
			p := chunks.at(slot)
			p.step(gradient, u.w, u.root, rate)
			if before := math.Abs(u.z) > l1; before != (math.Abs(p[0]) > l1) {
				if before {
					f.selected--
				} else {
					f.selected++
				}
			}
		}
	}
	return refused
}

// bearable says whether a row would leave numbers that stay finite.
func (f *FTRL) bearable(r *row, work []ftrlWork, slope float64) bool {
	bias := f.bias
	w, root := f.weight(&bias, 0, 0)
	bias.step(slope, w, root, 1/f.cfg.Alpha)
	bounded := bias.bounded()
	for k, slot := range r.columns {
		p := *f.state.at(slot)
		p.step(slope*linop.At(r.values, k), work[k].w, work[k].root, 1/f.cfg.Alpha)
		bounded = bounded && p.bounded()
	}
	return bounded
}

// step adds a gradient at weight w: n += g², z += g − w (√n_new − √n_old)/α.
func (p *pair) step(gradient, w, root, rate float64) {
	n := p[1] + gradient*gradient
	p[0] += gradient - w*(math.Sqrt(n)-root)*rate
	p[1] = n
}
