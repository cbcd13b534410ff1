//go:build ignore

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/credence-ml/credence/internal/kernel/coefficient"
)

const (
	// round is 1.5·2⁵²: adding it rounds a small number to an integer, which
	// is then in the low bits, and subtracting it gives that integer.
	round = 6755399441055744.0
	// ln 2 and π/2 as sums of float64. The first product of the reduction is
	// exact in a fused multiply-add, the difference being a multiple of the
	// last place of the first part and below one.
	ln2High, ln2Low = 0.6931471805599453, 2.3190468138462996e-17
	halfPi1         = 1.5707963267948966
	halfPi2         = 6.123233995736766e-17
	halfPi3         = -1.4973849048591833e-33
	// Beyond these, eˣ rounds to zero and to infinity.
	expLow, expHigh = -746, 710
	// 1/√(2π) as a sum of two float64.
	rootTwoPi1, rootTwoPi2 = 0.3989422804014327, -2.4923272022777433e-17
	// The upper normal tail rounds to zero beyond.
	tailEnd = 39
	// sinCosLimit bounds the arguments of SinCos; larger ones go to package
	// math. The quotient by π/2 must stay exact and the fourth part small.
	sinCosLimit = 1 << 30
)

// constants holds those made so far. A constant fills an AVX2 vector; AVX-512
// broadcasts its first element.
var constants = map[uint64]Mem{}

func bits(b uint64) Mem {
	m, ok := constants[b]
	if !ok {
		m = GLOBL(fmt.Sprintf("constant%016x", b), 8|16)
		for i := range 4 {
			DATA(8*i, U64(b))
		}
		constants[b] = m
	}
	return m
}

func k(f float64) Mem { return bits(math.Float64bits(f)) }

type vector = reg.VecVirtual

// The operators below take a constant as the memory operand.

func (v isa) mulK(c float64, x, dst vector) {
	if v.wide {
		VMULPD_BCST(k(c), x, dst)
	} else {
		VMULPD(k(c), x, dst)
	}
}

func (v isa) addK(c float64, x, dst vector) {
	if v.wide {
		VADDPD_BCST(k(c), x, dst)
	} else {
		VADDPD(k(c), x, dst)
	}
}

// fmaK is y = xy + c.
func (v isa) fmaK(c float64, x, y vector) {
	if v.wide {
		VFMADD213PD_BCST(k(c), x, y)
	} else {
		VFMADD213PD(k(c), x, y)
	}
}

// fnmaK is y −= cx.
func (v isa) fnmaK(c float64, x, y vector) {
	if v.wide {
		VFNMADD231PD_BCST(k(c), x, y)
	} else {
		VFNMADD231PD(k(c), x, y)
	}
}

func (v isa) andBits(b uint64, x, dst vector) {
	if v.wide {
		VPANDQ_BCST(bits(b), x, dst)
	} else {
		VPAND(bits(b), x, dst)
	}
}

func (v isa) orBits(b uint64, x, dst vector) {
	if v.wide {
		VPORQ_BCST(bits(b), x, dst)
	} else {
		VPOR(bits(b), x, dst)
	}
}

func (v isa) xor(x, y, dst vector) {
	if v.wide {
		VPXORQ(x, y, dst)
	} else {
		VPXOR(x, y, dst)
	}
}

const signBit = uint64(1) << 63

// constant is a register that holds c in every lane.
func (v isa) constant(c float64) vector {
	x := v.vec()
	VBROADCASTSD(k(c), x)
	return x
}

// blend picks yes where the sign bit of x is set, no elsewhere.
func (v isa) blend(x, yes, no vector) vector {
	dst := v.vec()
	if v.wide {
		m := K()
		VPMOVQ2M(x, m)
		VBLENDMPD(yes, no, m, dst)
	} else {
		VBLENDVPD(x, yes, no, dst)
	}
	return dst
}

// horner evaluates a polynomial, lowest power first.
func (v isa) horner(c []float64, x vector) vector {
	p := v.constant(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		v.fmaK(c[i], x, p)
	}
	return p
}

// split evaluates a long polynomial as even and odd powers: two chains of half
// the length.
func (v isa) split(c []float64, x vector) vector {
	var half [2][]float64
	for i, f := range c {
		half[i&1] = append(half[i&1], f)
	}
	square := v.vec()
	VMULPD(x, x, square)
	even, odd := v.horner(half[0], square), v.horner(half[1], square)
	VFMADD213PD(even, x, odd)
	return odd
}

