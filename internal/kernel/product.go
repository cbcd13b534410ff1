package kernel

import "math"

// Every matrix product is one blocked loop (Goto & van de Geijn 2008, "Anatomy
// of high-performance matrix multiplication"): the summed index is cut into
// blocks of depth rows, the operands of a block are packed into panels and
// strips, and C is updated tile by tile. An element of C is therefore the sum,
// in order, of one chain of multiply-adds per block: a bit pattern that depends
// on neither the tile it falls in, nor the number of workers, nor the order in
// which they took the tiles. The error of a sum of k terms grows with
// depth + k/depth, not with k.
const (
	depth       = 256     // length of a block of the summed index
	sideMax     = 4080    // largest block of rows or columns of C: bounds the buffers to 8 MB each
	tilesOfTask = 32      // least tiles that one task covers, if it can
	leastWork   = 1 << 19 // multiply-adds that workers share
	rowChunk    = 384     // most rows of C that one task covers: their strips stay in the second-level cache
)

// product is C = alpha op(A) diag(w) op(B) + beta C.
type product[T float] struct {
	transA, transB bool
	upper          bool // only the upper triangle of C is computed
	triangular     bool // op(B) is the last n columns of an upper triangular matrix of k rows
	lower          bool // op(B) is the last k rows of a lower triangular matrix of n columns; k at most depth
	same           bool // op(A)ᵀ and op(B) are the same matrix
	m, n, k        int
	alpha          float64
	a              []T
	lda            int
	b              []T
	ldb            int
	packed         []T // op(B) in panels, instead of b; see Packed
	width          int // of a row of packed
	w              []float64
	beta           float64
	c              []float64
	ldc            int
}

// grid holds the packing buffers of one storage type and the block in work.
type grid[T float] struct {
	*micro[T]
	pool   *Pool
	strips [2][]T      // packed op(A), one for each of two successive blocks
	panels [2][]T      // packed op(B)
	edge   [][]float64 // per worker, a tile of C that is partly outside
	weight [][]T       // per worker, the weights of a block

	product[T]
	i0, j0, rows, cols int  // the block of C
	fromPanels         bool // the tiles read op(A) from the panels
	panelTasks         int  // tasks that pack panels of a block of the summed index
	packTasks          int  // tasks that pack anything of it
	sumTasks           int  // tasks that add one
	panelCount         int  // panels in the block
	rowChunks          int
	chunkRows          int // rows of a chunk but the last
	panelsPerChunk     int
	columnChunks       int
	blocks             int // blocks of the summed index

	// The tasks of a stage in shares, one for each worker.
	stage     int
	shares    []int               // where the tasks of each worker begin, and the end
	columnsOf []int               // column chunks, likewise; see share
	run       func(t, worker int) // g.stageTask, bound once

	blockwise blockwise[T]
}

func newGrid[T float](p *Pool, k *micro[T]) *grid[T] {
	g := &grid[T]{micro: k, pool: p}
	g.edge = make([][]float64, p.threads)
	g.weight = make([][]T, p.threads)
	for w := range g.edge {
		g.edge[w] = aligned[float64](k.mr * k.nr)
		g.weight[w] = aligned[T](depth)
	}
	g.shares, g.columnsOf = make([]int, p.threads+1), make([]int, p.threads+1)
	g.run = g.stageTask
	return g
}

func grow[T float](x []T, n int) []T {
	if len(x) >= n {
		return x
	}
	return aligned[T](n)
}

func up(n, unit int) int { return (n + unit - 1) / unit * unit }

// multiply computes the product in blocks of C of at most sideMax.
func (g *grid[T]) multiply(q product[T]) {
	if q.m == 0 || q.n == 0 {
		return
	}
	if q.k == 0 || q.alpha == 0 {
		for i := range q.m {
			from := 0
			if q.upper {
				from = i
			}
			scaleBy(q.beta, q.c[i*q.ldc+from:i*q.ldc+q.n])
		}
		return
	}
	g.product = q
	g.same = q.same && q.n <= sideMax
	for j := 0; j < q.n; j += sideMax {
		for i := 0; i < q.m; i += sideMax {
			g.j0, g.cols = j, min(sideMax, q.n-j)
			g.i0, g.rows = i, min(sideMax, q.m-i)
			if !q.upper || i < j+g.cols {
				g.block()
			}
		}
	}
	g.product = product[T]{}
}

