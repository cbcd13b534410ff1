package special_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// rounding is the relative tolerance for closed forms: a few hundred units in
// the last place.
const rounding = 1e-13

func relative(t *testing.T, what string, x, got, want, tolerance float64) {
	t.Helper()
	if got == want {
		return
	}
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s(%g) = %.17g, want %.17g (relative difference %.2g)", what, x, got, want, got/want-1)
	}
}

func TestLogistic(t *testing.T) {
	for _, a := range []float64{-745, -700, -40, -1, -1e-9, 0, 1e-9, 0.3, 5, 40, 700} {
		p, q := special.Sigmoid(a), special.Sigmoid(-a)
		relative(t, "σ(a)/σ(−a)", a, p/q, math.Exp(a), rounding)
		relative(t, "σ(a)+σ(−a)", a, p+q, 1, rounding)
		if a <= 0 {
			relative(t, "log σ", a, special.LogSigmoid(a), a+special.LogSigmoid(-a), rounding)
		}
		relative(t, "softplus", a, special.Softplus(a), -special.LogSigmoid(-a), rounding)
		if math.Abs(a) < 30 {
			relative(t, "logit σ", a, special.Logit(p), a, 1e-2) // the value at ±1e-9 is lost in p
			relative(t, "softplus", a, special.Softplus(a), math.Log(1+math.Exp(a)), 1e-13)
		}
	}
	relative(t, "softplus", -50, special.Softplus(-50), math.Exp(-50), rounding)
	relative(t, "softplus", 800, special.Softplus(800), 800, 0)
}

func TestLogSums(t *testing.T) {
	inf := math.Inf(1)
	relative(t, "LogAddExp", 0, special.LogAddExp(1000, 1000), 1000+math.Ln2, rounding)
	relative(t, "LogAddExp", 0, special.LogAddExp(-inf, -inf), -inf, 0)
	relative(t, "LogAddExp", 0, special.LogAddExp(-inf, 3), 3, 0)
	relative(t, "LogAddExp", 0, special.LogAddExp(inf, 3), inf, 0)
	relative(t, "LogSumExp", 0, special.LogSumExp([]float64{-1000, -1000, -1000}), -1000+math.Log(3), rounding)
	relative(t, "LogSumExp", 0, special.LogSumExp([]float64{-inf, -inf}), -inf, 0)
	relative(t, "LogSumExp", 0, special.LogSumExp(nil), -inf, 0)
	if !math.IsNaN(special.LogSumExp([]float64{0, math.NaN()})) {
		t.Error("LogSumExp hides a NaN")
	}
	for _, a := range []float64{-1e-12, -0.3, -0.69, -0.7, -5, -50} {
		relative(t, "e^Log1mExp", a, math.Exp(special.Log1mExp(a)), -math.Expm1(a), rounding)
	}
}

// series sums Σ_{k≥2} c_k xᵏ at 300 bits, where next makes c_k from c_{k−1}.
func series(x, second float64, next func(c *big.Float, k int64)) float64 {
	const bits = 300
	bigX := new(big.Float).SetPrec(bits).SetFloat64(x)
	power := new(big.Float).SetPrec(bits).Mul(bigX, bigX)
	c := new(big.Float).SetPrec(bits).SetFloat64(second)
	sum := new(big.Float).SetPrec(bits)
	for k := int64(3); k < 500; k++ {
		term := new(big.Float).SetPrec(bits).Mul(c, power)
		sum.Add(sum, term)
		power.Mul(power, bigX)
		next(c, k)
	}
	v, _ := sum.Float64()
	return v
}

func TestRemainders(t *testing.T) {
	for _, x := range []float64{1e-300, 1e-8, 1e-4, 9.99e-3, 1.001e-2, 0.1, 0.5} {
		for _, x := range []float64{x, -x} {
			want := series(x, 0.5, func(c *big.Float, k int64) { c.Quo(c, big.NewFloat(float64(k))) })
			relative(t, "ExpRemainder", x, special.ExpRemainder(x), want, rounding)
			want = series(x, -0.5, func(c *big.Float, k int64) {
				c.Quo(c.Mul(c, big.NewFloat(float64(1-k))), big.NewFloat(float64(k)))
			})
			relative(t, "LogRemainder", x, special.LogRemainder(x), want, rounding)
		}
	}
}

// TestBernoulliDivergence integrates the derivative σ(logit w + s) − w.
func TestBernoulliDivergence(t *testing.T) {
	for _, w := range []float64{1e-12, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-6} {
		for _, shift := range []float64{-20, -1, -1e-3, 1e-6, 0.3, 7, 29, 31, 60} {
			logit := special.Logit(w)
			want, _, _ := quad.Adaptive(func(s float64) (float64, float64, float64) {
				// σ(t+s) − σ(t) = σ(t+s) σ(−t) (1 − e⁻ˢ), without cancellation.
				return special.Sigmoid(logit+s*shift) * special.Sigmoid(-logit) * -math.Expm1(-s*shift) * shift, 0, 0
			}, []float64{0, 0.01, 0.1, 0.3, 0.6, 1}, 1e-13)
			relative(t, "BernoulliDivergence", shift, special.BernoulliDivergence(w, 1-w, shift), want, 1e-9)
		}
	}
	if got := special.BernoulliDivergence(0.5, 0.5, 1e4); !(math.Abs(got-(5e3-math.Ln2)) <= 1e-9) {
		t.Errorf("divergence at shift 1e4 is %g", got)
	}
}

