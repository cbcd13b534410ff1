package newton

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/credence-ml/credence/ability"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// Quadrature is what the bound misses because the weights of levels that have few rows are not normal. With u_g the
// weight of a level, r all others, and q(u_g | r) normal, the bound is short of the log evidence by
//
//	KL(q(r) ‖ p(r | y)) + Σ_g E_q(r) KL(q(u_g | r) ‖ p(u_g | r, y))
//
// of which the second is, at the mean r̂ of q(r), Σ_g log ∫ p(y_g | u, r̂) p(u) du less the bound on that: both are
// taken by adaptive Gauss–Hermite quadrature about q(u_g | r̂) (Liu & Pierce 1994, "A note on Gauss–Hermite
// quadrature"). With it the bound is one still, but for r̂ in the place of all r. It is of one key: of levels within
// levels the outer ones share their rows with the inner, and what each key misses if the others are known, added up,
// is more than all miss.
type Quadrature struct {
	n       *Newton
	rows    *problem.Rows
	run     ability.LevelRun
	group   int
	spreads []float64 // standard deviation of q(u_g | r̂)
	sums    []float64 // levels × nodes: log p(y_g | u, r̂)
	logs    []float64 // rows of a block × nodes
}

// fewRows is the weight of the rows of a level, in the median of those that have any, up to which a normal law of it is
// not good enough.
const fewRows = 10

// fifteen are the nodes from 0 on and the weights of the Gauss–Hermite rule of 15 nodes; a test derives it anew.
var fifteen = [8]struct{ z, weight float64 }{
	{0, 0.31825951825951815},
	{0.799129068324548, 0.23246229360973225},
	{1.6067100690287297, 0.08941779539984437},
	{2.432436827009758, 0.017365774492137616},
	{3.2890824243987664, 0.001567357503549956},
	{4.1962077112690155, 5.642146405189029e-05},
	{5.190093591304781, 5.975419597920599e-07},
	{6.363947888829839, 8.589649899633252e-10},
}

const nodes = 2*len(fifteen) - 1

// nodeAt returns a node and its weight.
func nodeAt(k int) (z, weight float64) {
	at := fifteen[(k+1)/2]
	if k%2 == 1 {
		return -at.z, at.weight
	}
	return at.z, at.weight
}

// Quadrature returns that of a problem, of the key with the most levels; nil where these have not one weight each, with
// a prior of their own, or have many rows, and for a gaussian family, of which all is normal.
func (n *Newton) Quadrature(ctx context.Context, rows *problem.Rows, f *problem.Family) (*Quadrature, error) {
	head := arrow.Head(n.Features)
	if _, gaussian := f.Likelihood.(likelihood.Gaussian); gaussian || len(head) != 1 || head[0].Columns > 1 {
		return nil, nil
	}
	q := &Quadrature{n: n, rows: rows, run: head[0]}
	q.group = slices.IndexFunc(n.Groups, func(g base.Group) bool { return g.First == q.run.First && g.Count == q.run.Levels })
	if q.group < 0 {
		return nil, nil
	}
	weights := make([]float64, q.run.Levels)
	err := rows.Each(ctx, func(b *problem.Block) {
		for i := range b.Rows() {
			if g, _ := q.level(b, i); g >= 0 {
				weights[g] += b.WeightOf(i)
			}
		}
	})
	slices.Sort(weights)
	weights = weights[sort.SearchFloat64s(weights, math.SmallestNonzeroFloat64):]
	if err != nil || len(weights) == 0 || weights[len(weights)/2] > fewRows {
		return nil, err
	}
	q.spreads, q.sums = make([]float64, q.run.Levels), make([]float64, q.run.Levels*nodes)
	return q, nil
}

