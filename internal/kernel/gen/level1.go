//go:build ignore

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// reductionLanes is the number of partial sums of Dot and Sum. Both vector
// widths keep the same ones and add them in the same order, so the bits agree.
const reductionLanes = 32

func (v isa) level1() {
	v.reduce("dot", true)
	v.reduce("sum", false)
	v.axpy("axpy", 1)
	v.axpy("axpy4", 4)
	v.gather()
	v.scaleVector()
	v.butterfly("butterfly", 2)
	v.butterfly("butterfly4", 4)
	if !v.wide {
		v.rowSums()
	}
}

// rowSums writes the products of eight rows with a vector, each sum in the order of its elements: eight that wait for
// their last multiply-add keep both units of a processor busy, and need no more than scalars.
func (v isa) rowSums() {
	const rows, unroll = 8, 4
	v.text("rowSums", "func(n int, x *float64, rows **float64, sums *float64)", "stores the sums of n products of x with each of eight rows, in the order of the elements.")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	table := Load(Param("rows"), GP64())
	var row [rows]reg.Register
	var sum [rows]reg.VecVirtual
	for r := range row {
		row[r] = GP64()
		MOVQ(at(table, 8*r), row[r])
		sum[r] = XMM()
		VXORPD(sum[r], sum[r], sum[r])
	}
	i := GP64()
	XORQ(i, i)
	add := func(u int) {
		one := XMM()
		VMOVSD(Mem{Base: x, Index: i, Scale: 8, Disp: 8 * u}, one)
		for r := range row {
			VFMADD231SD(Mem{Base: row[r], Index: i, Scale: 8, Disp: 8 * u}, one, sum[r])
		}
	}
	SUBQ(imm(unroll), n)
	Label("loop")
	CMPQ(i, n)
	JG(LabelRef("tail"))
	for u := range unroll {
		add(u)
	}
	ADDQ(imm(unroll), i)
	JMP(LabelRef("loop"))
	Label("tail")
	ADDQ(imm(unroll), n)
	Label("single")
	CMPQ(i, n)
	JGE(LabelRef("end"))
	add(0)
	INCQ(i)
	JMP(LabelRef("single"))
	Label("end")
	Load(Param("sums"), table)
	for r := range sum {
		VMOVSD(sum[r].AsX(), at(table, 8*r))
	}
	done()
}

// gather adds multiples of rows that stand anywhere to as many values as fit in few registers, in the order of the
// rows: the bits are those of as many calls of axpy.
func (v isa) gather() {
	v.text("gather", "func(n int, alpha *float64, index *int32, x *float64, ld int, y *float64)",
		"adds the sum of alpha[k], or 1 for a nil alpha, times row index[k] of x, ld values apart, of n rows to 16 values of y.")
	n := Load(Param("n"), GP64())
	alpha := Load(Param("alpha"), GP64())
	index := Load(Param("index"), GP64())
	x := Load(Param("x"), GP64())
	ld := Load(Param("ld"), GP64())
	y := Load(Param("y"), GP64())
	SHLQ(Imm(3), ld)
	acc := make([]reg.VecVirtual, gathered/v.lanes())
	for j := range acc {
		acc[j] = v.vec()
		VMOVUPD(at(y, j*v.bytes()), acc[j])
	}
	weight, one, k, row := v.vec(), GP64(), GP64(), GP64()
	MOVQ(U64(0x3ff0000000000000), one) // 1.0
	first := XMM()
	MOVQ(one, first)
	VBROADCASTSD(first, weight)
	XORQ(k, k)
	Label("loop")
	CMPQ(k, n)
	JGE(LabelRef("end"))
	MOVLQSX(Mem{Base: index, Index: k, Scale: 4}, row)
	IMULQ(ld, row)
	ADDQ(x, row)
	TESTQ(alpha, alpha)
	JZ(LabelRef("add"))
	VBROADCASTSD(Mem{Base: alpha, Index: k, Scale: 8}, weight)
	Label("add")
	for j := range acc {
		VFMADD231PD(at(row, j*v.bytes()), weight, acc[j])
	}
	INCQ(k)
	JMP(LabelRef("loop"))
	Label("end")
	for j := range acc {
		VMOVUPD(acc[j], at(y, j*v.bytes()))
	}
	done()
}

// gathered is the number of values of a row that gather takes.
const gathered = 16

// scaleVector multiplies a vector by a number.
func (v isa) scaleVector() {
	v.text("scale", "func(n int, alpha *float64, x *float64)", "multiplies n values of x by alpha[0].")
	n := Load(Param("n"), GP64())
	alpha := Load(Param("alpha"), GP64())
	x := Load(Param("x"), GP64())
	weight := v.vec()
	VBROADCASTSD(at(alpha, 0), weight)
	v.each(n, []reg.Register{x}, x, func(load func(reg.Register) reg.VecVirtual) reg.VecVirtual {
		t := load(x)
		VMULPD(weight, t, t)
		return t
	})
}

