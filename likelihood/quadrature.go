package likelihood

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// Quadrature gives a family of your own the abilities that engines and
// predictions ask for, by integration. The family states its density, its
// derivatives in f, its mean and its variance; where it has a CDF, a Sample, a support
// or a check of targets they are used, and otherwise it is taken for continuous
// on the real line, its CDF being integrated from the density.
//
// Requirements: the density is smooth in f on a scale not much below 1, or below
// the standard deviation of f where that is smaller, and p(y|f) N(f) has a single
// peak, as it has for every log-concave family. Expectations of log p then have a
// relative error below 1e-10, and of p(y|f) likewise; a CDF that is integrated
// twice has 1e-7, for tails that are negligible beyond 40 standard deviations.
//
// An expectation costs 40 to 200 calls of Derivatives. Without a CDF of the family's own a predictive quantile costs
// milliseconds, and all scores of a row about a second, hundreds of times as much as with one: give it one.
type Quadrature struct {
	Likelihood Differentiable
}

// String returns the text form of the family, or its type.
func (l Quadrature) String() string {
	if s, ok := l.Likelihood.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("quadrature(%T)", l.Likelihood)
}

// Validate is that of the family, if it has one.
func (l Quadrature) Validate() error {
	if v, ok := l.Likelihood.(Validator); ok {
		return v.Validate()
	}
	return nil
}

// Name is that of the family, or its type.
func (l Quadrature) Name() string {
	if n, ok := l.Likelihood.(interface{ Name() string }); ok {
		return n.Name()
	}
	return fmt.Sprintf("%T", l.Likelihood)
}

// Describe is that of the family.
func (l Quadrature) Describe() (Link, TargetKind) { return Describe(l.Likelihood) }

// MarshalJSON writes the family.
func (l Quadrature) MarshalJSON() ([]byte, error) { return json.Marshal(l.Likelihood) }

// UnmarshalJSON reads a family of the type that l has.
func (l *Quadrature) UnmarshalJSON(data []byte) error {
	if l.Likelihood == nil {
		return fmt.Errorf("likelihood: quadrature of no family: name one, as in Quadrature{Likelihood: mine{}}")
	}
	family := reflect.New(reflect.TypeOf(l.Likelihood))
	err := json.Unmarshal(data, family.Interface())
	l.Likelihood = family.Elem().Interface().(Differentiable)
	return err
}

// LogDensity returns log p(y|f).
func (l Quadrature) LogDensity(y, f float64) float64 { return l.Likelihood.LogDensity(y, f) }

// Mean returns E[y|f].
func (l Quadrature) Mean(f float64) float64 { return l.Likelihood.Mean(f) }

// Variance returns Var[y|f].
func (l Quadrature) Variance(f float64) float64 { return l.Likelihood.Variance(f) }

// Derivatives returns log p(y|f) and its first two derivatives in f.
func (l Quadrature) Derivatives(y, f float64) (value, first, second float64) {
	return l.Likelihood.Derivatives(y, f)
}

// Discrete is that of the family; false if it does not say.
func (l Quadrature) Discrete() bool {
	s, ok := l.Likelihood.(Supported)
	return ok && s.Discrete()
}

// Support is that of the family; the real line if it does not say.
func (l Quadrature) Support() (lower, upper float64) {
	if s, ok := l.Likelihood.(Supported); ok {
		return s.Support()
	}
	return math.Inf(-1), math.Inf(1)
}

// CheckTarget is that of the family; otherwise it refuses what is not finite.
func (l Quadrature) CheckTarget(y float64) error {
	if s, ok := l.Likelihood.(Supported); ok {
		return s.CheckTarget(y)
	}
	return checkFinite(l.String(), y)
}

// CDF is that of the family, or a sum or an integral of its density.
func (l Quadrature) CDF(y, f float64) float64 {
	if c, ok := l.Likelihood.(Cumulative); ok {
		return c.CDF(y, f)
	}
	lower, upper := l.Support()
	switch {
	case y >= upper:
		return 1
	case y < lower:
		return 0
	}
	mean, sd := l.Mean(f), math.Sqrt(l.Variance(f))
	if l.Discrete() {
		sum := 0.0
		for k := math.Max(lower, math.Floor(mean-40*sd)-40); k <= math.Min(y, mean+40*sd+40); k++ {
			sum += math.Exp(l.LogDensity(k, f))
		}
		return math.Min(sum, 1)
	}
	var breaks [12]float64
	n := 0
	for _, z := range [...]float64{-40, -15, -8, -4, -2, -1, 0, 1, 2, 4, 8} {
		if b := math.Max(mean+z*sd, lower); b < y {
			breaks[n] = b
			n++
		}
	}
	breaks[n] = math.Min(y, mean+40*sd)
	p, _, _ := quad.Adaptive(func(t float64) (float64, float64, float64) {
		return math.Exp(l.LogDensity(t, f)), 0, 0
	}, breaks[:n+1], 1e-10)
	return math.Min(p, 1)
}