// level returns that of a row and the number that its weight is multiplied by; −1 without a level, or where that
// number is 0.
func (q *Quadrature) level(b *problem.Block, i int) (level int, z float64) {
	if dense := b.Phi.Dense.Cols; q.run.First < dense {
		row := b.Phi.Dense.Row(i)[q.run.First : q.run.First+q.run.Levels]
		level = slices.IndexFunc(row, func(v float64) bool { return v != 0 })
		return level, row[max(0, level)]
	}
	columns, values := b.Phi.Sparse.Row(i)
	for k, c := range columns {
		if g := int(c) + b.Phi.Dense.Cols - q.run.First; g >= 0 && g < q.run.Levels {
			return g, linop.At(values, k)
		}
	}
	return -1, 0
}

// Missed returns what the bound misses at a point that was placed.
func (q *Quadrature) Missed(ctx context.Context, at *Point) (float64, error) {
	q.spread(at)
	clear(q.sums)
	w := make([]float64, q.n.Dims)
	q.n.Intercept.Weights(w, at.Mean)
	var means []float64
	if err := q.rows.Each(ctx, func(b *problem.Block) {
		means = order.Resized(means, b.Rows())
		b.Means(q.n.Workspace, means, w)
		q.add(b, at.Family.Likelihood, means)
	}); err != nil {
		return 0, err
	}
	return q.missed(at), nil
}

// spread takes the standard deviations of q(u_g | r), by the precision 1/λ + H_gg. Where the columns of levels stand
// about their means, it is of H about 0; the prior of the intercept, which then is that of the sum with the weights of
// levels by those means, is so wide that levels are still taken for independent.
func (q *Quadrature) spread(at *Point) {
	n := q.n
	diagonal := make([]float64, n.Dims)
	n.Layout.Diagonal(diagonal, at.Sites)
	for g := range q.spreads {
		j := q.run.First + g
		h := diagonal[j]
		if _, dense := n.Layout.(gauss.Dense); dense && n.Intercept != nil {
			mean := n.Intercept.Columns[j]
			h += mean * (2*at.Sites[j] + mean*diagonal[0])
		}
		q.spreads[g] = 1 / math.Sqrt(1/at.Prior[q.group]+h)
	}
}

// add adds the log densities of the rows of a block at the nodes, of which f has these means.
func (q *Quadrature) add(b *problem.Block, family problem.Likelihood, means []float64) {
	rows := b.Rows()
	q.logs = order.Resized(q.logs, rows*nodes)
	of := func(i int) []float64 { return q.logs[i*nodes : (i+1)*nodes] }
	q.n.Workspace.Each(rows, func(i int) {
		g, by := q.level(b, i)
		if g < 0 || b.WeightOf(i) == 0 {
			return
		}
		logs := of(i)
		for k := range logs {
			z, _ := nodeAt(k)
			logs[k] = means[i] + by*q.spreads[g]*z
		}
		likelihood.LogDensities(b.LikelihoodOf(family, i), logs, b.Target[i], logs)
	})
	for i := range rows { // in their order
		if g, _ := q.level(b, i); g >= 0 && b.WeightOf(i) != 0 {
			for k, v := range of(i) {
				q.sums[g*nodes+k] += b.WeightOf(i) * v
			}
		}
	}
}

// missed is Σ_g log ∫ p(y_g | u, r̂) p(u) du less the bound on it, with the normal density of q in both:
//
//	log E_q exp(l)  −  E_q l      l = log p(y_g | u, r̂) p(u) / q(u | r̂)
func (q *Quadrature) missed(at *Point) (total float64) {
	for g, sd := range q.spreads {
		logs, mean, most := q.sums[g*nodes:(g+1)*nodes], 0.0, math.Inf(-1)
		for k := range logs {
			z, weight := nodeAt(k)
			u := at.Mean[q.run.First+g] + sd*z
			logs[k] += (z*z - u*u/at.Prior[q.group]) / 2
			mean += weight * logs[k]
			most = math.Max(most, logs[k])
		}
		sum := 0.0
		for k, v := range logs {
			_, weight := nodeAt(k)
			sum += weight * math.Exp(v-most)
		}
		total += most + math.Log(sum) - mean
	}
	return total
}