// block runs the blocks of the summed index over one block of C.
func (g *grid[T]) block() {
	g.blocks = (g.k + depth - 1) / depth
	if g.byBlocks() {
		g.sumByBlocks()
		return
	}
	kc := min(depth, g.k)
	g.panelCount = (g.cols + g.nr - 1) / g.nr
	g.fromPanels = g.same && g.w == nil
	stripGroups := (g.rows + g.nr - 1) / g.nr
	g.panelTasks = g.panelCount
	if g.packed != nil {
		g.panelTasks = 0
	}
	g.packTasks = g.panelTasks
	if !g.same {
		g.packTasks += stripGroups
	}
	buffers := 1
	work := g.rows * g.cols * min(g.k, 4*depth)
	parallel := g.pool.threads > 1 && work > leastWork
	if parallel {
		buffers = 2
	}
	for s := range buffers {
		if !g.fromPanels {
			g.strips[s] = grow(g.strips[s], stripGroups*g.nr*kc)
		}
		g.panels[s] = grow(g.panels[s], g.panelTasks*g.nr*kc)
	}
	g.rowChunks = (g.rows + rowChunk - 1) / rowChunk
	g.chunkRows = up((g.rows+g.rowChunks-1)/g.rowChunks, g.mr)
	g.panelsPerChunk = g.panelCount
	if parallel {
		// Short tasks let the workers end a stage together; some tens of tiles
		// take long enough to hide what a task costs.
		g.panelsPerChunk = min(g.panelCount, max(1, tilesOfTask*g.mr/g.chunkRows))
	}
	g.columnChunks = (g.panelCount + g.panelsPerChunk - 1) / g.panelsPerChunk
	g.sumTasks = g.rowChunks * g.columnChunks
	if parallel {
		g.together()
		return
	}
	for s := range g.blocks {
		for t := range g.panelTasks {
			g.packPanel(s, 0, t, 0)
		}
		for t := range g.packTasks - g.panelTasks {
			g.packStrips(s, 0, t, 0)
		}
		for t := range g.sumTasks {
			g.tiles(s, 0, t/g.columnChunks, t%g.columnChunks, 0)
		}
	}
}

// together runs a product on all workers. Stage s adds block s-1 of the summed
// index and packs block s, in two alternating buffers; packing comes last,
// because its short tasks let the workers end a stage together.
func (g *grid[T]) together() {
	g.share()
	g.pool.hold()
	defer g.pool.release()
	for s := range g.blocks + 1 {
		g.stage = s
		g.pool.runShares(g.shares, g.run)
	}
}

// share divides the tasks of a stage among the workers: a range of columns of
// C, which is then in the same cache at every stage, and a range of what is to
// be packed. If there are few columns it is a range of rows.
func (g *grid[T]) share() {
	workers := g.pool.threads
	for w := range g.columnsOf {
		part := float64(w) / float64(workers)
		if g.upper {
			part = math.Sqrt(part) // a column is as long as its index
		}
		g.columnsOf[w] = int(part*float64(g.columnChunks) + 0.5)
		g.shares[w] = g.sumsBefore(w) + w*g.panelTasks/workers + w*(g.packTasks-g.panelTasks)/workers
	}
}

// byRows tells whether the workers share the rows of C, not the columns.
func (g *grid[T]) byRows() bool { return g.columnChunks < 4*g.pool.threads }

// sumsBefore is the number of tasks that add in the shares before that of worker w.
func (g *grid[T]) sumsBefore(w int) int {
	if g.byRows() {
		return w * g.sumTasks / g.pool.threads
	}
	return g.columnsOf[w] * g.rowChunks
}

