package kernel

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel/coefficient"
)

// The elementwise functions are within 2 units in the last place over the
// whole range, subnormal results included (3 in plain Go, which rests on
// package math; SinCos is then within 2⁻⁵² instead). NaN gives NaN, and an
// element's result does not depend on its place in the slice.

// unary is an elementwise function: its vector kernel and its plain Go twin.
type unary int

const (
	exp unary = iota
	log1pExp
	logistic
	normalCDF
	mills
)

var twins = [...]func(float64) float64{math.Exp, log1pExpGo, logisticGo, normalCDFGo, millsGo}

// Exp stores eˣ elementwise in dst, which may be x.
func Exp(dst, x []float64) { applyOn(detected, exp, "Exp", dst, x) }

// Log1pExp stores log(1+eˣ) elementwise in dst, which may be x.
func Log1pExp(dst, x []float64) { applyOn(detected, log1pExp, "Log1pExp", dst, x) }

// Logistic stores 1/(1+e⁻ˣ) elementwise in dst, which may be x.
func Logistic(dst, x []float64) { applyOn(detected, logistic, "Logistic", dst, x) }

// NormalCDF stores Φ(x), the standard normal distribution function,
// elementwise in dst, which may be x. The lower tail keeps its relative
// accuracy until it underflows at -38.5.
func NormalCDF(dst, x []float64) { applyOn(detected, normalCDF, "NormalCDF", dst, x) }

// MillsRatio stores φ(x)/Φ(x), the inverse Mills ratio of the lower tail,
// elementwise in dst, which may be x. It tends to -x as x falls and to φ(x) as
// x grows; at -∞ it is no number.
func MillsRatio(dst, x []float64) { applyOn(detected, mills, "MillsRatio", dst, x) }

// SinCos stores sin x and cos x elementwise; either may be x itself. Arguments
// beyond 2³⁰ go one by one to package math.
func SinCos(sin, cos, x []float64) { sinCosOn(detected, sin, cos, x) }

// chunk is the longest vector of any instruction set.
const chunk = 8

// applyOn runs whole vectors through the kernel, and the rest of the slice as
// one vector more, so that every element takes the same path.
func applyOn(s ISA, f unary, name string, dst, x []float64) {
	sameLength(name, len(x), len(dst))
	if s == PureGo {
		twin := twins[f]
		for i, v := range x {
			dst[i] = twin(v)
		}
		return
	}
	whole := len(x) &^ (chunk - 1)
	if whole > 0 {
		unaryOn(s, f, whole, &x[0], &dst[0])
	}
	if whole < len(x) {
		var rest [chunk]float64
		copy(rest[:], x[whole:])
		unaryOn(s, f, chunk, &rest[0], &rest[0])
		copy(dst[whole:], rest[:])
	}
}

func sinCosOn(s ISA, sin, cos, x []float64) {
	sameLength("SinCos", len(x), len(sin), len(cos))
	if s == PureGo {
		for i, v := range x {
			sin[i], cos[i] = math.Sincos(v)
		}
		return
	}
	for done := 0; done < len(x); {
		if whole := (len(x) - done) &^ (chunk - 1); whole > 0 {
			done += sinCosVectors(s, whole, &x[done], &sin[done], &cos[done])
		}
		if done == len(x) {
			return
		}
		// The end of the slice, or a vector with an argument out of range.
		var v, u, w [chunk]float64
		n := copy(v[:], x[done:])
		for i, a := range v {
			if !(math.Abs(a) < sinCosLimit) {
				v[i] = 0
			}
		}
		sinCosVectors(s, chunk, &v[0], &u[0], &w[0])
		for i, a := range x[done : done+n] {
			if !(math.Abs(a) < sinCosLimit) {
				u[i], w[i] = math.Sincos(a)
			}
		}
		copy(sin[done:], u[:n])
		copy(cos[done:], w[:n])
		done += n
	}
}

const sinCosLimit = 1 << 30

