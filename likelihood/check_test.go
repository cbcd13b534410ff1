package likelihood_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/likelihood"
)

// fullLikelihood is a family with every ability but parameters.
type fullLikelihood interface {
	likelihood.Differentiable
	likelihood.Supported
	likelihood.Cumulative
	likelihood.Sampler
	likelihood.Expected
	likelihood.Tilted
	likelihood.Predictive
	likelihood.Batch
}

// conformance says how a family is to be tested.
type conformance struct {
	// Targets are values of y in the support, ordinary and extreme.
	Targets []float64
	// Resolution is the step of the brute-force sums over f; 0 means 0.05,
	// which suits densities that are analytic within 2 of the real axis.
	Resolution float64
	// Quick checks predictions under a few distributions of f only and draws
	// little, for families whose CDF is itself an integral.
	Quick bool
	// Loose multiplies the tolerance of everything that involves a CDF; 0 means 1.
	Loose float64
}

func (c conformance) loose() float64 { return math.Max(1, c.Loose) }

// checkFamily checks every ability of a family against sums, brute-force
// integration, central differences and draws.
func checkFamily(t *testing.T, lik fullLikelihood, c conformance) {
	t.Helper()
	if c.Resolution == 0 {
		c.Resolution = 0.05
	}
	t.Run("Derivatives", func(t *testing.T) { likelihoodDerivatives(t, lik, c) })
	t.Run("Tails", func(t *testing.T) { likelihoodTails(t, lik, c) })
	t.Run("Moments", func(t *testing.T) { likelihoodMoments(t, lik) })
	t.Run("CDF", func(t *testing.T) { likelihoodCDF(t, lik, c) })
	t.Run("Quantile", func(t *testing.T) { likelihoodQuantile(t, lik, c) })
	t.Run("Sample", func(t *testing.T) { likelihoodSample(t, lik, c) })
	t.Run("Expected", func(t *testing.T) { likelihoodExpected(t, lik, c) })
	t.Run("Tilted", func(t *testing.T) { likelihoodTilted(t, lik, c) })
	t.Run("Predictive", func(t *testing.T) { likelihoodPredictive(t, lik, c) })
	t.Run("Batch", func(t *testing.T) { likelihoodBatch(t, lik, c) })
	t.Run("Targets", func(t *testing.T) { likelihoodTargets(t, lik, c) })
	if p, ok := lik.(likelihood.Parametric); ok {
		t.Run("Parameters", func(t *testing.T) { likelihoodParameters(t, p, c) })
		if _, ok := lik.(likelihood.Dispersed); ok {
			t.Run("Precision", func(t *testing.T) { likelihoodPrecision(t, p, c) })
		}
	}
}

// near fails unless got is want up to tolerance times 1 + |want|.
func near(t *testing.T, got, want, tolerance float64, format string, args ...any) {
	t.Helper()
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return
	}
	if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
		t.Errorf(format+": got %.15g, want %.15g (off by %.2g, tolerance %.2g)",
			append(args, got, want, got-want, tolerance*(1+math.Abs(want)))...)
	}
}

// latents are the values of f at which conditional distributions are checked.
var latents = []float64{-3, -0.8, 0, 0.4, 2.3}

// spreads are the distributions of f under which expectations are checked.
var spreads = [][2]float64{
	{0, 0}, {1.3, 1e-8}, {-2, 1e-3}, {0.3, 0.2}, {-1, 1}, {2, 4}, {0, 25}, {-10, 25}, {10, 9}, {-40, 25}, {40, 25}, {40, 0.5}, {-40, 1e-3},
}

func likelihoodDerivatives(t *testing.T, lik fullLikelihood, c conformance) {
	for _, y := range c.Targets {
		for f := -12.0; f <= 12; f += 0.73 {
			value, first, second := lik.Derivatives(y, f)
			near(t, value, lik.LogDensity(y, f), 1e-12, "value at y=%g f=%g", y, f)
			// Five-point differences: the error is of the order of step⁴ times the
			// fifth derivative, plus the rounding of the values over the step.
			step := math.Min(2e-3, c.Resolution/10)
			size := math.Abs(value) + math.Abs(first) + math.Abs(second)
			difference := fivePoint(step, func(by float64) float64 { return lik.LogDensity(y, f+by) })
			near(t, first, difference, 1e-8*(1+size), "first derivative at y=%g f=%g", y, f)
			difference = fivePoint(step, func(by float64) float64 {
				_, d, _ := lik.Derivatives(y, f+by)
				return d
			})
			near(t, second, difference, 1e-8*(1+size), "second derivative at y=%g f=%g", y, f)
		}
	}
}

