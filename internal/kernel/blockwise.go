package kernel

// A small C has few tiles: a stage of together is then as short as the time that workers take to meet. Where the summed
// index has blocks enough, the tasks are whole blocks.
const (
	smallMost    = 1 << 16 // elements of C
	partialsMost = 1 << 20 // elements of the sums of blocks that are kept until they are added: 8 MB
)

// blockwise multiplies blocks of the summed index by themselves.
type blockwise[T float] struct {
	workers    []*grid[T] // each runs a block alone
	sums       []float64  // of blocks from first on, one C behind the other
	first, end int
	multiply   func(i, worker int) // bound once
	add        func(row, worker int)
}

// byBlocks says whether each block of the summed index is one task. Alpha is 1 or -1: the rounding of a tile that is
// added to C at once is then that of a tile that is stored and added.
func (g *grid[T]) byBlocks() bool {
	return g.pool.threads > 1 && g.m*g.n*g.k > leastWork && g.rows == g.m && g.cols == g.n && g.m*g.n <= smallMost && g.blocks >= 2*g.pool.threads &&
		g.packed == nil && !g.triangular && !g.lower && (g.alpha == 1 || g.alpha == -1)
}

// sumByBlocks runs a product on all workers, each of which multiplies whole blocks of the summed index. The sums of
// blocks are added to C in their order, so that its bits are those of one worker.
func (g *grid[T]) sumByBlocks() {
	a := &g.blockwise
	if a.workers == nil {
		for range g.pool.threads {
			a.workers = append(a.workers, newGrid(&Pool{threads: 1}, g.micro))
		}
		a.multiply, a.add = g.multiplyBlock, g.addBlocks
	}
	together := min(g.blocks, partialsMost/(g.m*g.n))
	a.sums = grow(a.sums, together*g.m*g.n)
	g.pool.hold()
	defer g.pool.release()
	for a.first = 0; a.first < g.blocks; a.first = a.end {
		a.end = min(g.blocks, a.first+together)
		g.pool.Run(a.end-a.first, a.multiply)
		g.pool.Run(g.m, a.add)
	}
}

// multiplyBlock stores the product of block first+i of the summed index.
func (g *grid[T]) multiplyBlock(i, worker int) {
	q := g.product
	k0 := (g.blockwise.first + i) * depth
	q.k = min(depth, g.k-k0)
	if q.transA {
		q.a = q.a[k0*q.lda:]
	} else {
		q.a = q.a[k0:]
	}
	if q.transB {
		q.b = q.b[k0:]
	} else {
		q.b = q.b[k0*q.ldb:]
	}
	if q.w != nil {
		q.w = q.w[k0:]
	}
	q.beta, q.c, q.ldc = 0, g.blockwise.sums[i*g.m*g.n:(i+1)*g.m*g.n], g.n
	g.blockwise.workers[worker].multiply(q)
}

// addBlocks adds a row of the sums of blocks to C.
func (g *grid[T]) addBlocks(row, _ int) {
	from := 0
	if g.upper {
		from = row
	}
	c := g.c[row*g.ldc+from : row*g.ldc+g.n]
	for s := g.blockwise.first; s < g.blockwise.end; s++ {
		sum := g.blockwise.sums[(s-g.blockwise.first)*g.m*g.n+row*g.n:][from:g.n]
		switch {
		case s > 0 || g.beta == 1:
			Axpy(1, sum, c)
		case g.beta == 0:
			copy(c, sum)
		default:
			Scale(g.beta, c)
			Axpy(1, sum, c)
		}
	}
}
