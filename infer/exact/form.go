package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// values are what the evidence is a function of, in the units of the rows.
type values struct {
	noise float64   // σ²
	prior []float64 // λ of each group, then the odds of correlations; see problem.Together
	// common is the square of the common scale of their priors under automatic relevance
	// determination, which the evidence does not see.
	common float64
}

// slopes are the derivatives of the log evidence in the logarithms of the values.
type slopes struct {
	noise float64
	prior []float64
	hyper []float64 // of the features; nil where they have none to learn
	// weights are the derivatives in the logarithms of the prior deviations of every weight; nil where they are not
	// wanted.
	weights []float64
}

// form is one way of computing evidence, its gradient and the posterior for some rows.
// It computes in the units of the rows; evidence is that of the target itself.
type form interface {
	// load reads the rows under the given features.
	load(ctx context.Context, features credence.Features) error
	base() *common
	// freeze says that the features stay until they are loaded again, so that what does not change with
	// the values may be kept.
	freeze(frozen bool)
	// evaluate returns the log evidence and stores its slopes, which take most of the time, unless
	// slope is nil. It is NaN where the matrix cannot be factored even with jitter.
	evaluate(ctx context.Context, at *values, slope *slopes) (float64, error)
	// bends returns the curvature of the evidence where there are formulas, and moments what is known of the weights,
	// where it was evaluated last with slopes but without those of the features.
	bends(at *values) *bend
	moments(at *values, dst *hyper.Point)
	// spread adds scale·δδᵀ to the covariance of the weights, δ a difference of means as moments has them.
	spread(linear []float64, scale float64, difference []float64)
	// tooLarge says why p hyper-parameters are too many to integrate over; "" if they are not.
	tooLarge(p int) string
	// integrated returns the posterior with such means and linear numbers. It reports whether the
	// covariance was positive definite.
	integrated(mean, linear []float64, df float64) (q credence.Posterior, ok bool)
	// posterior returns the posterior, by the target's own units, at the values of the last evaluate.
	posterior() credence.Posterior
}

// newForm chooses the smaller form.
func (e *Engine) newForm(r *unitRows, ws *credence.Workspace, tuned bool) form {
	c := e.common(r, ws, tuned)
	weights := &primal{common: c, rowSums: &Sums{segment: e.segment}}
	switch n := r.Count(); {
	case e.levels && (n >= e.rest || len(e.together) > 0 || e.crossed && n > e.most):
		return e.newLevels(weights)
	case n < c.d && !e.apart: // its n×n sums take one variance for a block
		return &dual{common: c}
	}
	return weights
}

func (e *Engine) common(r *unitRows, ws *credence.Workspace, tuned bool) common {
	return common{rows: r, ws: ws, groups: e.groups, intercept: e.intercept, d: e.model.Features.Weights(), tuned: tuned}
}

// common is what both forms have.
type common struct {
	rows      *unitRows // nil where sums are given
	ws        *credence.Workspace
	groups    []problem.Group
	intercept bool // weight 0 is one
	d         int
	tuned     bool // slopes in the features' hyper-parameters are wanted
	features  credence.Features
	deviation []float64       // by which the prior deviations of weights are multiplied; nil for ones
	summary   summary         // of the rows, by load
	squares   []float64       // Σ_n w φ_nj² for every weight, by load
	totals    []float64       // under an intercept, Σ_n w φ_nj, by load
	means     []float64       // under an intercept, what is taken off the columns, by load
	location  float64         // under an intercept, the mean of the targets, in units
	scales    *problem.Scales // in units, by measure
	phi       credence.Design
	jitter    float64 // that the last evaluate had to add to the diagonal, relative to its mean
	failed    error   // the failed factorisation of the last evaluate, nil if it succeeded
}

func (c *common) base() *common { return c }

// centre finds what the intercept takes off columns and targets, given the columns' sums.
func (c *common) centre(totals []float64) {
	c.totals, c.means, c.location = slices.Clone(totals), problem.Means(c.groups, totals, c.summary.precise), c.summary.sum/c.summary.precise
}

// own takes weights to the target's own units.
func (c *common) own() *problem.Units {
	u := c.summary.units
	out := &problem.Units{Scale: u.Scale}
	if c.intercept {
		out.Centre, out.Means = u.Centre+u.Scale*c.location, c.means
	}
	return out
}

// factored takes what came of setting a form's matrix, and reports whether it has a factor.
func (c *common) factored(err error, jitter float64) bool {
	c.jitter, c.failed = jitter, nil
	var repeated *gauss.Repeated
	if errors.As(err, &repeated) {
		c.failed = fmt.Errorf("exact: %s", repeated.Of(func(j int) string { return problem.WeightName(c.features, j) }))
	}
	return err == nil
}

