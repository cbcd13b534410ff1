package svi

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/mixture"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// mostBeside is the largest number of weights beside the levels of a category whose covariances are kept, and mostCross of numbers
// of these with the levels.
const (
	mostBeside = 500
	mostCross  = 1 << 24
)

// ofLevels is the number of weights that belong to levels of keys.
func ofLevels(features credence.Features) (weights int) {
	if f, ok := features.(credence.Keyed); ok {
		for _, run := range f.LevelRuns() {
			weights += run.Levels * run.Columns
		}
	}
	return weights
}

// Levels returns the longest run of weights that exclude each other, as the levels of a category. Without any, or where the weights
// beside them are too many for covariance=levels, ok is false.
func Levels(features credence.Features) (first, count int, ok bool) {
	f, is := features.(credence.Keyed)
	if !is {
		return 0, 0, false
	}
	for _, run := range f.LevelRuns() {
		if run.Columns == 1 && run.Levels > count {
			first, count = run.First, run.Levels
		}
	}
	beside := features.Weights() - count
	return first, count, count > 0 && beside <= mostBeside && beside*features.Weights() <= mostCross
}

// levels is the precision of the weights that the rows have at the mean of a posterior of independent ones. With c the rows' curvature
// there, S the weights beside the levels and g a level,
//
//	V⁻¹ = [A, B; Bᵀ, D] + rrᵀ/v      A = Λ_S⁻¹ + Σ c φ_Sφ_Sᵀ,  B_g = Σ c φ_Sφ_g,  D_g = 1/λ_g + Σ c φ_g²
//
// where D is diagonal, and r = (1, x̄) has the intercept's prior at the means of the columns, of variance v. So V is D⁻¹, and
// WC⁻¹Wᵀ for W = (I; −D⁻¹Bᵀ) and C = A − BD⁻¹Bᵀ, less δδᵀ/(v + rᵀδ) for δ = (D⁻¹ + WC⁻¹Wᵀ) r (Woodbury).
type levels struct {
	*fit
	first, count int   // of the levels
	place        []int // of every weight among those beside, -1 for a level
	beside       []int
	a, b, d      []float64 // of the rows alone; b is that of level after level
	dense        int       // columns of the features

	prior   []float64 // variance of every weight, +Inf of the intercept
	inverse []float64 // C⁻¹
	own     []float64 // D⁻¹
	r       []float64 // nil without an intercept
	delta   []float64
	share   float64 // 1/(v + rᵀδ)
	release func()  // of the prior variances
}

// newLevels adds up the rows at x.
func (r *fit) newLevels(ctx context.Context, q *mixture.Bound, x []float64) (*levels, error) {
	l := &levels{fit: r}
	l.first, l.count, _ = Levels(r.Features)
	for j := range r.Dims {
		at := -1
		if j < l.first || j >= l.first+l.count {
			at = len(l.beside)
			l.beside = append(l.beside, j)
		}
		l.place = append(l.place, at)
	}
	size := len(l.beside)
	l.a, l.b, l.d = make([]float64, size*size), make([]float64, l.count*size), make([]float64, l.count)
	l.prior, l.inverse, l.own, l.delta = make([]float64, r.Dims), make([]float64, size*size), make([]float64, l.count), make([]float64, r.Dims)
	if in := r.Intercept; in != nil {
		l.r = append(l.r, in.Columns...)
		l.r[0]++
	}
	exclusive := true
	q.Begin(x)
	if err := q.EachCurvature(ctx, r.All(), x, func(b *problem.Block, curvature []float64) { exclusive = l.add(b, curvature) && exclusive }); err != nil {
		return nil, err
	}
	if !exclusive {
		return nil, fmt.Errorf("%s: a row has several levels of one category: leave covariance=levels out", r.Engine)
	}
	return l, nil
}

