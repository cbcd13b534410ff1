package ep

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/likelihood"
)

// rowFactors is what differs between targets.
type rowFactors interface {
	// setRows makes the rows' sites what they are at the learned values.
	setRows(f *fit)
	// sweep moves the rows' sites a part of the way, and returns the largest change of a mean of f in
	// standard deviations.
	sweep(f *fit, step float64) float64
	// normalisers is what the rows' true factors have over their sites, in the log evidence.
	normalisers(f *fit) float64
}

// gaussian rows are their own sites.
type gaussian struct{}

func (g gaussian) sweep(f *fit, _ float64) float64 { g.setRows(f); return 0 }

func (g gaussian) setRows(f *fit) {
	precision := math.Exp(-2 * f.logNoise)
	for i, y := range f.Setting.Target {
		f.rows[i] = site{precision, precision * y}
	}
}

func (g gaussian) normalisers(f *fit) float64 {
	sum, precision := 0.0, math.Exp(-2*f.logNoise)
	for _, y := range f.Setting.Target {
		sum -= precision * y * y / 2
	}
	return sum + f.Units.Jacobian - f.Total*(math.Log(2*math.Pi)/2+f.logNoise)
}

// classes are 0 and 1. A row of weight v is v copies with a site each.
type classes struct {
	likelihood.Bernoulli
	copies []site // of one copy, in terms of f
}

// firstPrecision is that of a row's site before the first sweep: next to nothing.
const firstPrecision = 1e-3

func newClasses(l likelihood.Bernoulli, n int) *classes {
	return &classes{l, slices.Repeat([]site{{precision: firstPrecision}}, n)}
}

func (c *classes) setRows(f *fit) {
	for i, s := range c.copies {
		f.rows[i] = site{s.precision, s.shift * f.Unit()[i]}
	}
}

// cavity is that of one copy of row i, in terms of f with its offset.
func (c *classes) cavity(f *fit, i int) (mean, variance float64, ok bool) {
	unit := f.Unit()[i]
	if unit == 0 {
		return 0, 0, false
	}
	mean, variance, ok = c.copies[i].cavity(f.q.rowMean[i]/unit, f.q.rowVariance[i]/unit/unit)
	return mean + f.OffsetOf(i), variance, ok
}

func (c *classes) sweep(f *fit, step float64) (far float64) {
	for i := range c.copies {
		mean, variance, ok := c.cavity(f, i)
		if !ok {
			continue
		}
		_, slope, bend := c.TiltedMoments(f.Setting.Target[i], mean, variance)
		second := 2*bend - slope*slope // ∂²log Z/∂mean²
		tilted := variance * (1 + variance*second)
		if !(tilted > 0 && second <= 0) {
			continue
		}
		target := mean - f.OffsetOf(i) + variance*slope
		next, _ := matching(mean-f.OffsetOf(i), variance, target, tilted, firstPrecision*firstPrecision)
		far = math.Max(far, math.Abs(next.shift-c.copies[i].shift)*math.Sqrt(tilted))
		c.copies[i].toward(next, step)
	}
	c.setRows(f)
	return far
}

func (c *classes) normalisers(f *fit) float64 {
	sum := 0.0
	for i := range c.copies {
		mean, variance, ok := c.cavity(f, i)
		if !ok {
			continue
		}
		logZ, _, _ := c.TiltedMoments(f.Setting.Target[i], mean, variance)
		w := f.Unit()[i] * f.Unit()[i]
		sum += w * (logZ - c.copies[i].logIntegral(mean-f.OffsetOf(i), variance))
	}
	return sum
}
