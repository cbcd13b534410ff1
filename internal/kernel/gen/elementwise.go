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
	v.normal()
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
