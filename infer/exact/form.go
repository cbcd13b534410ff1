package exact

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
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
	// bends returns the curvature of the evidence where there are formulas, and moments what is known of the weights, where it was
	// evaluated last with slopes but without those of the features.
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
