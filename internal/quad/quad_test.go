package quad

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/conform/hermite"
	"github.com/credence-ml/credence/internal/special"
)

// relative fails unless got is want up to tolerance, relative above 1 in size.
func relative(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g (difference %.2g, tolerance %.2g)", what, got, want, got-want, tolerance)
	}
}

// TestKronrod: a 15-point Kronrod rule is exact to degree 22, its Gauss part to 13.
func TestKronrod(t *testing.T) {
	for degree := 0; degree <= 22; degree++ {
		want := 0.0
		if degree%2 == 0 {
			want = 2 / float64(degree+1)
		}
		power := func(x float64) (a, b, c float64) { return math.Pow(x, float64(degree)), 0, 0 }
		var p panel
		p.integrate(power, -1, 1)
		relative(t, "Kronrod", p.value[0], want, 1e-15)
		if degree <= 13 && p.difference[0] > 1e-15 {
			t.Errorf("Gauss rule is off by %g at degree %d", p.difference[0], degree)
		}
	}
}

func TestNormalClosedForms(t *testing.T) {
	for _, mean := range []float64{-40, -3, 0, 0.7, 40} {
		for _, variance := range []float64{0, 1e-8, 0.3, 1, 25} {
			a, b, c := Normal(func(f float64) (float64, float64, float64) {
				return f * f, math.Exp(f), math.Cos(f)
			}, mean, variance)
			relative(t, "E f²", a, mean*mean+variance, 1e-13)
			relative(t, "E eᶠ", b, math.Exp(mean+variance/2), 1e-12)
			relative(t, "E cos f", c, math.Cos(mean)*math.Exp(-variance/2), 1e-13)
		}
	}
}

// TestTiltedClosedForms: a Gaussian and a probit likelihood have closed forms.
func TestTiltedClosedForms(t *testing.T) {
	for _, mean := range []float64{-40, -3, 0, 0.7, 40} {
		for _, variance := range []float64{1e-8, 0.3, 1, 25} {
			for _, noise := range []float64{1e-4, 0.5, 100} {
				y := 1.3
				logZ, dMean, dVariance := Tilted(func(f float64) (float64, float64, float64) {
					return -(y - f) * (y - f) / (2 * noise), (y - f) / noise, -1 / noise
				}, mean, variance)
				s, d := variance+noise, y-mean
				// The rounding of log densities of the size of d²/noise.
				tolerance := 1e-13 * (1 + d*d/noise)
				relative(t, "Gaussian logZ", logZ, math.Log(noise/s)/2-d*d/(2*s), tolerance)
				relative(t, "Gaussian dMean", dMean, d/s, tolerance)
				relative(t, "Gaussian dVariance", dVariance, (d*d/s-1)/(2*s), tolerance)
			}
			logZ, dMean, dVariance := Tilted(func(f float64) (float64, float64, float64) {
				_, r, slope := special.LogNormalCDFDerivatives(f)
				return special.LogNormalCDF(f), r, -slope
			}, mean, variance)
			s := 1 + variance
			z := mean / math.Sqrt(s)
			_, r, _ := special.LogNormalCDFDerivatives(z)
			relative(t, "probit logZ", logZ, special.LogNormalCDF(z), 1e-12)
			relative(t, "probit dMean", dMean, r/math.Sqrt(s), 1e-12)
			relative(t, "probit dVariance", dVariance, -z*r/(2*s), 1e-10)
		}
	}
}

func TestAdaptive(t *testing.T) {
	a, b, c := Adaptive(func(x float64) (float64, float64, float64) {
		return math.Exp(-x), 1 / (1e-4 + (x-1)*(x-1)), math.Sqrt(x)
	}, []float64{0, 1, 3}, 1e-12)
	relative(t, "∫e⁻ˣ", a, -math.Expm1(-3), 1e-13)
	relative(t, "∫Lorentz", b, 100*(math.Atan(200)+math.Atan(100)), 1e-12)
	relative(t, "∫√x", c, 2*math.Sqrt(3), 1e-11)
}

