package tune

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/internal/order"
)

// ascend maximises the evidence of the normal rows from a point, no logarithm of a hyper-parameter
// going farther than reach. nil means that it found no way up.
func (t *tuner) ascend(ctx context.Context, from *Result, reach float64) (*Result, error) {
	list := t.tunable.Hyper()
	groups, n := len(t.learned), len(t.learned)+len(t.hypers)
	x := make([]float64, n)
	cfg := lbfgs.Config{
		Lower: make([]float64, n), Upper: make([]float64, n), Curvature: make([]float64, n),
		MaxIterations: 10, Patience: 1, Tolerance: t.minGain, MaxStep: 1,
		Known: from.pairs,
	}
	for i, k := range t.learned {
		x[i] = math.Log(from.At.Prior[k])
		cfg.Lower[i], cfg.Upper[i] = t.References[k].LogBounds(x[i])
		cfg.Curvature[i] = math.Min(10, float64(t.CountOf(k)))/2 + 0.1
	}
	for l, i := range t.hypers {
		x[groups+l] = math.Log(list[i].Value)
		lower, upper := base.LogBounds(list[i])
		cfg.Lower[groups+l] = math.Max(lower, x[groups+l]-reach)
		cfg.Upper[groups+l] = math.Min(upper, x[groups+l]+reach)
		cfg.Curvature[groups+l] = 5
		if step := list[i].Step; step > 0 {
			cfg.Curvature[groups+l] /= step * step
		}
	}
	at := from.At.Clone()
	at.Sites = make([]float64, t.Layout.Len())
	var features credence.Features
	var err error
	if t.fixed, err = t.fix(ctx); err != nil {
		return nil, err
	}
	slopes, values := make([]float64, len(list)), base.HyperValues(t.tunable)
	objective := func(x, gradient []float64) (float64, error) {
		for i, k := range t.learned {
			at.Prior[k] = math.Exp(x[i])
		}
		for l, i := range t.hypers {
			values[i] = math.Exp(x[groups+l])
		}
		features = t.tunable.WithHyper(slices.Clone(values))
		value, ok, err := t.evidence(ctx, features, at, slopes)
		if err != nil || !ok {
			return math.NaN(), err
		}
		value += t.Priors.Density(at.Prior, at.Free)
		own, pull := t.PriorSlopes(at), t.Priors.Slopes(at.Prior)
		for i, k := range t.learned {
			gradient[i] = -own[k] - pull[k]
		}
		for l, i := range t.hypers {
			prior, slope := base.LogHyperPrior(list[i], x[groups+l])
			value += prior
			gradient[groups+l] = -slopes[i] - slope
		}
		return -value, nil
	}
	last, first := make([]float64, n), math.NaN()
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		copy(last, x)
		value, err := objective(x, gradient)
		if math.IsNaN(first) {
			first = value
		}
		return value, err
	}, cfg)
	if err != nil {
		return nil, err
	}
	if !problem.Finite(result.F) || result.Iterations == 0 {
		return nil, nil
	}
	if !slices.Equal(last, x) { // the last trial was not the best
		if _, err := objective(x, make([]float64, n)); err != nil {
			return nil, err
		}
	}
	if t.fixed != nil {
		t.rows.Retransform(features)
		t.FeaturesChanged()
	}
	return &Result{Features: features, At: at, pairs: result.Pairs, settled: result.Converged, promised: first - result.F}, nil
}

// evidence is log Z at the given features and prior variances. It stores the posterior of the normal
// rows in at, and the gradients in all hyper-parameters in slopes.
func (t *tuner) evidence(ctx context.Context, features credence.Features, at *newton.Point, slopes []float64) (float64, bool, error) {
	mean := make([]float64, t.Dims)
	clear(at.Sites)
	clear(t.h)
	if f := t.fixed; f != nil {
		f.at(base.HyperValues(features.(credence.Tunable)), at.Sites, t.h)
		value, ok := t.normal(at, mean)
		if ok {
			f.slope(slopes, mean, t.covary)
		}
		return value, ok, ctx.Err()
	}
	if err := t.add(ctx, features, at.Sites, t.h); err != nil {
		return 0, false, err
	}
	value, ok := t.normal(at, mean)
	if !ok {
		return 0, false, nil
	}
	clear(slopes)
	first := 0
	err := t.rows.Each(ctx, func(b *problem.Block) {
		t.slope(b, mean, first)
		features.(credence.Tunable).Pullback(t.Workspace, slopes, b.Batch, b.Phi, t.dPhi)
		first += b.Rows()
	})
	return value, err == nil, err
}

// slope stores ∂log Z/∂Φ of a block's dense columns in t.dPhi.
func (t *tuner) slope(b *problem.Block, mean []float64, first int) {
	d, dense, n := t.Dims, b.Phi.Dense.Cols, b.Rows()
	t.dPhi = order.Resized(t.dPhi, n*dense)
	if t.Pattern != nil {
		t.Pattern.TimesDense(t.Workspace, t.dPhi, 1, b.Phi, t.covary)
	} else {
		t.Workspace.Pool().Gemm(false, false, n, dense, dense, 1, b.Phi.Dense.Data, max(1, b.Phi.Dense.Stride), t.covary, d, 0, t.dPhi, max(1, dense))
	}
	t.Workspace.Each(n, func(i int) {
		row := t.dPhi[i*dense : (i+1)*dense]
		for c, v := range b.Phi.Sparse.Each(i) {
			if t.Pattern == nil {
				kernel.Axpy(v, t.covary[(dense+c)*d:(dense+c)*d+dense], row)
			}
		}
		beta := t.beta[first+i]
		kernel.Scale(-beta, row)
		kernel.Axpy(t.b[first+i]-beta*b.Phi.RowDot(i, mean), mean[:dense], row)
	})
}
