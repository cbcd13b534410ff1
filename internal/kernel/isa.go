package kernel

import "unsafe"

// ISA is an instruction set a Pool can compute with. A wider one is faster;
// results differ between them in the last bits only.
type ISA int

const (
	PureGo ISA = iota // no assembly: any processor, or build tag purego
	AVX2              // AVX2 with fused multiply-add
	AVX512            // AVX-512 F, DQ, BW and VL
)

func (s ISA) String() string { return [...]string{"Go", "AVX2", "AVX512"}[s] }

// detected is the widest instruction set that the processor has and the
// operating system saves. GODEBUG=cpu.avx512f=off (or cpu.avx2=off) narrows it.
var detected = detect()

// Detected returns the instruction set that New chooses.
func Detected() ISA { return detected }

// float is a storage type of packed matrices.
type float interface{ float32 | float64 }

// micro is the set of micro-kernels for one instruction set and storage type.
// All packed operands hold the rows of the summed index one after the other: a
// panel of width nr, a strip of width mr. Element (k, j) of a panel is b[k*nr+j].
type micro[T float] struct {
	mr, nr int
	// tile computes C = alpha A B, plus C if add is not zero: a strip of A,
	// its rows lda elements apart, and a panel of B of depth kc, C mr×nr with
	// row stride ldc. A strip of its own has lda = mr; mr columns of a panel are
	// one with lda = nr.
	tile func(kc int, alpha float64, a *T, lda int, b *T, c *float64, ldc int, add int)
	// narrow are tiles of two thirds and one third of a panel's width, from
	// where b and c point: for the diagonal of symmetric products and the last panel. Nil means none.
	narrow [2]func(kc int, alpha float64, a *T, lda int, b *T, c *float64, ldc int, add int)
	// panel and strip copy kc full rows of a matrix with ld elements a row;
	// strip multiplies row k by w[k] unless w is nil.
	panel func(kc int, src *T, ld int, dst *T)
	strip func(kc int, src *T, ld int, w *T, dst *T)
	// flip transposes flipRows rows of kc elements into kc rows, width
	// elements apart; kc must be a multiple of flipRows. Nil means none.
	flip     func(kc int, src *T, ld int, dst *T, width int)
	flipRows int
	// solve overwrites a packed mr×nr tile C with T⁻ᵀC, solveBack with T⁻¹C,
	// T the upper triangle of a packed mr×mr tile with reciprocals on its
	// diagonal. float64 only.
	solve, solveBack func(tri, c *T)
}

// aligned returns a slice of n zeros that starts on a cache line, so that no
// vector of a packed panel straddles two.
func aligned[T float](n int) []T {
	size := int(unsafe.Sizeof(T(0)))
	x := make([]T, n+64/size)
	skip := 0
	if r := int(uintptr(unsafe.Pointer(unsafe.SliceData(x))) & 63); r != 0 {
		skip = (64 - r) / size
	}
	return x[skip : skip+n : skip+n]
}

// tilePart computes the columns of a tile from one up to another, and maybe some beside them in thirds of a panel:
// those on and right of the diagonal, and those inside C.
func (m *micro[T]) tilePart(from, to, kc int, alpha float64, a *T, lda int, b *T, c *float64, ldc int, add int) {
	third := m.nr / 3
	if m.narrow[0] == nil || to-from/third*third > 2*third {
		m.tile(kc, alpha, a, lda, b, c, ldc, add)
		return
	}
	first, last := from/third, (to+third-1)/third
	from = first * third
	m.narrow[2-(last-first)](kc, alpha, a, lda, &unsafe.Slice(b, m.nr)[from], &unsafe.Slice(c, m.nr)[from], ldc, add)
}
