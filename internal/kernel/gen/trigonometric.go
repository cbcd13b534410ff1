//go:build ignore

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/credence-ml/credence/internal/kernel/coefficient"
)

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
