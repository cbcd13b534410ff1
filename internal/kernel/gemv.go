package kernel

// Gemv reads A once, at the speed of memory. Without transposition a row is one
// Dot; with it, blocks of rows are added up apart and their sums in order. The
// blocks depend on n alone, so the bits do not depend on the workers.
const (
	gemvBlock = 1 << 15 // elements of A in a block
	gemvWave  = 8       // blocks whose partial sums are kept at once
)

// inMemory is how many elements of a matrix no cache holds.
const inMemory = 1 << 22

// streaming is the instruction set for sums of so many elements. From memory AVX-512 reads 22 to 30 GB/s and AVX2,
// with the same bits, 42 to 45 (Zen 5; on Zen 4 18 and 30): from caches it is the faster by a quarter.
func streaming(isa ISA, elements int) ISA {
	if isa == AVX512 && elements >= inMemory {
		return AVX2
	}
	return isa
}

// gemv is a matrix-vector product in work.
type gemv struct {
	pool        *Pool
	m, n, rows  int // shape of A, rows of a block
	first       int // first block of the wave
	alpha, beta float64
	a, x, y     []float64
	lda         int
	partial     []float64
	isa         ISA                 // of dots
	dots, sums  func(t, worker int) // bound once
}

func (p *Pool) gemvs() *gemv {
	if p.gemv == nil {
		p.gemv = &gemv{pool: p}
		p.gemv.dots = p.gemv.dotRows
		p.gemv.sums = p.gemv.sumRows
	}
	return p.gemv
}

// Gemv computes y = alpha A x + beta y, or y = alpha Aᵀ x + beta y, where A is
// m×n. With beta 0, y is overwritten and never read. x and y must not overlap.
func (p *Pool) Gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x []float64, beta float64, y []float64) {
	need("Gemv A", a, m, n, lda)
	inner, outer := n, m
	if trans {
		inner, outer = m, n
	}
	need("Gemv x", x, 1, inner, inner)
	need("Gemv y", y, 1, outer, outer)
	if inner == 0 || alpha == 0 {
		scaleBy(beta, y[:outer])
		return
	}
	if outer == 0 {
		return
	}
	g := p.gemvs()
	g.m, g.n, g.rows = m, n, max(16, up(gemvBlock/n, 16))
	g.alpha, g.beta, g.a, g.lda, g.x, g.y = alpha, beta, a, lda, x[:inner], y[:outer]
	blocks := (m + g.rows - 1) / g.rows
	if !trans {
		g.isa = streaming(p.isa, m*n)
		p.Run(blocks, g.dots)
	} else {
		g.partial = grow(g.partial, n*min(blocks, gemvWave))
		for g.first = 0; g.first < blocks; g.first += gemvWave {
			count := min(gemvWave, blocks-g.first)
			p.Run(count, g.sums)
			total := g.partial[:n]
			for b := 1; b < count; b++ {
				axpyOn(p.isa, 1, g.partial[b*n:(b+1)*n], total)
			}
			if g.first == 0 {
				scaleBy(beta, g.y)
			}
			axpyOn(p.isa, alpha, total, g.y)
		}
	}
	g.a, g.x, g.y = nil, nil, nil
}

// dotRows computes a block of y = alpha A x + beta y.
func (g *gemv) dotRows(t, _ int) {
	for i := t * g.rows; i < min(g.m, (t+1)*g.rows); i++ {
		v := g.alpha * dotOn(g.isa, g.a[i*g.lda:i*g.lda+g.n], g.x)
		if g.beta != 0 {
			v += g.beta * g.y[i]
		}
		g.y[i] = v
	}
}

// sumRows stores Aᵀx over a block of rows in its partial sum.
func (g *gemv) sumRows(t, _ int) {
	s := g.partial[t*g.n : (t+1)*g.n]
	clear(s)
	i := (g.first + t) * g.rows
	last := min(g.m, i+g.rows)
	for ; i+4 <= last; i += 4 {
		axpy4On(g.pool.isa, g.x[i:i+4], g.a[i*g.lda:], g.lda, s)
	}
	for ; i < last; i++ {
		axpyOn(g.pool.isa, g.x[i], g.a[i*g.lda:i*g.lda+g.n], s)
	}
}
