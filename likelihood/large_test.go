package likelihood_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestLargeCounts compares with the textbook formulas in 400-bit arithmetic,
// where their evaluation in float64 is off by 1e-5 and more.
func TestLargeCounts(t *testing.T) {
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }
	add := func(terms ...*big.Float) float64 {
		sum := exact(0)
		for _, term := range terms {
			sum.Add(sum, term)
		}
		v, _ := sum.Float64()
		return v
	}
	negate := func(x *big.Float) *big.Float { return exact(0).Neg(x) }
	times := func(a float64, x *big.Float) *big.Float { return exact(0).Mul(exact(a), x) }
	softplus := func(f float64) *big.Float { return bigLog(exact(0).Add(exact(1), bigExp(f))) }
	check := func(lik likelihood.Differentiable, y, f, want float64) {
		t.Helper()
		got, slope, _ := lik.Derivatives(y, f)
		// Logarithms of the counts round at 4e-15, which moves f along the slope.
		if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))+8e-15*math.Abs(slope)) {
			t.Errorf("%v: log p(%g|%g) = %.15g, want %.15g (off by %.2g)", lik, y, f, got, want, got-want)
		}
	}
	const y, n, r = 2e9, 6e9, 4e9
	for _, mu := range []float64{1.9e9, 2e9 - 1e4, 2e9, 2.03e9, 1e3, 1e30} {
		f := math.Log(mu)
		check(likelihood.Poisson{}, y, f, add(times(y, exact(f)), negate(bigExp(f)), negate(bigLogFactorial(y))))
	}
	for _, f := range []float64{-20, -0.7, math.Log(0.5), -0.68, 20} {
		check(likelihood.Binomial{Trials: n}, y, f, add(bigLogFactorial(n), negate(bigLogFactorial(y)),
			negate(bigLogFactorial(n-y)), times(y, exact(f)), times(-n, softplus(f))))
		// Whole size r: C(y+r−1, y) (r/(r+μ))^r (μ/(r+μ))^y, at μ/r = e^g.
		latent := f + math.Log(r)
		g := exact(0).Sub(exact(latent), bigLog(exact(r)))
		ratio := new(big.Float).SetPrec(400)
		ratio.Mul(bigExp(latent), exact(0).Quo(exact(1), exact(r)))
		check(likelihood.NegativeBinomial{Size: param.Hold(r)}, y, latent, add(bigLogFactorial(y+r-1), negate(bigLogFactorial(y)),
			negate(bigLogFactorial(r-1)), times(y, g), times(-(y+r), bigLog(ratio.Add(ratio, exact(1))))))
	}
	// The oracle's own log factorial, from the product.
	product := new(big.Float).SetPrec(400).SetInt(new(big.Int).MulRange(1, 3000))
	if d := add(bigLogFactorial(3000), negate(bigLog(product))); !(math.Abs(d) <= 1e-25) {
		t.Errorf("Stirling's series is off by %g", d)
	}
}

// bigLogFactorial is log n! by Stirling's series, whose next term is below 1e-27
// for n ≥ 3000.
func bigLogFactorial(n float64) *big.Float {
	x := new(big.Float).SetPrec(400).SetFloat64(n)
	half := new(big.Float).SetPrec(400).SetFloat64(0.5)
	sum := new(big.Float).SetPrec(400).Add(x, half)
	sum.Mul(sum, bigLog(x))
	sum.Sub(sum, x)
	constant, _, _ := big.ParseFloat("0.918938533204672741780329736405617639861397473637783412817", 10, 400, big.ToNearestEven)
	sum.Add(sum, constant)
	inverse := new(big.Float).SetPrec(400).Quo(new(big.Float).SetInt64(1), x)
	square := new(big.Float).SetPrec(400).Mul(inverse, inverse)
	for _, denominator := range []int64{12, -360, 1260, -1680} {
		sum.Add(sum, new(big.Float).SetPrec(400).Quo(inverse, new(big.Float).SetInt64(denominator)))
		inverse.Mul(inverse, square)
	}
	return sum
}

// bigExp is eˣ by its series after halving the argument to below 1e-3.
func bigExp(x float64) *big.Float {
	halvings := 0
	for scaled := math.Abs(x); scaled > 1e-3; scaled /= 2 {
		halvings++
	}
	b := new(big.Float).SetPrec(400).SetFloat64(x)
	b.SetMantExp(b, -halvings)
	sum, term := new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetInt64(1)
	for k := int64(1); k < 60; k++ {
		term.Mul(term, b)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigLog is log x for x > 0: the exponent times log 2 and a series in
// (m−1)/(m+1) for the mantissa.
func bigLog(x *big.Float) *big.Float {
	mantissa := new(big.Float).SetPrec(400)
	exponent := x.MantExp(mantissa)
	result := artanhLog(mantissa)
	two := artanhLog(new(big.Float).SetPrec(400).SetInt64(2))
	return result.Add(result, two.Mul(two, new(big.Float).SetInt64(int64(exponent))))
}

// artanhLog is log m = 2 artanh((m−1)/(m+1)), for m from ½ to 2.
func artanhLog(m *big.Float) *big.Float {
	one := new(big.Float).SetPrec(400).SetInt64(1)
	z := new(big.Float).SetPrec(400).Sub(m, one)
	z.Quo(z, new(big.Float).SetPrec(400).Add(m, one))
	square := new(big.Float).SetPrec(400).Mul(z, z)
	sum := new(big.Float).SetPrec(400)
	for k := int64(1); k < 400; k += 2 {
		sum.Add(sum, new(big.Float).SetPrec(400).Quo(z, new(big.Float).SetInt64(k)))
		z.Mul(z, square)
	}
	return sum.Add(sum, sum)
}