// expParts returns p and n with e^(x+correction) = p 2ⁿ, p in [0.7, 1.42]. A
// nil correction is zero. x is overwritten.
func (v isa) expParts(x, correction vector, log2e vector) (p, n vector) {
	n = v.vec()
	VMOVAPD(x, n)
	v.fmaK(round, log2e, n)
	if v.wide {
		VSUBPD_BCST(k(round), n, n)
	} else {
		VSUBPD(k(round), n, n)
	}
	v.fnmaK(ln2High, n, x)
	v.fnmaK(ln2Low, n, x)
	if correction != nil {
		VADDPD(correction, x, x)
	}
	p = v.horner(coefficient.Exp[:], x)
	square := v.vec()
	VMULPD(x, x, square)
	VFMADD213PD(x, square, p)
	v.addK(1, p, p)
	return p, n
}

// scale multiplies p by 2ⁿ, rounding once even where the result is subnormal.
func (v isa) scale(p, n vector) {
	if v.wide {
		VSCALEFPD(n, p, p)
		return
	}
	// Two factors of about 2^(n/2), each within range.
	whole, half := XMM(), XMM()
	VCVTPD2DQY(n, whole)
	VPSRAD(Imm(1), whole, half)
	VPSUBD(half, whole, whole)
	for _, x := range []reg.VecVirtual{half, whole} {
		f := v.vec()
		VPMOVSXDQ(x, f)
		VPADDQ(bits(1023), f, f)
		VPSLLQ(Imm(52), f, f)
		VMULPD(f, p, p)
	}
}

// elements writes a loop over whole vectors. prepare makes the registers that
// live through the loop and returns the body, from argument to result.
func (v isa) elements(name, doc string, prepare func() func(x vector) vector) {
	v.text(name, "func(n int, x, dst *float64)", doc+" n must be a multiple of the vector length.")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	dst := Load(Param("dst"), GP64())
	body := prepare()
	TESTQ(n, n)
	JZ(LabelRef("end"))
	Label("loop")
	a := v.vec()
	VMOVUPD(at(x, 0), a)
	VMOVUPD(body(a), at(dst, 0))
	ADDQ(imm(v.bytes()), x)
	ADDQ(imm(v.bytes()), dst)
	SUBQ(imm(v.lanes()), n)
	JNZ(LabelRef("loop"))
	Label("end")
	done()
}

// clamp keeps NaN: the comparison returns its last operand, which is x.
func clamp(x, low, high vector) {
	if low != nil {
		VMAXPD(x, low, x)
	}
	if high != nil {
		VMINPD(x, high, x)
	}
}

func (v isa) elementwise() {
	v.elements("exp", "stores eˣ.", func() func(vector) vector {
		log2e, low, high := v.constant(math.Log2E), v.constant(expLow), v.constant(expHigh)
		return func(x vector) vector {
			clamp(x, low, high)
			p, n := v.expParts(x, nil, log2e)
			v.scale(p, n)
			return p
		}
	})
	v.elements("logistic", "stores 1/(1+e⁻ˣ), as eˣ/(1+eˣ) for negative x.", func() func(vector) vector {
		log2e, low, one := v.constant(math.Log2E), v.constant(expLow), v.constant(1)
		return func(x vector) vector {
			e, n := v.expOfMinusAbs(x, low, log2e)
			v.scale(e, n)
			numerator := v.blend(x, e, one)
			VADDPD(one, e, e)
			VDIVPD(e, numerator, e)
			return e
		}
	})
	v.elements("log1pExp", "stores log(1+eˣ).", func() func(vector) vector {
		log2e, low, zero := v.constant(math.Log2E), v.constant(expLow), v.vec()
		v.zero(zero)
		return func(x vector) vector {
			e, n := v.expOfMinusAbs(x, low, log2e)
			v.scale(e, n)
			y := v.log1p(e)
			VMAXPD(zero, x, x)
			VADDPD(x, y, y)
			return y
		}
	})
	v.elements("normalCDF", "stores the standard normal distribution function.", func() func(vector) vector {
		log2e, end := v.constant(math.Log2E), v.constant(tailEnd)
		return func(x vector) vector {
			a := v.vec()
			v.andBits(signBit-1, x, a)
			clamp(a, nil, end)
			tail := v.normalTail(a)
			p, n := v.density(a, log2e)
			q := tail.times(v, p)
			v.scale(q, n)
			other := v.constant(1)
			VSUBPD(q, other, other)
			return v.blend(x, q, other)
		}
	})
	v.elements("mills", "stores φ(x)/Φ(x).", func() func(vector) vector {
		log2e, end, zero, huge := v.constant(math.Log2E), v.constant(tailEnd), v.vec(), v.constant(1e300)
		v.zero(zero)
		return func(x vector) vector {
			a, sum := v.vec(), v.vec()
			v.andBits(signBit-1, x, a)
			v.addK(coefficient.Center, a, sum)
			clamp(a, nil, huge) // the rounding error of infinity is NaN
			tail := v.normalTail(a)
			clamp(a, nil, end)
			p, n := v.density(a, log2e)
			// φ(a)/Q(a) = (a+k)/(√2π h): the exponentials cancel. On the other
			// side 1 − Q(a) is at least a half.
			q, qLow := tail.timesParts(v, p)
			power := v.constant(1)
			v.scale(power, n)
			VMULPD(power, q, q)
			VMULPD(power, qLow, qLow)
			one, other := v.constant(1), v.vec()
			VSUBPD(q, one, other)
			VSUBPD(other, one, one)
			VSUBPD(q, one, one)
			VSUBPD(qLow, one, one) // 1 − Q is other plus this
			numerator, low := v.blend(x, sum, p), v.blend(x, tail.sumLow, zero)
			c, lost := v.constant(rootTwoPi1), v.vec()
			v.mulK(rootTwoPi2, numerator, lost)
			VFMADD231PD(c, low, lost)
			// The low part of the denominator, moved to the numerator.
			relative, inverse := v.vec(), v.horner([]float64{2.9, -1.95}, other)
			VMULPD(tail.hLow, tail.inverse, relative)
			VMULPD(one, inverse, inverse)
			relative = v.blend(x, relative, inverse)
			VMULPD(c, relative, relative)
			VFNMADD231PD(relative, numerator, lost)
			VFMADD213PD(lost, c, numerator)
			VDIVPD(v.blend(x, tail.h, other), numerator, numerator)
			v.scale(numerator, v.blend(x, zero, n))
			return numerator
		}
	})
	v.sinCos()
}