// likelihoodTails: far out everything is finite or a proper infinity, never NaN,
// and the density still has the slope that its derivative says.
func likelihoodTails(t *testing.T, lik fullLikelihood, c conformance) {
	for _, y := range c.Targets {
		for _, f := range []float64{-690, -300, -40, 40, 300, 690} {
			value, first, second := lik.Derivatives(y, f)
			for i, v := range []float64{value, first, second, lik.LogDensity(y, f), lik.Mean(f), lik.CDF(y, f)} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("y=%g f=%g: result %d is %g", y, f, i, v)
				}
			}
			if v := lik.Variance(f); math.IsNaN(v) || v < 0 {
				t.Errorf("variance at f=%g is %g", f, v)
			}
			v1, _, _ := lik.Derivatives(y, f+0.01)
			u1, _, _ := lik.Derivatives(y, f-0.01)
			// The second-order error of a difference over ±0.01, and rounding.
			near(t, (v1-u1)/0.02, first, 1e-4*(1+1e-9*math.Abs(value)), "slope of the tail at y=%g f=%g", y, f)
		}
	}
}

// total integrates g times the density at f over all y.
func total(lik fullLikelihood, f, upTo float64, g func(y float64) float64) float64 {
	lower, upper := lik.Support()
	upper = math.Min(upper, upTo)
	mean, sd := lik.Mean(f), math.Sqrt(lik.Variance(f))
	if lik.Discrete() {
		sum := 0.0
		for y := math.Max(lower, math.Floor(mean-60*sd)); y <= math.Min(upper, mean+400*sd+100); y++ {
			sum += g(y) * math.Exp(lik.LogDensity(y, f))
		}
		return sum
	}
	if math.IsNaN(mean) || math.IsInf(sd, 0) {
		mean, sd = f, 1
	}
	// y = mean + sd sinh x on the line and y = mean eˣ on the half-line: power
	// tails, and powers at 0, become exponential.
	curve, slope := func(x float64) float64 { return mean + sd*math.Sinh(x) }, func(x float64) float64 { return sd * math.Cosh(x) }
	inverse := func(y float64) float64 { return math.Asinh((y - mean) / sd) }
	if lower == 0 {
		curve, slope = func(x float64) float64 { return mean * math.Exp(x) }, func(x float64) float64 { return mean * math.Exp(x) }
		inverse = func(y float64) float64 { return math.Log(y / mean) }
	}
	last := 90.0
	if upper < math.Inf(1) {
		last = inverse(upper)
	}
	var breaks []float64
	for _, b := range []float64{-150, -60, -20, -8, -4, -2, -1, 0, 1, 2, 4, 8, 20} {
		if b < last {
			breaks = append(breaks, b)
		}
	}
	sum, _, _ := quad.Adaptive(func(x float64) (float64, float64, float64) {
		y := curve(x)
		density := math.Exp(lik.LogDensity(y, f))
		if density == 0 || math.IsInf(slope(x), 0) {
			return 0, 0, 0
		}
		return g(y) * density * slope(x), 0, 0
	}, append(breaks, last), 1e-12)
	return sum
}

func likelihoodMoments(t *testing.T, lik fullLikelihood) {
	for _, f := range latents {
		near(t, total(lik, f, math.Inf(1), func(float64) float64 { return 1 }), 1, 1e-10, "total probability at f=%g", f)
		mean, variance := lik.Mean(f), lik.Variance(f)
		if math.IsNaN(mean) {
			continue
		}
		near(t, mean, total(lik, f, math.Inf(1), func(y float64) float64 { return y }), 1e-9, "mean at f=%g", f)
		if math.IsInf(variance, 0) || math.IsNaN(variance) {
			continue
		}
		near(t, variance, total(lik, f, math.Inf(1), func(y float64) float64 { return (y - mean) * (y - mean) }), 1e-9, "variance at f=%g", f)
	}
}

