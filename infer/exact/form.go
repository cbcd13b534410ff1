package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
)

// values are what the evidence is a function of, in the units of the rows.
type values struct {
	noise float64   // σ²
	prior []float64 // λ of each group
	// common is the square of the common scale of their priors under automatic relevance
	// determination, which the evidence does not see.
	common float64
}

// slopes are the derivatives of the log evidence in the logarithms of the values.
type slopes struct {
	noise float64
	prior []float64
	hyper []float64 // of the features; nil where they have none to learn
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
	// bends returns the curvature of the evidence, and moments what is known of the weights, where it was
	// evaluated last with slopes but without those of the features.
	bends(ctx context.Context, at *values) (*bend, error)
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
	if c := e.common(r, ws, tuned); r.Count() < c.d {
		return &dual{common: c}
	} else {
		return &primal{common: c, rowSums: &Sums{segment: e.segment}}
	}
}

func (e *Engine) common(r *unitRows, ws *credence.Workspace, tuned bool) common {
	return common{rows: r, ws: ws, pool: ws.Pool(), groups: e.groups, intercept: e.intercept, d: e.model.Features.Weights(), tuned: tuned}
}

// common is what both forms have.
type common struct {
	rows      *unitRows // nil where sums are given
	ws        *credence.Workspace
	pool      *kernel.Pool
	groups    []problem.Group
	intercept bool // weight 0 is one
	d         int
	tuned     bool // slopes in the features' hyper-parameters are wanted
	features  credence.Features
	summary   summary   // of the rows, by load
	squares   []float64 // Σ_n w φ_nj² for every weight, by load
	means     []float64 // under an intercept, what is taken off the columns, by load
	location  float64   // under an intercept, the mean of the targets, in units
	spreads   []float64 // c_b of every group, by measure
	phi       credence.Design
	jitter    float64 // that the last evaluate had to add to the diagonal, relative to its mean
	failed    error   // the failed factorisation of the last evaluate, nil if it succeeded
}

func (c *common) base() *common { return c }

// centre finds what the intercept takes off columns and targets, given the columns' sums.
func (c *common) centre(totals []float64) {
	c.means, c.location = problem.Means(c.groups, totals, c.summary.precise), c.summary.sum/c.summary.precise
}

// check refuses rows whose sums no evidence can be computed from.
func (c *common) check() error {
	if !(c.summary.weight > 0) {
		return fmt.Errorf("exact: the rows' weights add up to %v: at least one must be positive", c.summary.weight)
	}
	for j, v := range c.squares {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("exact: the squares of feature column %s add up to %v: scale the column, or look for values that are no numbers",
				problem.WeightName(c.features, j), v)
		}
	}
	return nil
}

// jitters are tried one after the other on a matrix that is not numerically positive
// definite, relative to its mean diagonal.
var jitters = [...]float64{0, 1e-12, 1e-10, 1e-8, 1e-6}

// factorise fills a with fill and factors it in place, adding as little jitter as
// is needed; it returns the failing pivot, or -1.
func (c *common) factorise(n int, a []float64, fill func()) int {
	pivot := -1
	for _, jitter := range jitters {
		fill()
		c.jitter = jitter
		if jitter > 0 {
			mean := 0.0
			for i := range n {
				mean += a[i*n+i] / float64(n)
			}
			for i := range n {
				a[i*n+i] += jitter * mean
			}
		}
		var ok bool
		if pivot, ok = c.pool.Cholesky(n, a, max(1, n)); ok {
			return -1
		}
	}
	return pivot
}

// logDeterminant returns log|UᵀU|.
func logDeterminant(n int, u []float64) float64 {
	sum := 0.0
	for i := range n {
		sum += math.Log(u[i*n+i])
	}
	return 2 * sum
}
