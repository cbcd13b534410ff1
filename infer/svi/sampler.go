package svi

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// sampler estimates expectations under a component from draws w = m + √Ψ⊙ε
// (revrand report, eqs. 25–26):
//
//	∂/∂m ≈ mean of G      ∂/∂Ψ ≈ mean of G⊙ε/(2√Ψ),   G = Σ_n φ_n ℓ'(φ_nᵀw),
//
// and, for the hyper-parameters of features, ∂/∂Φ ≈ mean of ℓ'(Φw) wᵀ.
// Draws come in pairs ±ε: in a pair the value of G at m, which carries most of the
// variance of G⊙ε and none of its mean, cancels, as does what is linear in ε in G.
type sampler struct {
	draws int
	rng   *rand.Rand
	// of all draws of a component
	weights, latent, slopes []float64
	epsilon                 []float64
	parameter               []float64
}

// add adds to mean and spread the gradients of a component at some rows, times share,
// and returns the estimate of Σ E log p. Likelihood parameters go to q.slope.
func (s *sampler) add(q *mixture, b *block, m, psi []float64, share float64, mean, spread []float64) float64 {
	d, n := q.d, b.rows
	s.weights, s.epsilon = grow(s.weights, d), grow(s.epsilon, d)
	s.latent, s.slopes = grow(s.latent, n), grow(s.slopes, n)
	back := make([]float64, d)
	total := 0.0
	each := 1 / float64(s.draws)
	for l := range s.draws {
		for j := range d {
			if l%2 == 0 {
				s.epsilon[j] = s.rng.NormFloat64()
			} else {
				s.epsilon[j] = -s.epsilon[j]
			}
			s.weights[j] = m[j] + math.Sqrt(psi[j])*s.epsilon[j]
		}
		latentMeans(q.ws.Pool(), s.latent, b, s.weights)
		total += each * s.rows(q, b, each*share)
		if q.tunable != nil {
			s.addPull(q, b, each*share)
		}
		clear(back)
		addTrans(q.ws.Pool(), back, b.phi, s.slopes)
		for j, g := range back {
			mean[j] += share * each * g
			spread[j] += share * each * g * s.epsilon[j] / (2 * math.Sqrt(psi[j]))
		}
	}
	return total
}

// addPull adds share·ℓ'(Φw) wᵀ to q.slab, for the dense columns.
func (s *sampler) addPull(q *mixture, b *block, share float64) {
	dense := b.phi.Dense.Cols
	inTasks(q.ws.Pool(), b.rows, func(from, to int) {
		for i := from; i < to; i++ {
			kernel.Axpy(share*s.slopes[i], s.weights[:dense], q.slab[i*dense:(i+1)*dense])
		}
	})
}

// rows stores ℓ' of every row at s.latent and returns Σ ℓ.
func (s *sampler) rows(q *mixture, b *block, share float64) float64 {
	f := q.family
	total := 0.0
	s.parameter = grow(s.parameter, len(f.values))
	for i, latent := range s.latent {
		w := 1.0
		if b.weight != nil {
			w = b.weight[i]
		}
		if w == 0 {
			s.slopes[i] = 0
			continue
		}
		l := f.Likelihood
		if b.trials != nil {
			if perRow, ok := l.(likelihood.PerRow); ok {
				l = perRow.WithTrials(b.trials[i]).(Likelihood)
			}
		}
		value, first, _ := l.Derivatives(b.y[i], latent)
		total += w * value
		s.slopes[i] = w * first
		if f.parametric != nil {
			f.parametric.ParameterGradient(s.parameter, b.y[i], latent)
			for k, place := range f.learned {
				q.slope[k] += share * w * s.parameter[place]
			}
		}
	}
	return total
}