// TestLogisticMixture compares the mixture with adaptive quadrature far beyond
// the range that fits reach.
func TestLogisticMixture(t *testing.T) {
	for _, variance := range []float64{0, 1e-6, 0.01, 0.3, 1, 4, 25, 400} {
		for mean := -40.0; mean <= 40; mean += 0.625 {
			value, first, second := Softplus(mean, variance)
			wantValue, wantFirst, wantSecond := Normal(func(f float64) (float64, float64, float64) {
				p := special.Sigmoid(f)
				return special.Softplus(f), p, p * special.Sigmoid(-f) / 2
			}, mean, variance)
			relative(t, "E softplus", value, wantValue, 1e-10)
			relative(t, "E σ", first, wantFirst, 1e-10)
			relative(t, "½E σσ", second, wantSecond, 1e-10)
			if variance == 0 {
				continue
			}
			logZ, dMean, dVariance := LogSigmoid(mean, variance)
			wantZ, wantM, wantV := tiltedLogSigmoid(mean, variance)
			relative(t, "log E σ", logZ, wantZ, 1e-8)
			if p := Sigmoid(mean, variance); mean <= 0 {
				relative(t, "E σ below a half", p, math.Exp(wantZ), 1e-8)
			} else {
				relative(t, "E σ above a half", p, -math.Expm1(-tailOfLog(mean, variance)), 1e-8)
			}
			relative(t, "∂ log E σ/∂m", dMean, wantM, 1e-8)
			relative(t, "∂ log E σ/∂v", dVariance, wantV, 1e-8)
		}
	}
}

// tailOfLog is −log E σ(−f).
func tailOfLog(mean, variance float64) float64 {
	logZ, _, _ := tiltedLogSigmoid(-mean, variance)
	return -logZ
}

// TestLogisticRule derives the mixture again: the moments of log λ under the
// Kolmogorov density, which a Gauss rule of 14 nodes matches up to order 27.
func TestLogisticRule(t *testing.T) {
	for order := 0; order <= 27; order++ {
		want, _, size := Adaptive(func(u float64) (float64, float64, float64) {
			// u is log λ, centred near its mean to keep the powers tame.
			w := kolmogorovDensity(math.Exp(u)) * math.Exp(u)
			power := math.Pow(u+0.2, float64(order))
			return w * power, 0, w * math.Abs(power)
		}, []float64{-2.5, -1, -0.5, 0, 0.5, 1, 2.2}, 1e-13)
		got := 0.0
		for _, node := range logistic {
			got += node.weight * math.Pow(math.Log(node.variance/4)/2+0.2, float64(order))
		}
		// Nodes are rounded at 1e-16 and the power amplifies that by its order.
		if !(math.Abs(got-want) <= 1e-11*size) {
			t.Errorf("moment %d: %.17g, want %.17g", order, got, want)
		}
	}
}

// kolmogorovDensity is the density of the limit of Kolmogorov's statistic, by
// the theta series that converges fast on either side.
func kolmogorovDensity(x float64) float64 {
	sum := 0.0
	if x < 0.75 {
		for j := 1.0; j < 40; j += 2 {
			a := j * j * math.Pi * math.Pi / (8 * x * x)
			sum += math.Exp(-a) * (2*a - 1)
		}
		return math.Sqrt(2*math.Pi) / (x * x) * sum
	}
	sign := 1.0
	for j := 1.0; j < 30; j++ {
		sum += sign * j * j * math.Exp(-2*j*j*x*x)
		sign = -sign
	}
	return 8 * x * sum
}

func TestQuantile(t *testing.T) {
	for _, p := range []float64{1e-12, 1e-3, 0.2, 0.5, 0.975, 1 - 1e-9} {
		for _, start := range []float64{-50, 0, 3} {
			y := Quantile(special.NormalCDF, p, start, 1, math.Inf(-1), math.Inf(1))
			// In units of y the root is as sharp as p/φ(y) allows.
			relative(t, "normal quantile", y, special.NormalQuantile(p), 1e-12+1e-15/special.NormalDensity(y))
		}
		exponential := func(y float64) float64 { return -math.Expm1(-y) }
		y := Quantile(exponential, p, 40, 1, 0, math.Inf(1))
		relative(t, "exponential quantile over itself", y/-math.Log1p(-p), 1, 1e-7)
		geometric := func(y float64) float64 { return 1 - math.Pow(0.9, y+1) }
		k := Count(geometric, p, 7, 3, 0, math.Inf(1))
		if geometric(k) < p || k > 0 && geometric(k-1) >= p {
			t.Errorf("geometric quantile of %g is not %g", p, k)
		}
	}
	// A start beyond an end, where the distribution function is none, is taken back to it.
	for _, start := range []float64{-3, 0.5, 7} {
		relative(t, "quantile of squares", Quantile(func(y float64) float64 { return math.Sqrt(y * (2 - y)) }, 0.6, start, 1, 0, 1), 0.2, 1e-12)
	}
	if y := Quantile(special.NormalCDF, 0, 0, 1, -7, 7); y != -7 {
		t.Errorf("quantile of 0 is %g", y)
	}
	halves := func(y float64) float64 { return 1 - math.Exp2(-1-y) } // without rounding
	for k := 0.0; k < 40; k++ {
		if y := Count(halves, halves(k), 16, 8, 0, math.Inf(1)); y != k {
			t.Errorf("the quantile at P(Y ≤ %g) is %g", k, y)
		}
	}
	if y := Count(special.NormalCDF, 1, 0, 1, 0, 12); y != 12 {
		t.Errorf("quantile of 1 is %g", y)
	}
}

