//go:build ignore

// Command gen writes the amd64 assembly of package kernel and its Go stubs.
// It is run by go generate, one file set at a time, with the module file of
// the tools so that importers do not inherit the generator's dependencies.
package main

import (
	"flag"
	"log"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// masks is the table of tail masks of the level 1 kernels.
var masks operand.Mem

// isa writes the same kernel for one vector width.
type isa struct {
	wide bool // AVX-512, else AVX2 with FMA
}

// name distinguishes the two versions of a kernel.
func (v isa) name(s string) string {
	if v.wide {
		return s + "AVX512"
	}
	return s + "AVX2"
}

// bytes is the width of a vector.
func (v isa) bytes() int {
	if v.wide {
		return 64
	}
	return 32
}

// lanes is the number of float64 in a vector.
func (v isa) lanes() int { return v.bytes() / 8 }

// vec is a new vector register.
func (v isa) vec() reg.VecVirtual {
	if v.wide {
		return build.ZMM()
	}
	return build.YMM()
}

// half is a new register of half the width.
func (v isa) half() reg.VecVirtual {
	if v.wide {
		return build.YMM()
	}
	return build.XMM()
}

// zero clears a register.
func (v isa) zero(r reg.VecVirtual) {
	if v.wide {
		build.VPXORQ(r, r, r)
	} else {
		build.VXORPD(r, r, r)
	}
}

// text opens a function. No kernel keeps its pointer arguments.
func (v isa) text(name, signature, doc string) {
	build.TEXT(v.name(name), attr.NOSPLIT, signature)
	build.Doc(v.name(name) + " " + doc)
	build.Pragma("noescape")
}

func at(base reg.Register, disp int) operand.Mem { return operand.Mem{Base: base, Disp: disp} }

func imm(n int) operand.Constant { return operand.U32(uint32(n)) }

// argument is the stack slot of a parameter.
func argument(name string) operand.Mem {
	b, err := build.Param(name).Resolve()
	if err != nil {
		log.Fatal(err)
	}
	return b.Addr
}

func done() {
	build.VZEROUPPER()
	build.RET()
}

func main() {
	set := flag.String("set", "", "which kernels to write: product, level1 or elementwise")
	flag.Parse()
	build.ConstraintExpr("!purego")
	if *set == "level1" {
		masks = tailMasks()
	}
	for _, v := range []isa{{wide: true}, {wide: false}} {
		switch *set {
		case "product":
			v.product()
		case "level1":
			v.level1()
		case "elementwise":
			v.elementwise()
		default:
			log.Fatalf("gen: unknown set %q", *set)
		}
	}
	build.Generate()
}