// add adds the rows of a block, and reports whether each has one level at most.
func (l *levels) add(b *problem.Block, curvature []float64) bool {
	size, exclusive := len(l.beside), true
	l.dense = b.Phi.Dense.Cols
	var places []int
	var values []float64
	for i, c := range curvature {
		level, of := -1, 0.0
		places, values = places[:0], values[:0]
		b.Phi.Each(i, func(j int, v float64) {
			if v == 0 {
				return
			}
			if at := l.place[j]; at >= 0 {
				places, values = append(places, at), append(values, v)
			} else {
				exclusive = exclusive && level < 0
				level, of = j-l.first, v
			}
		})
		for k, at := range places {
			row := l.a[at*size : (at+1)*size]
			for m, other := range places {
				row[other] += c * values[k] * values[m]
			}
			if level >= 0 {
				l.b[level*size+at] += c * values[k] * of
			}
		}
		if level >= 0 {
			l.d[level] += c * of * of
		}
	}
	return exclusive
}

// set places V under the prior variances of the groups.
func (l *levels) set(priors []float64) error {
	size, pool := len(l.beside), l.Workspace.Pool()
	base.Spread(l.prior, l.Groups, func(k int) float64 { return priors[k] })
	if l.r != nil {
		l.prior[0] = math.Inf(1)
	}
	schur := append([]float64{}, l.a...)
	for k, j := range l.beside {
		schur[k*size+k] += 1 / l.prior[j]
	}
	for g, d := range l.d {
		l.own[g] = 1 / (d + 1/l.prior[l.first+g])
		row := l.b[g*size : (g+1)*size]
		for k, v := range row {
			if v != 0 {
				kernel.Axpy(-v*l.own[g], row, schur[k*size:(k+1)*size])
			}
		}
	}
	if pivot, ok := pool.Cholesky(size, schur, max(1, size)); !ok {
		return fmt.Errorf("%s: the column of %s is lost to rounding beside the levels: two feature columns may be equal; state a smaller prior variance or drop one", l.Engine, base.WeightName(l.Features, l.beside[pivot]))
	}
	pool.CholeskyInverse(size, schur, max(1, size), l.inverse, max(1, size))
	if l.r != nil {
		l.share = 0
		l.solve(l.delta, l.r)
		l.share = 1 / (l.Intercept.Variance + kernel.Dot(l.r, l.delta))
	}
	return nil
}

// solve stores Vx in dst.
func (l *levels) solve(dst, x []float64) {
	size := len(l.beside)
	along := make([]float64, size) // Wᵀx
	for k, j := range l.beside {
		along[k] = x[j]
	}
	for g, own := range l.own {
		kernel.Axpy(-own*x[l.first+g], l.b[g*size:(g+1)*size], along)
	}
	off := 0.0
	if l.share > 0 {
		off = l.share * kernel.Dot(l.delta, x)
	}
	left := make([]float64, size)
	for k, j := range l.beside {
		left[k] = kernel.Dot(l.inverse[k*size:(k+1)*size], along)
		dst[j] = left[k]
	}
	for g, own := range l.own {
		dst[l.first+g] = own * (x[l.first+g] - kernel.Dot(l.b[g*size:(g+1)*size], left))
	}
	if off != 0 {
		kernel.Axpy(-off, l.delta, dst)
	}
}

// variances stores diag V.
func (l *levels) variances(dst []float64) {
	size := len(l.beside)
	for k, j := range l.beside {
		dst[j] = l.inverse[k*size+k]
	}
	left := make([]float64, size)
	for g, own := range l.own {
		row := l.b[g*size : (g+1)*size]
		for k := range left {
			left[k] = kernel.Dot(l.inverse[k*size:(k+1)*size], row)
		}
		dst[l.first+g] = own + own*own*kernel.Dot(row, left)
	}
	for j, v := range l.delta {
		dst[j] -= l.share * v * v
	}
}

// precise stores V⁻¹x.
func (l *levels) precise(dst, x []float64) {
	size := len(l.beside)
	some, product := make([]float64, size), make([]float64, size)
	for k, j := range l.beside {
		some[k] = x[j]
	}
	for k := range l.beside {
		product[k] = kernel.Dot(l.a[k*size:(k+1)*size], some)
	}
	for g := range l.own {
		row := l.b[g*size : (g+1)*size]
		kernel.Axpy(x[l.first+g], row, product)
		dst[l.first+g] = x[l.first+g]/l.own[g] + kernel.Dot(row, some)
	}
	for k, j := range l.beside {
		dst[j] = product[k] + x[j]/l.prior[j]
	}
	if l.r != nil {
		kernel.Axpy(kernel.Dot(l.r, x)/l.Intercept.Variance, l.r, dst)
	}
}

