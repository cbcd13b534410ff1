//go:build ignore

package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The register tile is rows × 3 vectors. With AVX-512 it is 8 rows, 24 of the
// 32 registers; with AVX2 it is 4 rows, 12 of the 16. Both need 11 (7) loads
// for 24 (12) fused multiply-adds, less than the two loads a cycle on offer.
const tileVectors = 3

func (v isa) tileRows() int { return v.lanes() }

func (v isa) product() {
	for width := tileVectors; width > 0; width-- {
		v.tile("tile64", 8, width)
		v.tile("tile32", 4, width)
	}
	v.copyPanel("copyWide", tileVectors*v.bytes(), 0)
	v.copyPanel("copyStrip64", 8*v.tileRows(), 8)
	v.copyPanel("copyStrip32", 4*v.tileRows(), 4)
	v.flip()
	v.solve(false)
	v.solve(true)
}

// tile writes the micro-kernel of all matrix products. The elements of a and b
// have size bytes; c is always float64. The tile is so many vectors wide: a narrow
// one is for the diagonal of a symmetric product and takes part of a panel.
func (v isa) tile(name string, size, width int) {
	element, mr, vb := "float64", v.tileRows(), v.bytes()
	if size == 4 {
		element = "float32"
	}
	doc := "computes C = alpha A B, plus C if add is not zero, over one strip, whose rows are lda elements apart, and one packed panel of depth kc."
	if width < tileVectors {
		name += fmt.Sprintf("By%d", width)
		doc = fmt.Sprintf("is %s for %d of the %d vectors of a panel's row.", v.name(strings.TrimSuffix(name, fmt.Sprintf("By%d", width))), width, tileVectors)
	}
	v.text(name, "func(kc int, alpha float64, a *"+element+", lda int, b *"+element+", c *float64, ldc int, add int)", doc)
	kc := Load(Param("kc"), GP64())
	a := Load(Param("a"), GP64())
	lda := Load(Param("lda"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	add := Load(Param("add"), GP64())
	SHLQ(Imm(3), ldc)
	if size == 8 {
		SHLQ(Imm(3), lda)
	} else {
		SHLQ(Imm(2), lda)
	}
	lda3 := GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	// left is element i of the strip's row u, counted from where a points.
	left := func(u, i int) Mem {
		m := at(a, i*size)
		switch u {
		case 1, 2:
			m.Index, m.Scale = lda, uint8(u)
		case 3:
			m.Index, m.Scale = lda3, 1
		}
		return m
	}

	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		acc[i] = make([]reg.VecVirtual, width)
		for j := range acc[i] {
			acc[i][j] = v.vec()
			v.zero(acc[i][j])
		}
	}
	bv := make([]reg.VecVirtual, width)
	for j := range bv {
		bv[j] = v.vec()
	}
	turn := []reg.VecVirtual{v.vec()}
	if v.wide {
		turn = append(turn, v.vec(), v.vec())
	}
	step := func(u int) {
		for j := range bv {
			if size == 8 {
				VMOVUPD(at(b, (u*tileVectors+j)*vb), bv[j])
			} else {
				VMOVUPS(at(b, (u*tileVectors+j)*vb), bv[j])
			}
		}
		for i := range acc {
			t := turn[i%len(turn)]
			if size == 8 {
				VBROADCASTSD(left(u, i), t)
			} else {
				VBROADCASTSS(left(u, i), t)
			}
			for j := range bv {
				if size == 8 {
					VFMADD231PD(t, bv[j], acc[i][j])
				} else {
					VFMADD231PS(t, bv[j], acc[i][j])
				}
			}
		}
	}
	const unroll = 4
	advance := func(u int) {
		if u == 1 {
			ADDQ(lda, a)
		} else {
			LEAQ(Mem{Base: a, Index: lda, Scale: uint8(u)}, a)
		}
		ADDQ(imm(u*tileVectors*vb), b)
		SUBQ(imm(u), kc)
	}
	// The tile of C is needed after the loop and asked for during its first
	// turns, one row a turn: all rows at once would fill the queue of missing
	// lines, and the loads of b would wait behind them. A row that does not start
	// on a line ends in one more.
	row, rows := GP64(), GP64()
	MOVQ(c, row)
	MOVQ(imm(mr), rows)
	var lines []int
	for d := 0; d < width*vb*8/size; d += 64 {
		lines = append(lines, d)
	}
	lines = append(lines, width*vb*8/size-8)
	Label("ask")
	CMPQ(kc, imm(unroll))
	JL(LabelRef("rest"))
	for u := range unroll {
		step(u)
		for l := u; l < len(lines); l += unroll {
			PREFETCHT0(at(row, lines[l]))
		}
	}
	advance(unroll)
	ADDQ(ldc, row)
	DECQ(rows)
	JNZ(LabelRef("ask"))
	Label("deep")
	CMPQ(kc, imm(unroll))
	JL(LabelRef("rest"))
	for u := range unroll {
		step(u)
	}
	advance(unroll)
	JMP(LabelRef("deep"))
	Label("rest")
	TESTQ(kc, kc)
	JZ(LabelRef("store"))
	step(0)
	advance(1)
	JMP(LabelRef("rest"))

	Label("store")
	VBROADCASTSD(argument("alpha"), turn[0])
	TESTQ(add, add)
	JZ(LabelRef("overwrite"))
	MOVQ(c, row)
	for len(bv) < 2 {
		bv = append(bv, v.vec())
	}
	v.storeTile(acc, turn[0], bv, row, ldc, size, true)
	JMP(LabelRef("end"))
	Label("overwrite")
	v.storeTile(acc, turn[0], bv, c, ldc, size, false)
	Label("end")
	done()
}

// storeTile writes alpha times the accumulators to C, or adds them.
func (v isa) storeTile(acc [][]reg.VecVirtual, alpha reg.VecVirtual, free []reg.VecVirtual, c, ldc reg.Register, size int, add bool) {
	vb := v.bytes()
	put := func(x reg.VecVirtual, disp int) {
		if add {
			VFMADD213PD(at(c, disp), alpha, x)
		} else {
			VMULPD(alpha, x, x)
		}
		VMOVUPD(x, at(c, disp))
	}
	for i := range acc {
		for j, x := range acc[i] {
			if size == 8 {
				put(x, j*vb)
				continue
			}
			// Widen the two halves of a float32 vector.
			low, high := free[0], free[1]
			if v.wide {
				VCVTPS2PD(x.AsY(), low)
				VEXTRACTF64X4(Imm(1), x, high.AsY())
				VCVTPS2PD(high.AsY(), high)
			} else {
				VCVTPS2PD(x.AsX(), low)
				VEXTRACTF128(Imm(1), x, high.AsX())
				VCVTPS2PD(high.AsX(), high)
			}
			put(low, 2*j*vb)
			put(high, (2*j+1)*vb)
		}
		if i < len(acc)-1 {
			ADDQ(ldc, c)
		}
	}
}

// copyPanel packs kc rows of width bytes each, contiguous in dst. With a
// weight size, row k is multiplied by w[k] unless w is nil.
func (v isa) copyPanel(name string, width, size int) {
	vb := v.bytes()
	half := width < vb
	vec := v.vec
	if half {
		vec, vb = v.half, vb/2
	}
	signature, doc := "func(kc int, src *byte, ld int, dst *byte)", "copies kc rows, ld bytes apart, one after the other."
	if size == 8 {
		signature, doc = "func(kc int, src *float64, ld int, w *float64, dst *float64)", "copies kc rows, ld elements apart, one after the other, each times its weight unless w is nil."
	} else if size == 4 {
		signature, doc = "func(kc int, src *float32, ld int, w *float32, dst *float32)", "is copyStrip64 for float32."
	}
	v.text(name, signature, doc)
	kc := Load(Param("kc"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	switch size {
	case 8:
		SHLQ(Imm(3), ld)
	case 4:
		SHLQ(Imm(2), ld)
	}
	TESTQ(kc, kc)
	JZ(LabelRef("end"))
	loop := func(label string, w reg.Register) {
		Label(label)
		weight := vec()
		switch {
		case w == nil:
		case size == 8:
			VBROADCASTSD(at(w, 0), weight)
		default:
			VBROADCASTSS(at(w, 0), weight)
		}
		for d := 0; d < width; d += vb {
			x := vec()
			switch {
			case w == nil:
				VMOVUPD(at(src, d), x)
			case size == 8:
				VMULPD(at(src, d), weight, x)
			default:
				VMULPS(at(src, d), weight, x)
			}
			VMOVUPD(x, at(dst, d))
		}
		if w != nil {
			ADDQ(imm(size), w)
		}
		ADDQ(ld, src)
		ADDQ(imm(width), dst)
		DECQ(kc)
		JNZ(LabelRef(label))
	}
	if size != 0 {
		w := Load(Param("w"), GP64())
		TESTQ(w, w)
		JZ(LabelRef("plain"))
		loop("weighted", w)
		JMP(LabelRef("end"))
	}
	loop("plain", nil)
	Label("end")
	done()
}

// flip packs tileRows rows of a row-major matrix as a strip: a transpose in
// registers. kc must be a multiple of the vector length.
func (v isa) flip() {
	v.text("flip", "func(kc int, src *float64, ld int, dst *float64, width int)",
		"transposes one vector's worth of rows, ld elements apart, into kc rows of dst, width elements apart.")
	kc := Load(Param("kc"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	dst := Load(Param("dst"), GP64())
	width := Load(Param("width"), GP64())
	SHLQ(Imm(3), ld)
	SHLQ(Imm(3), width)
	ld3 := GP64()
	LEAQ(Mem{Base: ld, Index: ld, Scale: 2}, ld3)
	lower := GP64()
	LEAQ(Mem{Base: src, Index: ld, Scale: 4}, lower)
	row := func(r int) Mem {
		base := src
		if r >= 4 {
			base = lower
		}
		switch r % 4 {
		case 1:
			return Mem{Base: base, Index: ld, Scale: 1}
		case 2:
			return Mem{Base: base, Index: ld, Scale: 2}
		case 3:
			return Mem{Base: base, Index: ld3, Scale: 1}
		}
		return Mem{Base: base}
	}
	lanes := v.lanes()
	Label("block")
	CMPQ(kc, imm(lanes))
	JL(LabelRef("end"))
	// Pairs of rows interleaved: even columns, then odd ones.
	even, odd := make([]reg.VecVirtual, lanes/2), make([]reg.VecVirtual, lanes/2)
	for i := range even {
		x, y := v.vec(), v.vec()
		even[i], odd[i] = v.vec(), v.vec()
		VMOVUPD(row(2*i), x)
		VMOVUPD(row(2*i+1), y)
		VUNPCKLPD(y, x, even[i])
		VUNPCKHPD(y, x, odd[i])
	}
	out := make([]reg.VecVirtual, lanes)
	for parity, t := range [][]reg.VecVirtual{even, odd} {
		if !v.wide {
			for q, code := range []uint8{0x20, 0x31} {
				out[parity+2*q] = v.vec()
				VPERM2F128(U8(code), t[1], t[0], out[parity+2*q])
			}
			continue
		}
		// A 4×4 transpose of 128-bit lanes in two rounds of even/odd picks.
		var s [2][2]reg.VecVirtual
		for q, code := range []uint8{0x88, 0xdd} {
			for h := range 2 {
				s[q][h] = v.vec()
				VSHUFF64X2(U8(code), t[2*h+1], t[2*h], s[q][h])
			}
		}
		for q := range 2 {
			for r, code := range []uint8{0x88, 0xdd} {
				column := parity + 2*q + 4*r
				out[column] = v.vec()
				VSHUFF64X2(U8(code), s[q][1], s[q][0], out[column])
			}
		}
	}
	for _, x := range out {
		VMOVUPD(x, at(dst, 0))
		ADDQ(width, dst)
	}
	ADDQ(imm(8*lanes), src)
	ADDQ(imm(8*lanes), lower)
	SUBQ(imm(lanes), kc)
	JMP(LabelRef("block"))
	Label("end")
	done()
}

// solve is the triangular part of the blocked solvers: one tile, in registers.
func (v isa) solve(back bool) {
	name, what := "solve", "T⁻ᵀC"
	if back {
		name, what = "solveBack", "T⁻¹C"
	}
	v.text(name, "func(tri, c *float64)",
		"overwrites the packed tile C with "+what+", T the upper triangle of a square tile whose diagonal holds reciprocals.")
	tri := Load(Param("tri"), GP64())
	c := Load(Param("c"), GP64())
	mr, vb := v.tileRows(), v.bytes()
	x := make([][]reg.VecVirtual, mr)
	for i := range x {
		for j := range tileVectors {
			x[i] = append(x[i], v.vec())
			VMOVUPD(at(c, (i*tileVectors+j)*vb), x[i][j])
		}
	}
	t := v.vec()
	for s := range x {
		i, step, end := s, 1, mr
		if back {
			i, step, end = mr-1-s, -1, -1
		}
		VBROADCASTSD(at(tri, 8*(i*mr+i)), t)
		for j := range x[i] {
			VMULPD(t, x[i][j], x[i][j])
			VMOVUPD(x[i][j], at(c, (i*tileVectors+j)*vb))
		}
		for r := i + step; r != end; r += step {
			VBROADCASTSD(at(tri, 8*(min(i, r)*mr+max(i, r))), t)
			for j := range x[i] {
				VFNMADD231PD(t, x[i][j], x[r][j])
			}
		}
	}
	done()
}
