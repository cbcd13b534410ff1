package exact

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// What the two forms tell about the weights given θ, where they were evaluated last with slopes but
// without those of the features, and what they make of it on average. Weights are those of centred
// columns and all numbers in units.
//
// In the d×d form the linear numbers are the covariance C, d×d, and σ². The variances are those of
// the weights, and of y in a mean row, of a mean precision, which tells the tails of predictions.
//
// In the n×n form weights are many, and f of the rows stands for them in the variances. The linear
// numbers are λ_b λ_c K⁻¹ of every pair of groups, b ≤ c, then the λ of all groups and σ²; the further means
// are those of the weights.

// moments stores mean, variance and linear numbers.
func (p *primal) moments(at *values, dst *hyper.Point) {
	d := p.d
	resize(&dst.Mean, d+1)
	resize(&dst.Variance, d+1)
	resize(&dst.Linear, d*d+1)
	copy(dst.Mean, p.m)
	copy(dst.Linear, p.inverse[:d*d])
	gauss.ScaleSides(p.ws, dst.Linear, p.s)
	trace := 0.0
	for i := range d {
		trace += p.inverse[i*d+i]
		dst.Variance[i] = dst.Linear[i*d+i]
	}
	dst.Linear[d*d] = at.noise
	dst.Variance[d] = at.noise * (p.summary.weight/p.summary.precise + (float64(d)-trace)/p.summary.precise)
}

// spread adds scale·δδᵀ to the upper triangle of the covariance.
func (p *primal) spread(linear []float64, scale float64, difference []float64) {
	hyper.Upper(p.d)(linear, scale, difference)
}

// integrated returns the posterior with the moments of the sums.
func (p *primal) integrated(mean, linear []float64, df float64) (credence.Posterior, bool) {
	factor, ok := gauss.Repair(p.pool, p.d, linear)
	return p.ownUnits(mean, factor, df), ok
}

func (p *dual) moments(at *values, dst *hyper.Point) {
	n, pairs := p.n, p.pairs()
	resize(&dst.Mean, n+1+p.d)
	resize(&dst.Variance, n+1)
	resize(&dst.Linear, pairs*n*n+len(p.groups)+1)
	trace := 0.0
	for i := range n {
		root := linop.At(p.roots, i)
		dst.Mean[i], dst.Variance[i] = 0, 0
		if root == 0 {
			continue
		}
		share := math.Max(0, 1-at.noise*p.inverse[i*n+i]/(root*root)) // of f √w in its own noise
		dst.Mean[i] = root*p.y[i] - at.noise*p.alpha[i]/root
		dst.Variance[i] = at.noise * share
		trace += share
	}
	dst.Mean[n], dst.Variance[n] = 0, at.noise*(p.summary.weight/p.summary.precise+trace/p.summary.precise)
	weights := dst.Mean[n+1:]
	p.projectTo(weights)
	linear := dst.Linear
	for b, g := range p.groups {
		kernel.Scale(at.prior[b], weights[g.First:g.End()])
		for c := b; c < len(p.groups); c++ {
			copy(linear, p.inverse)
			kernel.Scale(at.prior[b]*at.prior[c], linear[:n*n])
			linear = linear[n*n:]
		}
	}
	linear[copy(linear, at.prior)] = at.noise
}

// pairs is the number of pairs of groups, each with itself among them.
func (p *dual) pairs() int { return len(p.groups) * (len(p.groups) + 1) / 2 }

// spread keeps the difference of the weights' means.
func (p *dual) spread(_ []float64, scale float64, difference []float64) {
	p.shares = append(p.shares, scale)
	p.differences = append(p.differences, difference[p.n+1:]...)
}

func (p *dual) integrated(mean, linear []float64, df float64) (credence.Posterior, bool) {
	u, size := p.own(), p.pairs()*p.n*p.n
	q := &posterior.DualSum{
		Mean: append([]float64(nil), mean[p.n+1:]...), PriorVariance: make([]float64, p.d), Pairs: append([]float64(nil), linear[:size]...),
		Shares: p.shares, Differences: p.differences, Scale: u.Scale, Centre: u.Means, Design: p.raw(nil), DF: df,
	}
	p.shares, p.differences = nil, nil
	for _, g := range p.groups {
		q.Blocks = append(q.Blocks, g.Count)
	}
	problem.Spread(q.PriorVariance, p.groups, func(k int) float64 { return linear[size+k] })
	u.Own(q.Mean)
	for k := range q.Shares {
		problem.Uncentre(p.means, q.Differences[k*p.d:(k+1)*p.d])
	}
	return q, true
}

// raw returns the columns, not centred, with rows times the roots, nil for ones.
func (p *dual) raw(roots []float64) credence.Design {
	out := credence.Design{Dense: linop.NewDense(p.n, p.dense), Sparse: p.design.Sparse.ScaleRows(roots)}
	copy(out.Dense.Data, p.design.Dense.Data)
	for i := range p.n {
		if p.intercept {
			kernel.Axpy(1, p.means[:p.dense], out.Dense.Row(i))
		}
		kernel.Scale(linop.At(roots, i), out.Dense.Row(i))
	}
	return out
}

func resize(x *[]float64, n int) {
	if cap(*x) < n {
		*x = make([]float64, n, n+hyper.ThreeNodeLimit) // with place for θ
	}
	*x = (*x)[:n]
}

// tooLarge never says so.
func (p *primal) tooLarge(int) string { return "" }

func (p *dual) tooLarge(hypers int) string {
	n, d := float64(p.n), float64(p.d)
	sums := 8 * sumsOfOneShape * float64(p.pairs()) * n * n
	switch {
	case sums > math.Max(dualAlways, 8*dualShare*(3*n*n+n*d)):
		return fmt.Sprintf("with fewer rows than weights, %d blocks would take %.0f MB; use fewer blocks, or more rows than weights", len(p.groups), sums/(1<<20))
	case hypers > hyper.ThreeNodeLimit:
		return fmt.Sprintf("there are %d of them and fewer rows than weights", hypers)
	}
	return ""
}
