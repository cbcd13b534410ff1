//go:build !purego

package kernel

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go run -modfile=../../tools.mod gen/main.go gen/product.go -set product -out product_amd64.s -stubs product_amd64.go -pkg kernel

// detect relies on x/sys/cpu, which reports a feature only if the operating
// system saves the registers it needs (XCR0).
func detect() ISA {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasAVX2 && x.HasFMA:
		return AVX512
	case x.HasAVX2 && x.HasFMA:
		return AVX2
	}
	return PureGo
}

func micro64(s ISA) *micro[float64] {
	switch s {
	case AVX512:
		return &micro[float64]{
			mr: 8, nr: 24, tile: tile64AVX512, strip: copyStrip64AVX512, solve: solveAVX512, solveBack: solveBackAVX512,
			flip: flipAVX512, flipRows: 8,
			panel: func(kc int, src *float64, ld int, dst *float64) {
				copyWideAVX512(kc, (*byte)(unsafe.Pointer(src)), 8*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	case AVX2:
		return &micro[float64]{
			mr: 4, nr: 12, tile: tile64AVX2, strip: copyStrip64AVX2, solve: solveAVX2, solveBack: solveBackAVX2,
			flip: flipAVX2, flipRows: 4,
			panel: func(kc int, src *float64, ld int, dst *float64) {
				copyWideAVX2(kc, (*byte)(unsafe.Pointer(src)), 8*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	}
	return microGo[float64]()
}

func micro32(s ISA) *micro[float32] {
	switch s {
	case AVX512:
		return &micro[float32]{
			mr: 8, nr: 48, tile: tile32AVX512, strip: copyStrip32AVX512,
			panel: func(kc int, src *float32, ld int, dst *float32) {
				copyWideAVX512(kc, (*byte)(unsafe.Pointer(src)), 4*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	case AVX2:
		return &micro[float32]{
			mr: 4, nr: 24, tile: tile32AVX2, strip: copyStrip32AVX2,
			panel: func(kc int, src *float32, ld int, dst *float32) {
				copyWideAVX2(kc, (*byte)(unsafe.Pointer(src)), 4*ld, (*byte)(unsafe.Pointer(dst)))
			},
		}
	}
	return microGo[float32]()
}