// Variances under which independent weights have been fitted are too small, for their own are. They are chosen anew with V in the place of
// these, by expectation maximisation under the normal likelihood that stands for the rows, until they move by less than
// sameVariance; independent weights are fitted anew under them where they are off by more than otherVariance, so often at most.
const (
	sameVariance, emSteps   = 1e-4, 200
	otherVariance, mostFits = 0.02, 20
)

// withLevels goes on from a fit of independent weights to the variances that go with V, which it returns with the variables. The variances
// are held until release.
func (r *fit) withLevels(ctx context.Context, q *mixture.Bound, start *problem.Start, options mixture.Options, state *mixture.State) (*levels, []float64, error) {
	free := *r.Problem
	free.Groups, free.References = slices.Clone(r.Groups), slices.Clone(r.References)
	x, priors := state.Best, slices.Clone(q.Prior)
	for fits := 0; ; fits++ {
		l, err := r.newLevels(ctx, q, x)
		if err != nil {
			return nil, nil, err
		}
		mean, _ := q.Component(x, 0)
		moved, err := l.relearn(&free, priors, mean)
		if err != nil {
			return nil, nil, err
		}
		for k := range r.Groups {
			if free.Groups[k].Learned {
				r.Groups[k].Learned, r.References[k] = false, problem.Reference{Wide: priors[k], Narrow: priors[k]}
			}
		}
		l.release = func() {
			copy(r.Groups, free.Groups)
			copy(r.References, free.References)
		}
		if moved < otherVariance || fits == mostFits {
			state.BestConverged = state.BestConverged && moved < otherVariance
			return l, x, nil
		}
		next := &mixture.State{X: x}
		options.Starts, options.Save = 1, nil
		if err := mixture.New(q, start, options).Run(ctx, next); err != nil {
			return nil, nil, err
		}
		state.Iterations, state.BestConverged = state.Iterations+next.Iterations, next.BestConverged
		x = next.Best
	}
}

// relearn moves the prior variances, of a problem in which they are learned, to where V has them, and returns by how much of a logarithm at most.
func (l *levels) relearn(free *problem.Problem, priors, mean []float64) (moved float64, err error) {
	if err := l.set(priors); err != nil {
		return 0, err
	}
	right, variance := make([]float64, l.Dims), make([]float64, l.Dims)
	mean = append([]float64{}, mean...)
	l.precise(right, mean)
	began, before := append([]float64{}, priors...), make([]float64, len(priors))
	for range emSteps {
		copy(before, priors)
		l.variances(variance)
		free.Fill(priors, func(k int) (sum float64, count int) {
			g := l.Groups[k]
			for j := g.First; j < g.End(); j++ {
				sum += mean[j]*mean[j] + variance[j]
			}
			return sum, g.Count
		})
		if err := l.set(priors); err != nil {
			return 0, err
		}
		l.solve(mean, right)
		if farthest(priors, before) < sameVariance {
			break
		}
	}
	return farthest(priors, began), nil
}

// farthest is the largest change of a logarithm.
func farthest(to, from []float64) (most float64) {
	for k, v := range to {
		most = math.Max(most, math.Abs(math.Log(v/from[k])))
	}
	return most
}

// posterior is N(mean, V).
func (l *levels) posterior(mean []float64) credence.Posterior {
	size := len(l.beside)
	q := &posterior.DualSum{Mean: append([]float64{}, mean...), PriorVariance: make([]float64, l.Dims), Blocks: []int{l.Dims}, Forms: posterior.Triangle(nil, size, l.inverse), Scale: 1}
	kernel.Scale(-1, q.Forms)
	lines := linop.NewDense(size, l.Dims) // Wᵀ
	for k, j := range l.beside {
		lines.Row(k)[j] = 1
	}
	for g, own := range l.own {
		q.PriorVariance[l.first+g] = own
		for k, v := range l.b[g*size : (g+1)*size] {
			lines.Row(k)[l.first+g] = -own * v
		}
	}
	q.Design = directions(lines, l.dense)
	if l.r != nil {
		q.Shares, q.Differences = []float64{-l.share}, append([]float64{}, l.delta...)
	}
	return q
}