func TestNoAllocation(t *testing.T) {
	sink := 0.0
	if n := testing.AllocsPerRun(10, func() {
		m := sink * 0
		a, _, _ := Normal(func(f float64) (float64, float64, float64) { return f + m, f, f }, 1, 2)
		b, _, _ := LogSigmoid(-30, 4)
		c, _, _ := Adaptive(func(f float64) (float64, float64, float64) { return f + m, f, f }, []float64{0, 1}, 1e-9)
		sink += a + b + c
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSoftplus(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		v, _, _ := Softplus(float64(i%80-40)/8, 0.7)
		sum += v
	}
	_ = sum
}

func BenchmarkTiltedLogSigmoid(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		v, _, _ := tiltedLogSigmoid(float64(i%80-40)/8, 0.7)
		sum += v
	}
	_ = sum
}

// TestStep: a normal step has a closed form; centre and width are hints that may be
// off, and the step may be much sharper or much wider than the normal.
func TestStep(t *testing.T) {
	for _, variance := range []float64{0, 1e-6, 0.2, 25} {
		for _, width := range []float64{1e-3, 0.3, 4} {
			for _, centre := range []float64{-3, 0.5, 9} {
				about := centre + 0.3*width
				got := Step(func(f float64) float64 { return special.NormalCDF((centre - f) / width) },
					func(d float64) float64 { return special.NormalDensity((about+d-centre)/width) / width },
					0.4, variance, about, 0.7*width)
				want := special.NormalCDF((centre - 0.4) / math.Sqrt(variance+width*width))
				relative(t, "E Φ", got, want, 1e-9)
			}
		}
	}
	sharp := 0
	got := Step(func(f float64) float64 { sharp++; return special.NormalCDF(-f / 1e-6) },
		func(d float64) float64 { sharp++; return special.NormalDensity(d/1e-6) / 1e-6 }, 0.4, 9, 0, 1e-6)
	relative(t, "E Φ of a sharp step", got, special.NormalCDF(-0.4/3), 1e-9)
	if sharp > 200 {
		t.Errorf("a step of relative width 3e-7 takes %d evaluations", sharp)
	}
}

// TestHalfLine derives the rule again: seven nodes in z² are exact for zΦ(−z) times polynomials of degree 13
// in z², ∫₀^∞ z^(2k+1) Φ(−z) dz = (2k+1)!!/(4(k+1)).
func TestHalfLine(t *testing.T) {
	want := 1.0
	for k := range 14 {
		want *= float64(2*k + 1)
		got := 0.0
		for _, node := range halfLine {
			got += node.weight * math.Pow(node.z, float64(2*k+1))
		}
		relative(t, "moment over itself", got/(want/(4*float64(k+1))), 1, 1e-13)
	}
}

// TestSoftplusExact: in the lower tail log(1+eᶠ) = eᶠ to its relative size, and
// with it the expectation.
func TestSoftplusExact(t *testing.T) {
	for _, variance := range []float64{1e-4, 0.5, 2} {
		value, dMean, dVariance := SoftplusExact(-40, variance)
		want := math.Exp(-40 + variance/2)
		relative(t, "E softplus over itself", value/want, 1, 1e-11)
		relative(t, "E σ over itself", dMean/want, 1, 1e-11)
		relative(t, "½E σσ over itself", dVariance/want, 0.5, 1e-11)
		value, dMean, _ = SoftplusExact(40, variance)
		relative(t, "E softplus", value, 40, 1e-14)
		relative(t, "E σ", dMean, 1, 1e-14)
	}
}

// hermiteSoftplus is Softplus by a fixed Gauss–Hermite rule, what the mixture is
// measured against.
func hermiteSoftplus(rule hermite.Rule, mean, variance float64) (value, dMean, dVariance float64) {
	sd := math.Sqrt(variance)
	for i, z := range rule.Nodes {
		f, w := mean+sd*z, rule.Weights[i]
		e := math.Exp(-math.Abs(f))
		p := 1 / (1 + e)
		value += w * (math.Max(f, 0) + math.Log1p(e))
		dVariance += w * p * (1 - p) / 2
		if f < 0 {
			p = 1 - p
		}
		dMean += w * p
	}
	return value, dMean, dVariance
}

// TestHermiteSoftplus states what a fixed rule of 32 nodes is good for: 1e-12 at
// variance 1, and 4e-4 at 25, where the mixture still has 1e-10.
func TestHermiteSoftplus(t *testing.T) {
	rule := hermite.New(32)
	for _, c := range [][2]float64{{1, 1e-12}, {4, 1e-7}, {25, 1e-3}} {
		worst := 0.0
		for mean := -40.0; mean <= 40; mean += 0.25 {
			got, _, _ := hermiteSoftplus(rule, mean, c[0])
			want, _, _ := SoftplusExact(mean, c[0])
			worst = math.Max(worst, math.Abs(got-want))
		}
		if worst > c[1] || worst < c[1]/100 {
			t.Errorf("32 nodes at variance %g are off by %g, not about %g", c[0], worst, c[1])
		}
	}
}

func BenchmarkHermiteSoftplus(b *testing.B) {
	rule := hermite.New(32)
	sum := 0.0
	for i := range b.N {
		v, _, _ := hermiteSoftplus(rule, float64(i%80-40)/8, 0.7)
		sum += v
	}
	_ = sum
}

// Rows far outside of training have enormous variances, or no density at all; the cost of
// each rule stays bounded, and what is no number comes out as such.
func TestWorkIsBounded(t *testing.T) {
	for _, sd := range []float64{1e3, 1e6, 1e15, 1e30, 1e150} {
		calls := 0
		value, _, _ := Normal(func(f float64) (float64, float64, float64) {
			calls++
			return math.Max(f, 0) + math.Log1p(math.Exp(-math.Abs(f))), 0, 0
		}, 0, sd*sd)
		// E max(f, 0) is sd/√2π, which softplus differs from by less than 1.
		if want := sd / math.Sqrt(2*math.Pi); !(math.Abs(value-want) <= 1+1e-6*want) {
			t.Errorf("sd %g: E softplus is %v, want %v", sd, value, want)
		}
		if calls > 1e7 {
			t.Errorf("sd %g: %d evaluations", sd, calls)
		}
		calls = 0
		logZ, _, _ := Tilted(func(f float64) (value, first, second float64) {
			calls++
			p := 1 / (1 + math.Exp(-f))
			if f < -30 {
				return f, 1, 0
			}
			return math.Log(p), 1 - p, -p * (1 - p)
		}, 0, sd*sd)
		if !(math.Abs(logZ-math.Log(0.5)) <= 1e-3) || calls > 1e7 {
			t.Errorf("sd %g: log E logistic is %v after %d evaluations, want log ½", sd, logZ, calls)
		}
	}
	calls := 0
	none := func(float64) float64 { calls++; return math.NaN() }
	bump, _ := Bump(none, 0, 1, math.Inf(1))
	for name, v := range map[string]float64{
		"bump":     bump,
		"counts":   Counts(none, 0, 0, 1e12, 0, exactly),
		"step":     Step(none, none, 0, 1, 0, 1),
		"quantile": Quantile(none, 0.5, 0, 1, math.Inf(-1), math.Inf(1)),
		"count":    Count(none, 0.5, 3, 1, 0, math.Inf(1)),
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s of no numbers is %v", name, v)
		}
	}
	if calls > 1000 {
		t.Errorf("%d evaluations of what is no number", calls)
	}
}

