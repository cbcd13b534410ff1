package kernel

// Packed is the right-hand side of products, in the order in which the tile
// reads it: packing it once serves many products with other left-hand sides. It
// belongs to the memory it was packed in and to pools of one instruction set.
type Packed[T float] struct {
	isa   ISA
	k, n  int
	width int // n in whole panels
	data  []T
}

// PackedLen is the number of elements that a packed k×n matrix takes.
func (p *Pool) PackedLen(k, n int) int { return k * up(n, p.float64s().nr) }

// PackedLen32 is PackedLen for float32 storage.
func (p *Pool) PackedLen32(k, n int) int { return k * up(n, p.float32s().nr) }

// Pack packs B, k×n, into dst, of at least PackedLen(k, n) elements. B may lie
// in dst if its first row starts within the first ldb elements; B is then
// overwritten, and nothing else beyond PackedLen(k, n).
func (p *Pool) Pack(k, n int, b []float64, ldb int, dst []float64) Packed[float64] {
	need("Pack B", b, k, n, ldb)
	return p.float64s().pack(k, n, b, ldb, dst)
}

// Pack32 is Pack for float32 storage, with PackedLen32.
func (p *Pool) Pack32(k, n int, b []float32, ldb int, dst []float32) Packed[float32] {
	need("Pack32 B", b, k, n, ldb)
	return p.float32s().pack(k, n, b, ldb, dst)
}

func (g *grid[T]) pack(k, n int, b []T, ldb int, dst []T) Packed[T] {
	width := up(n, g.nr)
	if len(dst) < k*width {
		panic("kernel: Pack dst: slice is shorter than PackedLen")
	}
	q := Packed[T]{isa: g.pool.isa, k: k, n: n, width: width, data: dst[:k*width]}
	if k == 0 || n == 0 {
		return q
	}
	// A block of the summed index is packed aside and copied. Its place begins
	// before the rows of the next block if the panels are no wider than the rows
	// of B, and ends after those of the block before if they are: so in one
	// order or the other no block overwrites rows that are still to be packed.
	g.panels[0] = grow(g.panels[0], min(depth, k)*width)
	aside := g.panels[0]
	blocks, panels := (k+depth-1)/depth, width/g.nr
	for s := range blocks {
		if width > ldb {
			s = blocks - 1 - s
		}
		k0 := s * depth
		kc := min(depth, k-k0)
		pack := func(t, _ int) {
			j := t * g.nr
			g.packCols(kc, min(g.nr, n-j), b[k0*ldb+j:], ldb, aside[j*kc:(j+g.nr)*kc])
		}
		place := func(t, _ int) {
			from, to := t*g.nr*kc, (t+1)*g.nr*kc
			copy(q.data[k0*width+from:k0*width+to], aside[from:to])
		}
		g.pool.Run(panels, pack)
		g.pool.Run(panels, place)
	}
	return q
}

// GemmPacked computes C = alpha op(A) B + beta C for a packed B, k×n, where
// op(A) is m×k and C is m×n: the same bits as Gemm.
func (p *Pool) GemmPacked(transA bool, m int, alpha float64, a []float64, lda int, b Packed[float64], beta float64, c []float64, ldc int) {
	p.float64s().times(transA, m, alpha, a, lda, b, beta, c, ldc)
}

// GemmPacked32 is GemmPacked for operands stored as float32. Products and the sums of a block of 256 terms are float32
// as well; the blocks are added in float64, so the relative error of an element is about 1e-6 of Σ|ab|, whatever k.
func (p *Pool) GemmPacked32(transA bool, m int, alpha float64, a []float32, lda int, b Packed[float32], beta float64, c []float64, ldc int) {
	p.float32s().times(transA, m, alpha, a, lda, b, beta, c, ldc)
}

func (g *grid[T]) times(transA bool, m int, alpha float64, a []T, lda int, b Packed[T], beta float64, c []float64, ldc int) {
	if transA {
		need("GemmPacked A", a, b.k, m, lda)
	} else {
		need("GemmPacked A", a, m, b.k, lda)
	}
	need("GemmPacked C", c, m, b.n, ldc)
	if b.isa != g.pool.isa {
		panic("kernel: GemmPacked B: packed for another instruction set")
	}
	g.multiply(product[T]{
		transA: transA, m: m, n: b.n, k: b.k, alpha: alpha,
		a: a, lda: lda, packed: b.data, width: b.width, beta: beta, c: c, ldc: ldc,
	})
}
