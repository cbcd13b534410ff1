package mixture

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/kernel"
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