func likelihoodCDF(t *testing.T, lik fullLikelihood, c conformance) {
	lower, upper := lik.Support()
	for _, f := range latents {
		for _, y := range c.Targets {
			if lik.Discrete() && y > 1e6 {
				continue // too many terms to sum
			}
			want := total(lik, f, y, func(float64) float64 { return 1 })
			// The incomplete gamma and beta functions are good to about 1e-10.
			near(t, lik.CDF(y, f), want, 1e-9*c.loose(), "CDF at y=%g f=%g", y, f)
			if lik.Discrete() {
				near(t, lik.CDF(y+0.5, f), lik.CDF(y, f), 0, "CDF between counts at y=%g f=%g", y, f)
			}
		}
		if math.IsInf(lower, -1) {
			lower = -1e300
		}
		near(t, lik.CDF(lower-1, f), 0, 1e-9, "CDF below the support at f=%g", f)
		near(t, lik.CDF(math.Min(upper, 1e300), f), 1, 1e-9, "CDF at the upper end at f=%g", f)
	}
}

// checkQuantile: y is the smallest with cdf(y) ≥ p.
func checkQuantile(t *testing.T, lik fullLikelihood, c conformance, cdf func(float64) float64, p, y float64, where string, args ...any) {
	t.Helper()
	lower, _ := lik.Support()
	tolerance := 1e-8 * c.loose()
	if !lik.Discrete() {
		near(t, cdf(y), p, tolerance, "CDF of the quantile of %g "+where, append([]any{p}, args...)...)
		return
	}
	if y != math.Floor(y) || cdf(y) < p-tolerance || y > lower && cdf(y-1) >= p+tolerance {
		t.Errorf("quantile of %g "+where+" is %g: CDF %g, below %g", append(append([]any{p}, args...), y, cdf(y), cdf(y-1))...)
	}
}

var probabilities = []float64{1e-6, 0.025, 0.31, 0.5, 0.9, 0.9999}

func likelihoodQuantile(t *testing.T, lik fullLikelihood, c conformance) {
	lower, upper := lik.Support()
	for _, f := range append([]float64{-30, 12}, latents...) {
		for _, p := range probabilities {
			checkQuantile(t, lik, c, func(y float64) float64 { return lik.CDF(y, f) }, p, lik.PredictiveQuantile(p, f, 0), "at f=%g", f)
		}
		near(t, lik.PredictiveQuantile(0, f, 0), lower, 0, "quantile of 0 at f=%g", f)
		near(t, lik.PredictiveQuantile(1, f, 0), upper, 0, "quantile of 1 at f=%g", f)
	}
}

// likelihoodSample compares the mean and five points of the distribution function of
// 20,000 draws (200 in a quick case) with those stated, to five standard errors.
func likelihoodSample(t *testing.T, lik fullLikelihood, c conformance) {
	draws := 20000
	if c.Quick {
		draws = 200
	}
	n := float64(draws)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range append([]float64{6}, latents...) {
		y := make([]float64, draws)
		sum := 0.0
		for i := range y {
			y[i] = lik.Sample(rng, f)
			sum += y[i]
		}
		if v := lik.Variance(f); v < math.Inf(1) {
			if d := sum/n - lik.Mean(f); !(math.Abs(d) <= 5*math.Sqrt(v/n)) && !(math.Abs(d) <= 1/n) {
				t.Errorf("f=%g: mean of the draws is off by %g", f, d)
			}
		}
		for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
			q := lik.PredictiveQuantile(p, f, 0)
			below := 0
			for _, v := range y {
				if v <= q {
					below++
				}
			}
			want := lik.CDF(q, f)
			// One draw more than five standard errors, for probabilities next to 1.
			if d := float64(below)/n - want; !(math.Abs(d) <= 5*math.Sqrt(want*(1-want)/n)+1/n) {
				t.Errorf("f=%g: %d of %d draws are at most %g, want a share of %g", f, below, draws, q, want)
			}
		}
	}
}

func likelihoodTargets(t *testing.T, lik fullLikelihood, c conformance) {
	for _, y := range c.Targets {
		if err := lik.CheckTarget(y); err != nil {
			t.Errorf("target %g is refused: %v", y, err)
		}
	}
	lower, upper := lik.Support()
	bad := []float64{math.NaN(), math.Inf(1)}
	if !math.IsInf(lower, -1) {
		bad = append(bad, lower-1)
	}
	if !math.IsInf(upper, 1) {
		bad = append(bad, upper+1)
	}
	if lik.Discrete() {
		bad = append(bad, 0.5)
	}
	for _, y := range bad {
		if err := lik.CheckTarget(y); err == nil {
			t.Errorf("target %g is accepted", y)
		}
		if v := lik.LogDensity(y, 0.3); !math.IsNaN(y) && !math.IsInf(v, -1) {
			t.Errorf("log density of target %g is %g", y, v)
		}
	}
}
