package svi

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// ascend maximises the evidence of the normal rows from a point, no logarithm of a
// hyper-parameter going farther than reach. nil means that it found no way up.
func (t *tuner) ascend(ctx context.Context, from *tuned, reach float64) (*tuned, error) {
	list := t.tunable.Hyper()
	groups, n := len(t.groupsOf), len(t.groupsOf)+len(t.hypers)
	x := make([]float64, n)
	cfg := lbfgs.Config{
		Lower: make([]float64, n), Upper: make([]float64, n), Curvature: make([]float64, n),
		MaxIterations: 10, Patience: 1, Tolerance: t.worth, MaxStep: 1,
		Known: from.pairs,
	}
	for i, k := range t.groupsOf {
		x[i] = math.Log(from.at.Prior[k])
		cfg.Lower[i] = math.Max(x[i]-priorStep, math.Log(t.references[k].bounded(0)))
		cfg.Upper[i] = math.Min(x[i]+priorStep, math.Log(t.references[k].bounded(math.Inf(1))))
		cfg.Curvature[i] = math.Min(10, float64(t.groups[k].count))/2 + 0.1
	}
	for l, i := range t.hypers {
		h := list[i]
		x[groups+l] = math.Log(h.Value)
		lower, upper := logBounds(h)
		cfg.Lower[groups+l] = math.Max(lower, x[groups+l]-reach)
		cfg.Upper[groups+l] = math.Min(upper, x[groups+l]+reach)
		cfg.Curvature[groups+l] = 5
	}
	at := &point{Mean: make([]float64, t.d), Prior: clone(from.at.Prior), Free: clone(from.at.Free), family: from.at.family, Sites: make([]float64, t.d*t.d)}
	var features credence.Features
	pull := make([]float64, len(list))
	values := make([]float64, len(list))
	for i, h := range list {
		values[i] = h.Value
	}
	objective := func(x, gradient []float64) (float64, error) {
		for i, k := range t.groupsOf {
			at.Prior[k] = math.Exp(x[i])
		}
		for l, i := range t.hypers {
			values[i] = math.Exp(x[groups+l])
		}
		features = t.tunable.WithHyper(slices.Clone(values))
		value, ok, err := t.evidence(ctx, features, at, pull)
		if err != nil || !ok {
			return math.NaN(), err
		}
		for i, k := range t.groupsOf {
			g := t.groups[k]
			sum := 0.0
			for j := g.first; j < g.first+g.count; j++ {
				sum += (at.psi[j]+at.Mean[j]*at.Mean[j])/at.Prior[k] - 1
			}
			gradient[i] = -sum / 2
		}
		for l, i := range t.hypers {
			gradient[groups+l] = -pull[i]
			if h := list[i]; h.PriorSD > 0 {
				z := (x[groups+l] - h.PriorMean) / h.PriorSD
				value -= z * z / 2
				gradient[groups+l] += z / h.PriorSD
			}
		}
		return -value, nil
	}
	last := make([]float64, n)
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		copy(last, x)
		return objective(x, gradient)
	}, cfg)
	if err != nil {
		return nil, err
	}
	if !finite(result.F) || result.Iterations == 0 {
		return nil, nil
	}
	if !slices.Equal(last, x) { // the last trial was not the best
		if _, err := objective(x, make([]float64, n)); err != nil {
			return nil, err
		}
	}
	return &tuned{features: features, at: at, pairs: result.Pairs, settled: result.Converged}, nil
}

// evidence is log Z at the given features and prior variances. It stores the
// posterior of the normal rows in at, and the gradients in all hyper-parameters in pull.
func (t *tuner) evidence(ctx context.Context, features credence.Features, at *point, pull []float64) (float64, bool, error) {
	d, pool := t.d, t.ws.Pool()
	t.table.retransform(features)
	clear(at.Sites)
	clear(t.h)
	first := 0
	for k := range t.table.blocks() {
		b, err := t.table.at(ctx, k)
		if err != nil {
			return 0, false, err
		}
		t.denseCols = b.phi.Dense.Cols
		t.addCurvature(at.Sites, b.phi, t.beta[first:first+b.rows])
		addTrans(pool, t.h, b.phi, t.b[first:first+b.rows])
		first += b.rows
	}
	liftCross(at.Sites, d, t.denseCols)
	logDet, ok := t.factorise(at.Sites, at.Prior)
	if !ok {
		return 0, false, nil
	}
	t.solve(at.Mean, t.h)
	value := (kernel.Dot(t.h, at.Mean) - logDet) / 2
	at.psi = grow(at.psi, d)
	t.diagonal(at.psi)
	pool.Syrk(d, d, 1, t.factor, d, 0, t.covary, d)
	kernel.Symmetrize(d, t.covary, d)
	clear(pull)
	tunable := features.(credence.Tunable)
	first = 0
	for k := range t.table.blocks() {
		b, err := t.table.at(ctx, k)
		if err != nil {
			return 0, false, err
		}
		t.slope(b, at, first)
		tunable.Pullback(t.ws, pull, b.batch, b.phi, t.slab)
		first += b.rows
	}
	return value, true, nil
}

// slope stores ∂log Z/∂Φ of a block's dense columns in t.slab.
func (t *tuner) slope(b *block, at *point, first int) {
	d, dense := t.d, b.phi.Dense.Cols
	t.slab = grow(t.slab, b.rows*dense)
	t.ws.Pool().Gemm(false, false, b.rows, dense, dense, 1, b.phi.Dense.Data, max(1, b.phi.Dense.Stride), t.covary, d, 0, t.slab, max(1, dense))
	inTasks(t.ws.Pool(), b.rows, func(from, to int) {
		for i := from; i < to; i++ {
			row := t.slab[i*dense : (i+1)*dense]
			if b.phi.Sparse.Cols > 0 {
				columns, entries := b.phi.Sparse.Row(i)
				for k, c := range columns {
					v := 1.0
					if entries != nil {
						v = entries[k]
					}
					kernel.Axpy(v, t.covary[(dense+int(c))*d:(dense+int(c))*d+dense], row)
				}
			}
			beta := t.beta[first+i]
			kernel.Scale(-beta, row)
			kernel.Axpy(t.b[first+i]-beta*rowDot(b.phi, i, at.Mean), at.Mean[:dense], row)
		}
	})
}