// search finds a quantile of the distribution with the given CDF and moments.
func (l Quadrature) search(cdf func(float64) float64, p, mean, variance float64) float64 {
	lower, upper := l.Support()
	sd := math.Sqrt(variance)
	start := mean + sd*roughQuantile(p)
	if l.Discrete() {
		return quad.Count(cdf, p, start, sd/4, lower, upper)
	}
	return quad.Quantile(cdf, p, start, sd/4, lower, upper)
}

// Sample is that of the family, or the quantile of a uniform draw.
func (l Quadrature) Sample(rng *rand.Rand, f float64) float64 {
	if s, ok := l.Likelihood.(Sampler); ok {
		return s.Sample(rng, f)
	}
	return l.quantile(rng.Float64(), f)
}

// quantile is that of y given f, as PredictiveQuantile is without variance. Where the family has no distribution
// function, one integral up to the mean does, to which Newton's steps add theirs, or one sum.
func (l Quadrature) quantile(p, f float64) float64 {
	mean, sd := l.Mean(f), math.Sqrt(l.Variance(f))
	if _, ok := l.Likelihood.(Cumulative); ok || !(sd > 0) || math.IsInf(sd, 1) {
		return l.PredictiveQuantile(p, f, 0)
	}
	density := func(y float64) float64 { return math.Exp(l.LogDensity(y, f)) }
	lowest, high := l.Support()
	low := lowest
	if l.Discrete() {
		k := math.Max(low, math.Floor(mean-40*sd)-40)
		for sum := density(k); sum < p && k < math.Min(high, mean+40*sd+40); sum += density(k) {
			k++
		}
		return k
	}
	y, below := mean, l.CDF(mean, f)
	for range 200 {
		switch {
		case below == p:
			return y
		case below < p:
			low = y
		default:
			high = y
		}
		// Outward the density falls, so that steps are short of the root; inward they may go beyond it.
		step := (p - below) / density(y)
		next := y + math.Max(-2*sd, math.Min(step, 2*sd))
		if !(low <= next && next <= high) {
			next = low + (high-low)/2
		}
		breaks := []float64{math.Min(y, next), math.Max(y, next)}
		between, _, _ := quad.Adaptive(func(t float64) (float64, float64, float64) { return density(t), 0, 0 }, breaks, 1e-10)
		below += math.Copysign(between, next-y)
		if y = next; math.Abs(step) <= 1e-8*math.Min(sd, y-lowest) { // the next would be about its square
			break
		}
	}
	return y
}

// ExpectedLogDensity is by quadrature.
func (l Quadrature) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	return expectedLogDensity(l, y, mean, variance)
}

// TiltedMoments is by quadrature.
func (l Quadrature) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	return tiltedMoments(l, y, mean, variance)
}

// PredictiveMean is by quadrature.
func (l Quadrature) PredictiveMean(mean, variance float64) float64 {
	m, _ := predictiveMoments(l, mean, variance)
	return m
}

// PredictiveVariance is by quadrature.
func (l Quadrature) PredictiveVariance(mean, variance float64) float64 {
	_, v := predictiveMoments(l, mean, variance)
	return v
}

// PredictiveCDF is by quadrature of the CDF.
func (l Quadrature) PredictiveCDF(y, mean, variance float64) float64 {
	if variance <= 0 {
		return l.CDF(y, mean)
	}
	sd := math.Sqrt(variance)
	p, _, _ := quad.Adaptive(func(z float64) (float64, float64, float64) {
		w := special.NormalDensity(z)
		return w * l.CDF(y, mean+sd*z), 0, 0
	}, []float64{-8.5, -4, -2, -1, 0, 1, 2, 4, 8.5}, 1e-8)
	return math.Min(p, 1)
}

// PredictiveQuantile is by search on PredictiveCDF.
func (l Quadrature) PredictiveQuantile(p, mean, variance float64) float64 {
	m, v := predictiveMoments(l, mean, variance)
	return l.search(func(y float64) float64 { return l.PredictiveCDF(y, mean, variance) }, p, m, v)
}

// ExpectedLogDensities is ExpectedLogDensity for every row.
func (l Quadrature) ExpectedLogDensities(value, dMean, dVariance, y, _, mean, variance []float64) {
	expectedBatch(l, value, dMean, dVariance, y, mean, variance)
}