// What the two forms tell about the weights given θ, where they were evaluated last with slopes but
// without those of the features, and what they make of it on average. Weights are those of centred
// columns and all numbers in units.
//
// In the d×d form the linear numbers are the covariance C, d×d, and σ². The variances are those of
// the weights, and of y in a mean row, of a mean precision, which tells the tails of predictions.
//
// In the n×n form weights are many, and f of the rows stands for them in the variances. The linear
// numbers are the forms of [posterior.DualSum], then the λ of all groups and σ²; the further means
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
	factor, ok := gauss.Repair(p.ws.Pool(), p.d, linear)
	return p.ownUnits(mean, factor, df), ok
}

func (p *dual) moments(at *values, dst *hyper.Point) {
	n, forms := p.n, p.forms()
	resize(&dst.Mean, n+1+p.d)
	resize(&dst.Variance, n+1)
	resize(&dst.Linear, forms+len(p.groups)+1)
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
	for b, g := range p.groups {
		kernel.Scale(at.prior[b], weights[g.First:g.End()])
	}
	linear := p.setForms(at, dst.Linear)
	linear[copy(linear, at.prior)] = at.noise
}

// setForms stores the forms at these values, and returns what is behind them.
func (p *dual) setForms(at *values, dst []float64) []float64 {
	n := p.n
	sides := make([]side, len(p.groups)) // of K⁻¹, which a large group sees whole
	for b, g := range p.groups {
		if sides[b] = (side{count: n, half: p.inverse}); g.Count < n {
			sides[b] = p.side(g)
		}
	}
	for b, left := range sides {
		for c := b; c < len(sides); c++ {
			right := sides[c]
			form := right.half // n×count: K⁻¹Z_c, K⁻¹Z_b turned, or Z_bᵀK⁻¹Z_c
			switch {
			case left.columns != nil && right.columns != nil:
				form = make([]float64, left.count*right.count)
				p.ws.Pool().Gemm(true, false, left.count, right.count, n, 1, left.columns, left.count, right.half, right.count, 0, form, right.count)
			case left.columns != nil:
				form = make([]float64, left.count*n)
				for i := range n {
					for j := range left.count {
						form[j*n+i] = left.half[i*left.count+j]
					}
				}
			}
			stored := dst[:0]
			if b == c {
				stored = posterior.Triangle(stored, left.count, form)
			} else {
				stored = append(stored, form...)
			}
			kernel.Scale(at.prior[b]*at.prior[c], stored)
			dst = dst[len(stored):]
		}
	}
	return dst
}

// side is what stands on one side of K⁻¹ in forms.
type side struct {
	count   int
	columns []float64 // Z, n×count; nil for the identity
	half    []float64 // K⁻¹Z
}

// side is that of a group of fewer weights than rows.
func (p *dual) side(g problem.Group) side {
	n := p.n
	s := side{g.Count, make([]float64, n*g.Count), make([]float64, n*g.Count)}
	for j := range g.Count {
		if at := g.First + j; at < p.dense {
			for i := range n {
				s.columns[i*g.Count+j] = p.design.Dense.Row(i)[at]
			}
		} else {
			for i, v := range p.columns.Each(at - p.dense) {
				s.columns[i*g.Count+j] = v
			}
			for i := 0; p.intercept && i < n; i++ {
				s.columns[i*g.Count+j] -= p.means[at]
			}
		}
	}
	p.ws.Pool().Gemm(false, false, n, g.Count, n, 1, p.inverse, n, s.columns, g.Count, 0, s.half, g.Count)
	return s
}

// forms is the number of elements of all forms.
func (p *dual) forms() int { return posterior.Forms(p.n, p.blocks()) }

// blocks holds the number of weights of every group.
func (p *dual) blocks() (counts []int) {
	for _, g := range p.groups {
		counts = append(counts, g.Count)
	}
	return counts
}

// spread keeps the difference of the weights' means.
func (p *dual) spread(_ []float64, scale float64, difference []float64) {
	p.shares = append(p.shares, scale)
	p.differences = append(p.differences, difference[p.n+1:]...)
}

func (p *dual) integrated(mean, linear []float64, df float64) (credence.Posterior, bool) {
	u, size := p.own(), p.forms()
	q := &posterior.DualSum{
		Mean: append([]float64(nil), mean[p.n+1:]...), PriorVariance: make([]float64, p.d), Forms: append([]float64(nil), linear[:size]...),
		Shares: p.shares, Differences: p.differences, Scale: u.Scale, Centre: u.Means, Design: p.raw(nil), Blocks: p.blocks(), DF: df,
	}
	p.shares, p.differences = nil, nil
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
	sums := 8 * sumsOfOneShape * float64(p.forms())
	switch {
	case sums > math.Max(dualAlways, 8*dualShare*(3*n*n+n*d)):
		return fmt.Sprintf("with fewer rows than weights, %d blocks would take %.0f MB; use fewer blocks, or more rows than weights", len(p.groups), sums/(1<<20))
	case hypers > hyper.ThreeNodeLimit:
		return fmt.Sprintf("there are %d of them and fewer rows than weights", hypers)
	}
	return ""
}