// stageTask is one task of a stage: those of a share add, pack panels, and
// pack strips.
func (g *grid[T]) stageTask(t, worker int) {
	s, workers := g.stage, g.pool.threads
	w := 0
	for t >= g.shares[w+1] {
		w++
	}
	t -= g.shares[w]
	sums := g.sumsBefore(w+1) - g.sumsBefore(w)
	if t < sums {
		switch {
		case s == 0:
		case g.byRows():
			t += g.sumsBefore(w)
			g.tiles(s-1, (s-1)&1, t/g.columnChunks, t%g.columnChunks, worker)
		default:
			width := g.columnsOf[w+1] - g.columnsOf[w]
			g.tiles(s-1, (s-1)&1, t/width, g.columnsOf[w]+t%width, worker)
		}
		return
	}
	if s == g.blocks {
		return
	}
	t -= sums
	first, panels := w*g.panelTasks/workers, (w+1)*g.panelTasks/workers-w*g.panelTasks/workers
	if t < panels {
		g.packPanel(s, s&1, first+t, worker)
	} else {
		g.packStrips(s, s&1, w*(g.packTasks-g.panelTasks)/workers+t-panels, worker)
	}
}

// tiles adds a rectangle of tiles of block s: a chunk of rows by one of panels.
// Successive tasks are of the same rows: their strips stay in the cache, and the
// panels pass by once.
func (g *grid[T]) tiles(s, buffer, rowChunkIndex, chunk, worker int) {
	k0 := s * depth
	kc := min(depth, g.k-k0)
	first := rowChunkIndex * g.chunkRows
	last := min(g.rows, first+g.chunkRows)
	panels := g.panels[buffer]
	if g.packed != nil {
		panels = g.packed[k0*g.width+g.j0*kc:]
	}
	for t := chunk * g.panelsPerChunk; t < min(g.panelCount, (chunk+1)*g.panelsPerChunk); t++ {
		j := t * g.nr
		n := min(g.nr, g.cols-j)
		used := kc
		if g.triangular {
			if used = g.above(k0, kc, j+n); used == 0 {
				continue
			}
		}
		from := 0
		if g.lower {
			from = max(0, g.j0+j+g.k-g.n)
			used -= from
		}
		b := &panels[j*kc+from*g.nr]
		for i := first; i < last; i += g.mr {
			if g.upper && g.i0+i >= g.j0+j+n {
				break
			}
			a, lda := g.left(buffer, kc, from, i)
			g.addTile(s == 0, used, i, j, min(g.mr, g.rows-i), n, a, lda, b, worker)
		}
	}
}

// above is how many of the kc rows from k0 on of a triangular op(B) reach the columns before column end of the block.
func (g *grid[T]) above(k0, kc, end int) int { return min(kc, max(0, g.k-g.n+g.j0+end-k0)) }

// left is where the tiles of row i of the block read op(A), from a summed index on, and the elements
// between its rows there.
func (g *grid[T]) left(buffer, kc, from, i int) (*T, int) {
	if g.fromPanels {
		q := i % g.nr
		return &g.panels[buffer][(i-q)*kc+q+from*g.nr], g.nr
	}
	return &g.strips[buffer][i*kc+from*g.mr], g.mr
}

// addTile adds one tile at (i, j) of the block; m×n of it lie inside C. The
// first block of the summed index applies beta.
func (g *grid[T]) addTile(start bool, kc, i, j, m, n int, a *T, lda int, b *T, worker int) {
	row, col := g.i0+i, g.j0+j
	c := g.c[row*g.ldc+col:]
	add := 1
	if start && g.beta != 1 {
		if g.beta == 0 {
			add = 0
		} else {
			for r := range m {
				from := g.first(row+r, col, n)
				Scale(g.beta, c[r*g.ldc+from:r*g.ldc+n])
			}
		}
	}
	if m == g.mr && n == g.nr && (!g.upper || row+g.mr-1 <= col) {
		g.tile(kc, g.alpha, a, lda, b, &c[0], g.ldc, add)
		return
	}
	edge := g.edge[worker]
	if add != 0 {
		for r := range m {
			from := g.first(row+r, col, n)
			copy(edge[r*g.nr+from:r*g.nr+n], c[r*g.ldc+from:r*g.ldc+n])
		}
	}
	skip := 0
	if g.upper {
		skip = max(row-col, 0)
	}
	g.tilePart(skip, n, kc, g.alpha, a, lda, b, &edge[0], g.nr, add)
	for r := range m {
		from := g.first(row+r, col, n)
		copy(c[r*g.ldc+from:r*g.ldc+n], edge[r*g.nr+from:r*g.nr+n])
	}
}

// first is the first column of a tile's row that belongs to C, at most n.
func (g *grid[T]) first(row, col, n int) int {
	if !g.upper {
		return 0
	}
	return min(max(row-col, 0), n)
}