// deepMills is r(−x) and its excess over x by the continued fraction at depth 2000.
func deepMills(x float64) (r, excess float64) {
	t := x
	for k := 2000; k >= 2; k-- {
		t = x + float64(k)/t
	}
	return x + 1/t, 1 / t
}

func TestNormalTails(t *testing.T) {
	for x := 1.5; x < 1e4; x *= 1.03 {
		wantR, excess := deepMills(x)
		_, r, slope := special.LogNormalCDFDerivatives(-x)
		relative(t, "r", -x, r, wantR, rounding)
		relative(t, "r(z+r)", -x, slope, wantR*excess, rounding)
		relative(t, "log Φ", -x, special.LogNormalCDF(-x), -x*x/2-special.LogSqrt2Pi-math.Log(wantR), rounding)
	}
	for z := -5.0; z < 9; z += 0.25 {
		want := math.Log(special.NormalCDF(z))
		if z > -1 {
			want = math.Log1p(-special.NormalCDF(-z))
		}
		relative(t, "log Φ", z, special.LogNormalCDF(z), want, rounding)
		_, r, slope := special.LogNormalCDFDerivatives(z)
		relative(t, "r", z, r, special.NormalDensity(z)/special.NormalCDF(z), rounding)
		relative(t, "r(z+r)", z, slope, r*(z+r), 1e-12)
	}
	relative(t, "log Φ", 12, special.LogNormalCDF(12), -special.NormalCDF(-12), rounding)
	_, r, slope := special.LogNormalCDFDerivatives(math.Inf(1))
	relative(t, "r", math.Inf(1), r, 0, 0)
	relative(t, "slope", math.Inf(1), slope, 0, 0)
	relative(t, "log Φ", math.Inf(-1), special.LogNormalCDF(math.Inf(-1)), math.Inf(-1), 0)
	_, _, slope = special.LogNormalCDFDerivatives(math.Inf(-1))
	relative(t, "slope", math.Inf(-1), slope, 1, 0)
	for _, p := range []float64{1e-300, 1e-9, 0.3, 0.5, 1 - 1e-9} {
		relative(t, "Φ(Φ⁻¹)", p, special.NormalCDF(special.NormalQuantile(p)), p, 1e-12)
	}
}

// TestGammaFamily uses the recurrences, which hold exactly and join the direct
// forms to the asymptotic series.
func TestGammaFamily(t *testing.T) {
	for x := 0.05; x < 60; x += 0.173 {
		stirling := special.StirlingError(x) - special.StirlingError(x+1)
		want := (x+0.5)*math.Log1p(1/x) - 1
		// Both sides are differences of numbers of order x.
		if !(math.Abs(stirling-want) <= 1e-15*(1+x*math.Log(1+x))*4) {
			t.Errorf("StirlingError recurrence at %g: %g, want %g", x, stirling, want)
		}
		digamma := special.DigammaMinusLog(x+1) - special.DigammaMinusLog(x)
		want = 1/x - math.Log1p(1/x)
		if !(math.Abs(digamma-want) <= 2e-14/math.Min(x, 1)) {
			t.Errorf("DigammaMinusLog recurrence at %g: %g, want %g", x, digamma, want)
		}
		half := special.LogGammaHalfStep(x+1) - special.LogGammaHalfStep(x)
		want = math.Log((x + 0.5) / x)
		if !(math.Abs(half-want) <= 3e-14*(1+x/10)) {
			t.Errorf("LogGammaHalfStep recurrence at %g: %g, want %g", x, half, want)
		}
	}
	relative(t, "StirlingError", 1e9, special.StirlingError(1e9), 1/12e9, rounding)
	relative(t, "DigammaMinusLog", 1, special.DigammaMinusLog(1), -0.577215664901532860606512090082, rounding)
	relative(t, "LogGammaHalfStep", 0.5, special.LogGammaHalfStep(0.5), -math.Log(math.Pi)/2, rounding)
	relative(t, "LogGammaHalfStep", 1e12, special.LogGammaHalfStep(1e12), math.Log(1e12)/2, rounding)
}

func BenchmarkLogNormalCDFDerivatives(b *testing.B) {
	sum := 0.0
	for i := range b.N {
		_, r, s := special.LogNormalCDFDerivatives(float64(i%200-100) / 10)
		sum += r + s
	}
	_ = sum
}

// TestQuantileSkewness: of exponential quantiles (a+b−2m)/(b−a) is (ln 20 + ln(20/19) − 2 ln 2)/(ln 20 − ln(20/19));
// turned round it changes its sign, and an outlier does not move it.
func TestQuantileSkewness(t *testing.T) {
	const n = 20001
	values := make([]float64, n)
	for i := range values {
		values[i] = -math.Log(1 - (float64(i)+.5)/n)
	}
	want := (math.Log(20) + math.Log(20.0/19) - 2*math.Ln2) / (math.Log(20) - math.Log(20.0/19))
	// a step of the grid is 1e-3 at the upper quantile
	if got := special.QuantileSkewness(values); !(math.Abs(got-want) <= 1e-3) {
		t.Errorf("%v, want %v", got, want)
	}
	values[0] = 1e9
	if got := special.QuantileSkewness(values); !(math.Abs(got-want) <= 2e-3) {
		t.Errorf("with an outlier %v, want %v", got, want)
	}
	for i := range values {
		values[i] = -values[i]
	}
	if got := special.QuantileSkewness(values); !(math.Abs(got+want) <= 2e-3) {
		t.Errorf("turned round %v, want %v", got, -want)
	}
	if special.QuantileSkewness(nil) != 0 || special.QuantileSkewness([]float64{2, 2, 2}) != 0 {
		t.Error("no values, or equal ones, are skewed")
	}
}