// log1pExpGo keeps full relative accuracy in both tails: eˣ overflows for
// large x, and 1+eˣ rounds to 1 for very negative x.
func log1pExpGo(x float64) float64 {
	if x > 0 {
		return x + math.Log1p(math.Exp(-x))
	}
	return math.Log1p(math.Exp(x))
}

func logisticGo(x float64) float64 {
	if x < 0 {
		e := math.Exp(x)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-x))
}

// normalTail is the upper tail of the standard normal, Q(a) = exp(−a²/2) h r(1+e).
type normalTail struct {
	h, hLow float64
	inverse float64 // 1/h within 2 %
	r, e    float64 // 1/(a+k) is r(1+e)
	sumLow  float64 // a+k is its rounded value plus sumLow
}

// tailGo approximates (a+k)Q(a)exp(a²/2) by a polynomial in t = (a−k)/(a+k),
// the substitution of Shepherd & Laframboise 1981, "Chebyshev approximation of
// (1+2x)exp(x²)erfc x in 0 ≤ x < ∞". An error of 1/(a+k) would reach the result
// two and a half times, through t as well, so what it lost is kept. The fused
// operations are explicit: it is their single rounding that makes this exact.
func tailGo(a float64) normalTail {
	const k = coefficient.Center
	d := a + k
	low := min(a, k) - (d - max(a, k))
	r := 1 / d
	e := math.FMA(-r, low, math.FMA(-r, d, 1))
	t := math.FMA(-2*k, r*e, math.FMA(-2*k, r, 1))
	h := 0.0
	for i := len(coefficient.NormalTail) - 1; i >= 1; i-- {
		h = math.FMA(h, t, coefficient.NormalTail[i])
	}
	// The last step keeps its rounding errors, and those of the two leading
	// coefficients.
	product := h * t
	hLow := math.FMA(h, t, -product)
	h = coefficient.NormalTail[0] + product
	hLow += product - (h - coefficient.NormalTail[0])
	hLow += math.FMA(t, coefficient.NormalTailLow[1], coefficient.NormalTailLow[0])
	return normalTail{h: h, hLow: hLow, inverse: 1.372 + t*(0.92+t*0.215), r: r, e: e, sumLow: low}
}

// times returns p h r(1+e) and what its rounding lost.
func (q normalTail) times(p float64) (result, low float64) {
	w := p * q.h
	low = math.FMA(p, q.hLow, math.FMA(p, q.h, -w))
	low = math.FMA(w, q.e, low) * q.r
	result = math.FMA(w, q.r, low)
	return result, math.FMA(w, q.r, -result) + low
}

// densityGo returns exp(−a²/2). The rounding error of the square, up to 10⁻¹³
// at the end of the range, goes in as a factor.
func densityGo(a float64) float64 {
	a = min(a, 39)
	square := a * a
	p := math.Exp(-0.5 * square)
	return p - p*0.5*math.FMA(a, a, -square)
}

func normalCDFGo(x float64) float64 {
	a := min(math.Abs(x), 39)
	q, _ := tailGo(a).times(densityGo(a))
	if x < 0 {
		return q
	}
	return 1 - q
}

// rootTwoPi1 + rootTwoPi2 is 1/√(2π).
const rootTwoPi1, rootTwoPi2 = 0.3989422804014327, -2.4923272022777433e-17

func millsGo(x float64) float64 {
	a := math.Abs(x)
	q := tailGo(min(a, 1e300))
	if x < 0 {
		sum := a + coefficient.Center
		low := rootTwoPi2*sum + rootTwoPi1*q.sumLow - rootTwoPi1*sum*(q.hLow*q.inverse)
		return math.FMA(rootTwoPi1, sum, low) / q.h
	}
	p := densityGo(a)
	upper, upperLow := q.times(p)
	lower := 1 - upper
	lowerLow := (1 - lower) - upper - upperLow
	return math.FMA(rootTwoPi1, p, rootTwoPi2*p-rootTwoPi1*p*(lowerLow/lower)) / lower
}
