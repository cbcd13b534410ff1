package ep

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
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