// expOfMinusAbs is expParts of −|x|.
func (v isa) expOfMinusAbs(x, low, log2e vector) (p, n vector) {
	a := v.vec()
	v.orBits(signBit, x, a)
	clamp(a, low, nil)
	return v.expParts(a, nil, log2e)
}

// log1p returns log(1+e) for e in [0, 1], as 2 atanh(u/2) with u = e/(1+e/2):
// no reduction, and full relative accuracy for small e. The rounding errors of
// the denominator and the quotient are carried along.
func (v isa) log1p(e vector) vector {
	d, rest, u := v.constant(0.5), v.vec(), v.vec()
	one := v.constant(1)
	VFMADD213PD(one, e, d) // d = 1 + e/2
	VSUBPD(d, one, rest)   // 1 − d
	half := v.constant(0.5)
	VFMADD231PD(half, e, rest) // what d lost
	VDIVPD(d, e, u)
	residual := v.vec()
	VMOVAPD(e, residual)
	VFNMADD231PD(u, d, residual)
	VFNMADD231PD(u, rest, residual)
	inverse := v.constant(-1.0 / 3) // 1/d is 1 − e/3 within 4 %
	VFMADD213PD(one, e, inverse)
	VMULPD(inverse, residual, residual)
	z := v.vec()
	VMULPD(u, u, z)
	c := make([]float64, len(coefficient.Atanh))
	for i, f := range coefficient.Atanh {
		c[i] = math.Ldexp(f, -2*(i+1)) // in u² = 4x²
	}
	p := v.horner(c, z)
	VMULPD(u, z, z)
	VFMADD213PD(residual, z, p)
	VADDPD(u, p, p)
	return p
}

// tail is the upper tail of the standard normal, Q(a) = exp(−a²/2) h/(a+k). An
// error of 1/(a+k) would reach the result two and a half times, through the
// substitution as well, so what it lost is kept.
type tail struct {
	h, hLow vector
	inverse vector // 1/h within 2 %
	r, e    vector // 1/(a+k) is r(1+e)
	sumLow  vector // a+k is the rounded sum plus sumLow
}

func (v isa) normalTail(a vector) tail {
	d, t := v.vec(), v.constant(1)
	v.addK(coefficient.Center, a, d)
	high, low := v.constant(coefficient.Center), v.constant(coefficient.Center)
	VMAXPD(a, high, high)
	VMINPD(a, low, low)
	VSUBPD(high, d, high)
	VSUBPD(high, low, low)
	r, e := v.vec(), v.constant(1)
	VDIVPD(d, t, r)
	VFNMADD231PD(r, d, e)
	VFNMADD231PD(r, low, e)
	correction := v.vec()
	VMULPD(r, e, correction)
	v.fnmaK(2*coefficient.Center, r, t) // t = 1 − 2k/(a+k)
	v.fnmaK(2*coefficient.Center, correction, t)
	// The last step of the polynomial keeps its rounding errors, and those of
	// the two leading coefficients.
	h := v.split(coefficient.NormalTail[3:], t) // its rounding is damped by the last steps
	v.fmaK(coefficient.NormalTail[2], t, h)
	v.fmaK(coefficient.NormalTail[1], t, h)
	product, hLow := v.vec(), v.vec()
	VMULPD(h, t, product)
	VMOVAPD(h, hLow)
	VFMSUB213PD(product, t, hLow)
	first := v.constant(coefficient.NormalTail[0])
	VADDPD(product, first, h)
	VSUBPD(first, h, first)
	VSUBPD(first, product, first)
	VADDPD(first, hLow, hLow)
	lost := v.constant(coefficient.NormalTailLow[1])
	v.fmaK(coefficient.NormalTailLow[0], t, lost)
	VADDPD(lost, hLow, hLow)
	return tail{h: h, hLow: hLow, inverse: v.horner([]float64{1.372, 0.92, 0.215}, t), r: r, e: e, sumLow: low}
}

