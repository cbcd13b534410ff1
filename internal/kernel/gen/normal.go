//go:build ignore

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"

	"github.com/credence-ml/credence/internal/kernel/coefficient"
)

// normal writes the distribution function of the standard normal and the
// inverse Mills ratio, which share their polynomial.
func (v isa) normal() {
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
		log2e, end := v.constant(math.Log2E), v.constant(tailEnd)
		return func(x vector) vector {
			a, sum := v.vec(), v.vec()
			v.andBits(signBit-1, x, a)
			v.addK(coefficient.Center, a, sum)
			clamp(a, nil, v.constant(1e300)) // the rounding error of infinity is NaN
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
			zero := v.vec()
			v.zero(zero)
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
