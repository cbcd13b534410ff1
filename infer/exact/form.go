package exact

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/kernel"
)

// values are what the evidence is a function of, in the units of the rows.
type values struct {
	noise float64   // σ²
	prior []float64 // λ of each group
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
	// sums returns the sums that load took over the rows, and inUnits their units.
	sums() *summary
	inUnits() Units
	// squares returns Σ_n w φ_nj² for every weight, in memory that the next load overwrites.
	squares() []float64
	// totals stores Σ_n w φ_nj for every weight, where there is an intercept.
	totals(dst []float64)
	// evaluate returns the log evidence and stores its slopes, which take most of the time, unless
	// slope is nil. It is NaN where the matrix cannot be factored even with jitter.
	evaluate(ctx context.Context, at *values, slope *slopes) (float64, error)
	// posterior returns the posterior, by the target's own units, at the values of the last evaluate.
	posterior() credence.Posterior
	// failure describes the failed factorisation of the last evaluate, nil if it succeeded.
	failure() error
	// jitter is what the last evaluate had to add to the diagonal, relative to its mean.
	jitter() float64
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
	c := common{rows: r, ws: ws, pool: ws.Pool(), groups: e.groups, intercept: -1, d: e.model.Features.Weights(), tuned: tuned}
	if k, ok := e.intercept(); ok {
		c.intercept = e.groups[k].First
	}
	return c
}

// common is what both forms have.
type common struct {
	rows      *unitRows // nil where sums are given
	ws        *credence.Workspace
	pool      *kernel.Pool
	groups    []blocks.Group
	intercept int // weight of the intercept, or -1
	d         int
	tuned     bool // slopes in the features' hyper-parameters are wanted
	features  credence.Features
	summary   summary
	phi       credence.Design
	shake     float64
	failed    error
}

func (c *common) sums() *summary  { return &c.summary }
func (c *common) inUnits() Units  { return c.summary.units }
func (c *common) failure() error  { return c.failed }
func (c *common) jitter() float64 { return c.shake }

// deviations stores √λ of every weight in dst.
func (c *common) deviations(dst []float64, at *values) {
	for k, g := range c.groups {
		s := math.Sqrt(at.prior[k])
		for j := g.First; j < g.First+g.Count; j++ {
			dst[j] = s
		}
	}
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
		c.shake = jitter
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
