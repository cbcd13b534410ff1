package svi

import (
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/special"
)

// entropy estimates the entropy of the mixture in x, with its standard error, from
// the same number of draws of every component; q.psi must be that of x. For one
// component it is exact.
func (q *mixture) entropy(x []float64, draws int, rng *rand.Rand) (value, standardError float64) {
	d := q.d
	if q.k == 1 {
		sum := float64(d) * (1 + math.Log(2*math.Pi))
		for _, v := range q.psi {
			sum += math.Log(v)
		}
		return sum / 2, 0
	}
	w := make([]float64, d)
	variance := 0.0
	for k := range q.k {
		m, _ := q.component(x, k)
		mean, square := 0.0, 0.0
		for l := range draws {
			for j := range d {
				w[j] = m[j] + math.Sqrt(q.psi[k*d+j])*rng.NormFloat64()
			}
			v := -q.logDensity(x, w)
			gap := v - mean
			mean += gap / float64(l+1)
			square += gap * (v - mean)
		}
		value += mean / float64(q.k)
		variance += square / float64(draws-1) / float64(draws) / float64(q.k*q.k)
	}
	return value, math.Sqrt(variance)
}

// logDensity returns log q(w).
func (q *mixture) logDensity(x, w []float64) float64 {
	logs := make([]float64, q.k)
	for k := range q.k {
		m, _ := q.component(x, k)
		sum := 0.0
		for j, v := range q.psi[k*q.d : (k+1)*q.d] {
			gap := w[j] - m[j]
			sum += gap*gap/v + math.Log(2*math.Pi*v)
		}
		logs[k] = -sum / 2
	}
	return special.LogSumExp(logs) - math.Log(float64(q.k))
}
