package ep

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// slab is the prior of the candidates at one value of what is learned.
type slab struct {
	logOdds  float64 // logit π
	variance float64 // r₁
}

// tilted is a cavity times the prior of a weight.
type tilted struct {
	inclusion      float64 // α, the probability of the slab
	mean, variance float64 // of the weight, the chance of 0 included
	slabSquare     float64 // E w² in the slab
}

// factor is log N(m|0, v + r₁) − log N(m|0, v), without the cancellation of two large squares.
func (s slab) factor(m, v float64) float64 {
	total := v + s.variance
	return math.Log(v/total)/2 + m*m*(s.variance/total)/v/2
}

// moments are those of the cavity N(m, v) times the prior, for the probability of the slab given all.
func (s slab) moments(m, v, inclusion float64) tilted {
	ratio := s.variance / (v + s.variance)
	return tiltedOf(inclusion, m*ratio, v*ratio)
}

// tiltedOf has a slab with that mean and variance, and a spike at 0.
func tiltedOf(inclusion, mean, variance float64) tilted {
	return tilted{
		inclusion: inclusion, mean: inclusion * mean, slabSquare: mean*mean + variance,
		variance: inclusion*variance + inclusion*(1-inclusion)*mean*mean,
	}
}

// logSum is log(π e^x + 1 − π).
func (s slab) logSum(x float64) float64 {
	return special.LogAddExp(special.LogSigmoid(s.logOdds)+x, special.LogSigmoid(-s.logOdds))
}

// site is exp(shift·x − ½ precision·x²).
type site struct{ precision, shift float64 }

// logSize is the logarithm of the site's integral.
func (s site) logSize() float64 {
	return (math.Log(2*math.Pi/s.precision) + s.shift*s.shift/s.precision) / 2
}

// logIntegral is the logarithm of the integral of the site under N(m, v).
func (s site) logIntegral(m, v float64) float64 {
	natural := m/v + s.shift
	return -math.Log1p(s.precision*v)/2 + (natural*natural/(1/v+s.precision)-m*m/v)/2
}

// cavity removes the site from N(mean, variance). ok is false where what is left is no distribution.
func (s site) cavity(mean, variance float64) (m, v float64, ok bool) {
	precision := 1/variance - s.precision
	if !(precision > 1e-12*s.precision) {
		return 0, 0, false
	}
	v = 1 / precision
	return v * (mean/variance - s.shift), v, true
}

// matching is the site that takes the cavity N(m, v) to a mean and a variance. A precision below the
// least is raised to it, and the site keeps the mean.
func matching(m, v, mean, variance, least float64) (s site, raised bool) {
	s.precision = 1/variance - 1/v
	if !(s.precision >= least) {
		return site{least, mean*(1/v+least) - m/v}, true
	}
	s.shift = mean/variance - m/v
	return s, false
}

// toward moves the site a part of the way to another.
func (s *site) toward(o site, step float64) {
	s.precision += step * (o.precision - s.precision)
	s.shift += step * (o.shift - s.shift)
}

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