// times returns p h/(a+k), rounded once.
func (q tail) times(v isa, p vector) vector {
	result, _ := q.timesParts(v, p)
	return result
}

// timesParts returns p h/(a+k) and what the rounding lost.
func (q tail) timesParts(v isa, p vector) (result, low vector) {
	w := v.vec()
	low, result = v.vec(), v.vec()
	VMULPD(p, q.h, w)
	VMOVAPD(p, low)
	VFMSUB213PD(w, q.h, low)
	VFMADD231PD(w, q.e, low)
	VFMADD231PD(p, q.hLow, low)
	VMULPD(q.r, low, low)
	VMOVAPD(w, result)
	VFMADD213PD(low, q.r, result)
	VFMSUB213PD(result, q.r, w)
	VADDPD(w, low, low)
	return result, low
}

// density is expParts of −a²/2, with the rounding error of the square.
func (v isa) density(a, log2e vector) (p, n vector) {
	square, low := v.vec(), v.vec()
	VMULPD(a, a, square)
	VMOVAPD(a, low)
	VFMSUB213PD(square, a, low)
	v.mulK(-0.5, square, square)
	v.mulK(-0.5, low, low)
	return v.expParts(square, low, log2e)
}

// sinCos stops before the first vector that holds a large argument or NaN.
func (v isa) sinCos() {
	v.text("sinCos", "func(n int, x, sin, cos *float64) int",
		"stores sines and cosines and returns how many it did: it stops at a vector with an argument it cannot reduce. n must be a multiple of the vector length.")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	sin := Load(Param("sin"), GP64())
	cos := Load(Param("cos"), GP64())
	total := GP64()
	MOVQ(n, total)
	twoOverPi := v.constant(2 / math.Pi)
	limit := v.constant(sinCosLimit)
	TESTQ(n, n)
	JZ(LabelRef("end"))
	Label("loop")
	r, q := v.vec(), v.vec()
	VMOVUPD(at(x, 0), r)
	v.andBits(signBit-1, r, q)
	const notLessOrEqual = 6 // true for NaN
	if v.wide {
		m := K()
		VCMPPD(Imm(notLessOrEqual), limit, q, m)
		KORTESTB(m, m)
	} else {
		VCMPPD(Imm(notLessOrEqual), limit, q, q)
		VPTEST(q, q)
	}
	JNZ(LabelRef("end"))
	VMOVAPD(r, q)
	v.fmaK(round, twoOverPi, q)
	count := v.vec()
	if v.wide {
		VSUBPD_BCST(k(round), q, count)
	} else {
		VSUBPD(k(round), q, count)
	}
	v.fnmaK(halfPi1, count, r)
	v.fnmaK(halfPi2, count, r)
	v.fnmaK(halfPi3, count, r)
	z, t := v.vec(), v.vec()
	VMULPD(r, r, z)
	s := v.horner(coefficient.Sin[:], z)
	c := v.horner(coefficient.Cos[:], z)
	VMULPD(z, r, t)
	VFMADD213PD(r, t, s)
	v.fmaK(-0.5, z, c)
	v.fmaK(1, z, c)
	// Odd quadrants exchange the two; the signs come from the quadrant.
	odd := v.vec()
	VPSLLQ(Imm(63), q, odd)
	first, second := v.blend(odd, c, s), v.blend(odd, s, c)
	flip := v.vec()
	v.andBits(2, q, flip)
	VPSLLQ(Imm(62), flip, flip)
	v.xor(flip, first, first)
	v.xor(odd, flip, flip) // the cosine is negative in quadrants 1 and 2
	v.xor(flip, second, second)
	VMOVUPD(first, at(sin, 0))
	VMOVUPD(second, at(cos, 0))
	for _, p := range []reg.Register{x, sin, cos} {
		ADDQ(imm(v.bytes()), p)
	}
	SUBQ(imm(v.lanes()), n)
	JNZ(LabelRef("loop"))
	Label("end")
	SUBQ(n, total)
	Store(total, ReturnIndex(0))
	done()
}