// each writes a loop over n values that stores in dst what one computes, and
// moves all pointers on.
func (v isa) each(n reg.Register, pointers []reg.Register, dst reg.Register, one func(load func(reg.Register) reg.VecVirtual) reg.VecVirtual) {
	const unroll = 2
	vb, block := v.bytes(), unroll*v.lanes()
	Label("loop")
	CMPQ(n, imm(block))
	JL(LabelRef("tail"))
	for u := range unroll {
		t := one(func(p reg.Register) reg.VecVirtual {
			x := v.vec()
			VMOVUPD(at(p, u*vb), x)
			return x
		})
		VMOVUPD(t, at(dst, u*vb))
	}
	for _, p := range pointers {
		ADDQ(imm(8*block), p)
	}
	SUBQ(imm(block), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	load, store := v.tail(n, unroll)
	for u := range unroll {
		store(one(func(p reg.Register) reg.VecVirtual { return load(p, u) }), dst, u)
	}
	Label("end")
	done()
}

// tailMasks is a table of which any window of 32 words starting 32-r words in
// begins with r words of ones.
func tailMasks() Mem {
	m := GLOBL("tailMasks", 8|16)
	for i := range 2 * reductionLanes {
		ones := uint64(0)
		if i < reductionLanes {
			ones = ^ones
		}
		DATA(8*i, U64(ones))
	}
	return m
}

// masked loads the j-th vector of the last r < 32 values at p, zeros beyond.
type masked func(p reg.Register, j int) reg.VecVirtual

// tail prepares masked loads and stores for n values.
func (v isa) tail(n reg.Register, vectors int) (load masked, store func(x reg.VecVirtual, p reg.Register, j int)) {
	if v.wide {
		bits := GP64()
		XORQ(bits, bits)
		BTSQ(n, bits)
		DECQ(bits)
		k := make([]reg.OpmaskVirtual, vectors)
		for j := range k {
			k[j] = K()
			KMOVQ(bits, k[j])
			if j < vectors-1 {
				SHRQ(Imm(8), bits)
			}
		}
		load = func(p reg.Register, j int) reg.VecVirtual {
			x := v.vec()
			VMOVUPD_Z(at(p, 64*j), k[j], x)
			return x
		}
		store = func(x reg.VecVirtual, p reg.Register, j int) { VMOVUPD(x, k[j], at(p, 64*j)) }
		return load, store
	}
	table := GP64()
	LEAQ(masks, table)
	skip := GP64()
	MOVQ(U32(reductionLanes), skip)
	SUBQ(n, skip)
	LEAQ(Mem{Base: table, Index: skip, Scale: 8}, table)
	mask := func(j int) reg.VecVirtual {
		m := v.vec()
		VMOVUPD(at(table, 32*j), m)
		return m
	}
	load = func(p reg.Register, j int) reg.VecVirtual {
		x := v.vec()
		VMASKMOVPD(at(p, 32*j), mask(j), x)
		return x
	}
	store = func(x reg.VecVirtual, p reg.Register, j int) { VMASKMOVPD(x, mask(j), at(p, 32*j)) }
	return load, store
}

// reduce writes Dot, or Sum without the second operand.
func (v isa) reduce(name string, dot bool) {
	signature, doc := "func(n int, x *float64) float64", "is the sum of n values in 32 interleaved partial sums."
	if dot {
		signature, doc = "func(n int, x, y *float64) float64", "is the inner product of n values in 32 interleaved partial sums."
	}
	v.text(name, signature, doc)
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	var y reg.Register
	if dot {
		y = Load(Param("y"), GP64())
	}
	vb := v.bytes()
	vectors := reductionLanes / v.lanes()
	acc := make([]reg.VecVirtual, vectors)
	for j := range acc {
		acc[j] = v.vec()
		v.zero(acc[j])
	}
	Label("loop")
	CMPQ(n, imm(reductionLanes))
	JL(LabelRef("tail"))
	for j := range acc {
		if !dot {
			VADDPD(at(x, j*vb), acc[j], acc[j])
			continue
		}
		t := v.vec()
		VMOVUPD(at(x, j*vb), t)
		VFMADD231PD(at(y, j*vb), t, acc[j])
	}
	ADDQ(imm(8*reductionLanes), x)
	if dot {
		ADDQ(imm(8*reductionLanes), y)
	}
	SUBQ(imm(reductionLanes), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("fold"))
	load, _ := v.tail(n, vectors)
	for j := range acc {
		t := load(x, j)
		if dot {
			VFMADD231PD(load(y, j), t, acc[j])
		} else {
			VADDPD(t, acc[j], acc[j])
		}
	}
	Label("fold")
	// Lanes l, l+8, l+16, l+24 first, then halves.
	var quad reg.VecVirtual
	if v.wide {
		VADDPD(acc[1], acc[0], acc[0])
		VADDPD(acc[3], acc[2], acc[2])
		VADDPD(acc[2], acc[0], acc[0])
		high := YMM()
		VEXTRACTF64X4(Imm(1), acc[0], high)
		VADDPD(high, acc[0].AsY(), high)
		quad = high
	} else {
		for h := range 2 {
			VADDPD(acc[2+h], acc[h], acc[h])
			VADDPD(acc[6+h], acc[4+h], acc[4+h])
			VADDPD(acc[4+h], acc[h], acc[h])
		}
		VADDPD(acc[1], acc[0], acc[0])
		quad = acc[0]
	}
	pair := XMM()
	VEXTRACTF128(Imm(1), quad.AsY(), pair)
	VADDPD(pair, quad.AsX(), pair)
	single := XMM()
	VUNPCKHPD(pair, pair, single)
	VADDSD(single, pair, pair)
	Store(pair, ReturnIndex(0))
	done()
}

// axpy adds rows multiples of consecutive rows to y, in the order of the rows:
// the bits are those of as many single calls.
func (v isa) axpy(name string, rows int) {
	if rows == 1 {
		v.text(name, "func(n int, alpha *float64, x *float64, y *float64)", "adds alpha[0] x to y.")
	} else {
		v.text(name, "func(n int, alpha *float64, x *float64, ld int, y *float64)", "adds the sum of alpha[r] times row r of x, ld values apart, to y.")
	}
	n := Load(Param("n"), GP64())
	alpha := Load(Param("alpha"), GP64())
	x := []reg.Register{Load(Param("x"), GP64())}
	var ld reg.Register
	if rows > 1 {
		ld = Load(Param("ld"), GP64())
	}
	y := Load(Param("y"), GP64())
	for len(x) < rows {
		next := GP64()
		LEAQ(Mem{Base: x[len(x)-1], Index: ld, Scale: 8}, next)
		x = append(x, next)
	}
	weight := make([]reg.VecVirtual, rows)
	for r := range weight {
		weight[r] = v.vec()
		VBROADCASTSD(at(alpha, 8*r), weight[r])
	}
	vb := v.bytes()
	const unroll = 2
	block := unroll * v.lanes()
	Label("loop")
	CMPQ(n, imm(block))
	JL(LabelRef("tail"))
	for u := range unroll {
		t := v.vec()
		VMOVUPD(at(y, u*vb), t)
		for r := range x {
			VFMADD231PD(at(x[r], u*vb), weight[r], t)
		}
		VMOVUPD(t, at(y, u*vb))
	}
	for _, p := range append(x, y) {
		ADDQ(imm(8*block), p)
	}
	SUBQ(imm(block), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	load, store := v.tail(n, unroll)
	for u := range unroll {
		t := load(y, u)
		for r := range x {
			VFMADD231PD(load(x[r], u), weight[r], t)
		}
		store(t, y, u)
	}
	Label("end")
	done()
}

// butterfly multiplies rows of n values, ld apart, by the Hadamard matrix of their number, in the order of additions of
// one step after the other.
func (v isa) butterfly(name string, rows int) {
	v.text(name, "func(n int, x *float64, ld int)", "multiplies rows of n values, ld values apart, by the Hadamard matrix of their number.")
	n := Load(Param("n"), GP64())
	x := []reg.Register{Load(Param("x"), GP64())}
	ld := Load(Param("ld"), GP64())
	for len(x) < rows {
		next := GP64()
		LEAQ(Mem{Base: x[len(x)-1], Index: ld, Scale: 8}, next)
		x = append(x, next)
	}
	turn := func(t []reg.VecVirtual) {
		for half := 1; half < rows; half *= 2 {
			for at := range t {
				if at&half == 0 {
					sum, difference := v.vec(), v.vec()
					VADDPD(t[at+half], t[at], sum)
					VSUBPD(t[at+half], t[at], difference)
					t[at], t[at+half] = sum, difference
				}
			}
		}
	}
	const unroll = 1
	Label("loop")
	CMPQ(n, imm(v.lanes()))
	JL(LabelRef("tail"))
	t := make([]reg.VecVirtual, rows)
	for r := range t {
		t[r] = v.vec()
		VMOVUPD(at(x[r], 0), t[r])
	}
	turn(t)
	for r := range t {
		VMOVUPD(t[r], at(x[r], 0))
	}
	for _, p := range x {
		ADDQ(imm(v.bytes()), p)
	}
	SUBQ(imm(v.lanes()), n)
	JMP(LabelRef("loop"))
	Label("tail")
	TESTQ(n, n)
	JZ(LabelRef("end"))
	load, store := v.tail(n, unroll)
	for r := range t {
		t[r] = load(x[r], 0)
	}
	turn(t)
	for r := range t {
		store(t[r], x[r], 0)
	}
	Label("end")
	done()
}
