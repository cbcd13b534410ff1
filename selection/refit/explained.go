package refit

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
)

// Rows for which the joint law of f is drawn from, and draws of it.
const (
	explainedRows  = 2000
	explainedDraws = 256
)

// explained is the share of the variance that f has over the rows in that of f and the noise (Gelman, Goodrich,
// Gabry & Vehtari 2019), whose variance has a scaled inverse χ² law about its mean; of classes in that of f and the
// logistic or normal variable behind them (McKelvey & Zavoina 1975). Rows count their weight times their precision, and
// the noise is that of a mean precision: R's weighted share. It is nil where rows are many and the posterior has no
// draws.
func (b *Base) explained(ctx context.Context, fitted *credence.Fitted, interval float64) (*selection.Share, error) {
	member, n := fitted.Members[0], b.Data.Rows()
	noise := math.Pi * math.Pi / 3
	switch l := member.Model.Likelihood.(type) {
	case likelihood.Gaussian:
		noise = l.NoiseVariance.Value
	case likelihood.Bernoulli:
		if l.Link == likelihood.Probit {
			noise = 1
		}
	default:
		return nil, nil
	}
	draws, drawn := member.Posterior.(credence.MixturePosterior)
	drawn = drawn && draws.Components() > 1 // else normal
	joint, known := member.Posterior.(credence.Joint)
	if !drawn && (!known || n > explainedRows) {
		return nil, nil
	}
	ws := credence.NewWorkspace(b.Threads)
	count := explainedDraws
	if drawn {
		count = draws.Components()
	}
	total, precise, sums, squares := 0.0, 0.0, make([]float64, count), make([]float64, count)
	add := func(k int, f, weights []float64) {
		for i, v := range f {
			sums[k] += weights[i] * v
			squares[k] += weights[i] * v * v
		}
	}
	block := credence.BlockRows
	if !drawn {
		block = n
	}
	var rows credence.Batch
	var phi credence.Design
	for first := 0; first < n; first += block {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.Data.Read(&rows, first, min(block, n-first)); err != nil {
			return nil, err
		}
		member.Model.Features.Transform(ws, &phi, &rows)
		m := rows.Rows()
		weights, mean := make([]float64, m), make([]float64, m)
		for i := range weights {
			total += rows.WeightOf(i)
			weights[i] = rows.WeightOf(i) * rows.PrecisionOf(i)
			precise += weights[i]
		}
		if drawn {
			spread := make([]float64, m)
			for k := range count {
				draws.LatentComponent(ws, k, mean, spread, &phi)
				add(k, mean, weights)
			}
			continue
		}
		joint.Latent(ws, mean, nil, &phi)
		root := linop.NewDense(m, m)
		joint.Covariance(ws, &root, &phi, &phi)
		for i := range m {
			root.Row(i)[i] *= 1 + 1e-9
			root.Row(i)[i] += 1e-12 * noise
		}
		if _, ok := ws.Pool().Cholesky(m, root.Data, root.Stride); !ok {
			return nil, nil
		}
		rng, f := credence.Rand(b.Seed, credence.ExplainedDraws, 0), make([]float64, m)
		for k := range count {
			copy(f, mean)
			for i := range m {
				kernel.Axpy(rng.NormFloat64(), root.Row(i)[i:], f[i:])
			}
			add(k, f, weights)
		}
	}
	shares, out := make([]float64, count), &selection.Share{}
	rng := credence.Rand(b.Seed, credence.ExplainedDraws, 1)
	_, classes := member.Model.Likelihood.(likelihood.Bernoulli)
	selected, _ := score.Selected(fitted)
	freedom, mean := math.Max(3, total-float64(selected)-1), noise*(total/precise)
	for k := range shares {
		if !classes { // χ² by Wilson & Hilferty (1931)
			root := 2 / (9 * freedom)
			noise = mean * math.Pow(math.Max(0.05, 1-root+math.Sqrt(root)*rng.NormFloat64()), -3)
		}
		spread := math.Max(0, squares[k]/precise-sums[k]/precise*sums[k]/precise)
		shares[k] = spread / (spread + noise)
		out.Mean += shares[k] / float64(count)
	}
	slices.Sort(shares)
	tail := (1 - interval) / 2
	out.Lower, out.Upper = shares[int(tail*float64(count-1))], shares[int(math.Ceil((1-tail)*float64(count-1)))]
	return out, nil
}
