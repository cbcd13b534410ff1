package mixture

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
)

// sampler estimates expectations under a component from draws w = m + √Ψ⊙ε (revrand report, eqs.
// 25–26):
//
//	∂/∂m ≈ mean of G      ∂/∂Ψ ≈ mean of G⊙ε/(2√Ψ),   G = Σ_n φ_n ℓ'(φ_nᵀw),
//
// and, for the hyper-parameters of features, ∂/∂Φ ≈ mean of ℓ'(Φw) wᵀ. Draws come in pairs ±ε: in a
// pair the value of G at m, which carries most of the variance of G⊙ε and none of its mean, cancels,
// as does what is linear in ε in G.
type sampler struct {
	draws int
	rng   *rand.Rand
	// of one draw
	weights, epsilon, latent, slopes, product []float64
	parameters                                []float64
}

// add adds the gradients of share·Σ E log p under N(m, diag psi) to dMean, dPsi, q.Slope and, where
// hyper-parameters are variables, q.DPhi, and returns the estimate of Σ E log p.
func (s *sampler) add(q *Bound, b *problem.Block, m, psi []float64, share float64, dMean, dPsi []float64) float64 {
	d, n := q.Dims, b.Rows()
	s.weights, s.epsilon, s.product = problem.Grow(s.weights, d), problem.Grow(s.epsilon, d), problem.Grow(s.product, d)
	s.latent, s.slopes = problem.Grow(s.latent, n), problem.Grow(s.slopes, n)
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
		b.Means(q.Workspace, s.latent, s.weights)
		total += each * s.rows(q, b, each*share)
		if q.Tunable != nil {
			s.addDPhi(q, b, each*share)
		}
		clear(s.product)
		b.Phi.AddMulTrans(q.Workspace, s.product, s.slopes)
		for j, g := range s.product {
			dMean[j] += share * each * g
			dPsi[j] += share * each * g * s.epsilon[j] / (2 * math.Sqrt(psi[j]))
		}
	}
	return total
}

// addDPhi adds share·ℓ'(Φw) wᵀ to q.DPhi, for the dense columns.
func (s *sampler) addDPhi(q *Bound, b *problem.Block, share float64) {
	dense := b.Phi.Dense.Cols
	q.Workspace.InRuns(b.Rows(), func(from, to int) {
		for i := from; i < to; i++ {
			kernel.Axpy(share*s.slopes[i], s.weights[:dense], q.DPhi[i*dense:(i+1)*dense])
		}
	})
}

// rows stores ℓ' of every row at s.latent, adds its gradients in the likelihood's parameters, and
// returns Σ ℓ.
func (s *sampler) rows(q *Bound, b *problem.Block, share float64) float64 {
	total := 0.0
	for i, latent := range s.latent {
		w := b.WeightOf(i)
		if w == 0 {
			s.slopes[i] = 0
			continue
		}
		l := b.LikelihoodOf(q.Family.Likelihood, i)
		value, first, _ := l.Derivatives(b.Target[i], latent)
		total += w * value
		s.slopes[i] = w * first
		s.parameters = q.Family.AddSlopes(q.Slope, s.parameters, l, b.Target[i], latent, share*w)
	}
	return total
}