// TestLogSquare: the series gives what the trapezium rule gives, up to the largest variance and beyond, beside and far
// from where the function bends most.
func TestLogSquare(t *testing.T) {
	for _, variance := range []float64{0, 1e-9, 1e-4, 1. / 300, 1. / 256, 1. / 250, 1. / 20} {
		for _, mean := range []float64{0, 0.1, -0.5, 1, -3, 40, 1e9, -1e100} {
			value, first, second := LogSquare(mean, variance)
			again, share := LogSquareShare(mean, variance)
			p, q, r := Normal(func(f float64) (float64, float64, float64) {
				k := 1 / (1 + f*f)
				return math.Log1p(f * f), f * k, (1 - f*f) * k * k
			}, mean, variance)
			s, _, _ := Normal(func(f float64) (float64, float64, float64) { return 1 / (1 + 1/(f*f)), 0, 0 }, mean, variance)
			// 1e-12 is what Normal is right to.
			if !(math.Abs(value-p) <= 1e-12*(1+p) || value == p) || !(math.Abs(first-q) <= 1e-12) || !(math.Abs(second-r) <= 1e-12) || !(math.Abs(again-value) <= 1e-12*(1+p)) || !(math.Abs(share-s) <= 1e-12) {
				t.Errorf("N(%v, %v): %v %v %v %v, want %v %v %v %v", mean, variance, value, first, second, share, p, q, r, s)
			}
		}
	}
}
