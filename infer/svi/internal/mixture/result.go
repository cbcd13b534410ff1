package mixture

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/posterior"
)

// ELBO returns the bound with the true entropy in place of its lower bound, the standard error of
// the entropy, and the lower bound, all over rows whose features are fixed. The sums of q are then
// those at x.
func (q *Bound) ELBO(ctx context.Context, x []float64, rng *rand.Rand) (elbo, standardError, lower float64, err error) {
	gradient := make([]float64, len(x))
	if lower, err = q.Evaluate(ctx, q.All(), gradient, x); err != nil {
		return 0, 0, 0, err
	}
	clear(gradient)
	lower -= q.HyperDensity(x)
	without := lower - q.entropyBound(gradient, x)
	entropy, standardError := q.entropy(x, entropyDraws, rng)
	return without + entropy, standardError, lower, nil
}

// Fix sets the features to those at x and makes their hyper-parameters no variables any more.
func (q *Bound) Fix(x []float64) {
	if q.Tunable != nil {
		q.SetFeatures(q.FeaturesAt(x))
		q.Tunable = nil
	}
}

// Moments returns the variances and the means of the weights under the mixture in x.
func (q *Bound) Moments(x []float64) (variance, mean []float64) {
	mean, variance = make([]float64, q.Dims), make([]float64, q.Dims)
	share := 1 / float64(q.Components)
	for k := range q.Components {
		m, _ := q.Component(x, k)
		kernel.Axpy(share, m, mean)
	}
	for k := range q.Components {
		m, _ := q.Component(x, k)
		for j, psi := range q.Variances(k) {
			gap := m[j] - mean[j]
			variance[j] += share * (psi + gap*gap)
		}
	}
	return variance, mean
}

// Posterior returns the mixture in x.
func (q *Bound) Posterior(x []float64) credence.Posterior {
	if q.Components == 1 {
		m, _ := q.Component(x, 0)
		return &posterior.Diagonal{Mean: slices.Clone(m), Variance: slices.Clone(q.Psi)}
	}
	p := &posterior.Mixture{Count: q.Components, Variances: slices.Clone(q.Psi)}
	for k := range q.Components {
		m, _ := q.Component(x, k)
		p.Means = append(p.Means, m...)
	}
	return p
}

// drawBytes bounds the memory of the draws that are taken to the rows at a time.
const drawBytes = 64 << 20

// LogWeights returns the logarithms of the importance weights of about count draws from the mixture
// in x, as many from every component.
func (q *Bound) LogWeights(ctx context.Context, x []float64, rng *rand.Rand, count int) ([]float64, error) {
	count -= count % q.Components
	group := max(1, drawBytes/8/q.Dims)
	if group < count {
		count = min(count, max(100/q.Components*q.Components, group)) // each group is a pass over the rows
	}
	drawn := 0
	draw := func(w []float64, rng *rand.Rand) float64 {
		drawn++
		return q.draw(w, x, (drawn-1)%q.Components, rng)
	}
	rows := q.All()
	var logs []float64
	for len(logs) < count {
		draws := diagnose.Draw(rng, min(group, count-len(logs)), q.Dims, draw, func(w []float64) float64 { return q.LogPrior(w, q.Prior) })
		err := rows.Each(ctx, func(b *problem.Block) {
			draws.AddRows(q.Workspace, q.Family.Likelihood, b.Phi, b.Batch)
		})
		if err != nil {
			return nil, err
		}
		logs = append(logs, draws.LogWeights()...)
	}
	return logs, nil
}

// entropyBound returns −(1/K) Σ_k log Σ_j (1/K) N(m_k|m_j, V_kj), V_kj = Ψ_k + Ψ_j (eq. 24), and adds
// its gradients in m and Ψ. With the responsibilities R_kj = softmax_j log N(m_k|m_j, V_kj),
// S = R + Rᵀ and Δ = m_k − m_j they are
//
//	∂/∂m_k = (1/K) Σ_j S_kj Δ/V_kj      ∂/∂Ψ_k = (1/2K) Σ_j S_kj (1/V_kj − Δ²/V_kj²).
func (q *Bound) entropyBound(gradient, x []float64) float64 {
	count := q.Components
	logs := make([]float64, count*count)
	for k := range count {
		mk, _ := q.Component(x, k)
		pk := q.Variances(k)
		for l := k; l < count; l++ {
			ml, ll := q.Component(x, l)
			sum := 0.0
			if l == k { // no gap, and twice the variance
				sum = kernel.Sum(ll) + float64(len(ll))*math.Log(4*math.Pi)
			} else {
				for j, psi := range q.Variances(l) {
					v := pk[j] + psi
					gap := mk[j] - ml[j]
					sum += gap*gap/v + math.Log(2*math.Pi*v)
				}
			}
			logs[k*count+l], logs[l*count+k] = -sum/2, -sum/2
		}
	}
	bound := 0.0
	share := 1 / float64(count)
	for k := range count {
		row := logs[k*count : (k+1)*count]
		total := special.LogSumExp(row)
		bound -= share * (total - math.Log(float64(count)))
		for l := range row {
			row[l] = math.Exp(row[l] - total) // R
		}
	}
	for k := range count {
		mk, _ := q.Component(x, k)
		gm, gl := q.Component(gradient, k)
		pk := q.Variances(k)
		for l := range count {
			weight := share * (logs[k*count+l] + logs[l*count+k])
			if weight == 0 {
				continue
			}
			ml, _ := q.Component(x, l)
			for j, psi := range q.Variances(l) {
				v := pk[j] + psi
				gap := (mk[j] - ml[j]) / v
				gm[j] += weight * gap
				gl[j] += weight / 2 * (1/v - gap*gap)
			}
		}
	}
	return bound
}

// entropyDraws is the number of draws of each component for the entropy that is reported.
const entropyDraws = 2000

// entropy estimates the entropy of the mixture in x, with its standard error, from the same number
// of draws of every component. For one component it is exact.
func (q *Bound) entropy(x []float64, draws int, rng *rand.Rand) (value, standardError float64) {
	if q.Components == 1 {
		sum := float64(q.Dims) * (1 + math.Log(2*math.Pi))
		for _, v := range q.Psi {
			sum += math.Log(v)
		}
		return sum / 2, 0
	}
	w := make([]float64, q.Dims)
	variance := 0.0
	for k := range q.Components {
		mean, square := 0.0, 0.0
		for l := range draws {
			v := -q.draw(w, x, k, rng)
			gap := v - mean
			mean += gap / float64(l+1)
			square += gap * (v - mean)
		}
		value += mean / float64(q.Components)
		variance += square / float64(draws-1) / float64(draws) / float64(q.Components*q.Components)
	}
	return value, math.Sqrt(variance)
}

// draw stores a draw of component k in w and returns log q(w).
func (q *Bound) draw(w, x []float64, k int, rng *rand.Rand) float64 {
	m, _ := q.Component(x, k)
	for j, psi := range q.Variances(k) {
		w[j] = m[j] + math.Sqrt(psi)*rng.NormFloat64()
	}
	return q.logDensity(x, w)
}

// logDensity returns log q(w).
func (q *Bound) logDensity(x, w []float64) float64 {
	logs := make([]float64, q.Components)
	for k := range logs {
		m, logVariance := q.Component(x, k)
		sum := kernel.Sum(logVariance) + float64(len(m))*math.Log(2*math.Pi)
		for j, v := range q.Variances(k) {
			gap := w[j] - m[j]
			sum += gap * gap / v
		}
		logs[k] = -sum / 2
	}
	return special.LogSumExp(logs) - math.Log(float64(q.Components))
}
