package mixture

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

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
