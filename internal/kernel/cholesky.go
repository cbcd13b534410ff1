package kernel

import (
	"math"
	"sync/atomic"
)

// factorisation is A = UᵀU in progress, by block rows of at most side rows. A
// block row is factored panel by panel, in the packed form that the tile reads.
// The panels of its diagonal block publish their strips and triangles mr rows at
// a time, and every panel further right takes each one when it is there: so the
// workers factor the diagonal block and solve with it at once. The block row is
// then subtracted from the next one, and after that from all below, while the
// next one is being factored: a worker that would wait for another has
// something to do (look-ahead).
type factorisation struct {
	*triangle
	n       int
	a       []float64
	lda     int
	workers int
	start   []int // the first row of each block row, and n
	row     int   // the block row in work

	// The tasks of a phase; see there.
	factor    bool
	from, to  int
	diagonals int
	cuts      []int               // the first panel of each worker, and the end
	bounds    []int               // the first task of each worker, and the end
	task      func(t, worker int) // f.work, bound once

	ready *line // rows of U whose strips and triangles are complete
	pivot atomic.Int64
}

// Cholesky factors A = UᵀU in place. Only the upper triangle is read and
// written. If A is not positive definite (or holds NaN) it returns the index
// of the failing pivot and false, and the triangle is left partly overwritten.
func (p *Pool) Cholesky(n int, a []float64, lda int) (pivot int, ok bool) {
	need("Cholesky A", a, n, n, lda)
	if n == 0 {
		return 0, true
	}
	if p.factor == nil {
		f := &factorisation{triangle: p.triangles(), ready: new(line)}
		f.task = f.work
		p.factor = f
	}
	pivot = p.factor.run(n, a, lda)
	return pivot, pivot == n
}

// run returns the failing pivot, or n.
func (f *factorisation) run(n int, a []float64, lda int) int {
	const alone = 320 // up to this size, waking a worker takes as long as it saves
	g, p := f.grid, f.pool
	f.n, f.a, f.lda = n, a, lda
	f.reserve(min(n, side))
	f.workers = 1
	if n > alone {
		f.workers = p.threads
	}
	f.start = blockRows(f.start[:0], n)
	f.ready.Store(0)
	f.pivot.Store(int64(n))
	g.product = product[float64]{upper: true, m: n, n: n, alpha: -1, beta: 1, c: a, ldc: lda}
	g.i0, g.j0, g.rows, g.cols = 0, 0, n, n
	for buffer := range min(f.workers, 2) {
		g.panels[buffer] = grow(g.panels[buffer], side*up(n, g.nr))
		g.strips[buffer] = grow(g.strips[buffer], side*up(n, g.nr))
	}
	p.hold()
	defer p.release()
	last := len(f.start) - 2
	for f.row = range last + 1 {
		behind := f.row // no rows
		if f.workers > 1 && f.row > 0 {
			behind = last
		}
		f.phase(true, f.row+1, behind)
		if int(f.pivot.Load()) < n || f.row == last {
			break
		}
		next := last
		if f.workers > 1 {
			next = f.row + 1
		}
		f.phase(false, f.row+1, next)
	}
	g.product = product[float64]{}
	f.a = nil
	return int(f.pivot.Load())
}

// blockRows appends the first row of each block row of an n×n matrix, and n.
// They are multiples of every panel width.
func blockRows(start []int, n int) []int {
	for at := 0; at < n; at += side {
		start = append(start, at)
	}
	return append(start, n)
}

// phase subtracts a block row from the block rows from..to. If factor is set,
// the block row in work is factored and the one before is subtracted; else it is
// the one in work. The first worker has the diagonal block, too.
func (f *factorisation) phase(factor bool, from, to int) {
	f.factor, f.from, f.to = factor, from, to
	f.diagonals = 0
	if factor {
		f.divide(f.start[f.row]) // as in the phase before
		f.diagonals = (f.start[f.row+1] - f.start[f.row] + f.grid.nr - 1) / f.grid.nr
	} else {
		f.divide(f.start[from])
	}
	f.bounds = append(f.bounds[:0], 0)
	for w := range f.workers {
		tasks := 0
		if w == 0 {
			tasks += f.diagonals
		}
		for row := from; row <= to; row++ {
			_, count := f.panels(w, row)
			tasks += count * f.parts(row)
		}
		if factor {
			_, count := f.panels(w, f.row+1)
			tasks += count
		}
		f.bounds = append(f.bounds, f.bounds[w]+tasks)
	}
	if f.workers > 1 {
		f.pool.runShares(f.bounds, f.task)
		return
	}
	for t := range f.bounds[1] {
		f.task(t, 0)
	}
}

// divide gives each worker a range of panels, with the same share of the
// triangle from column first on: cuts[w] is the first panel of worker w. What
// one worker packs or subtracts from, another then rarely needs.
func (f *factorisation) divide(first int) {
	panels := f.panel(f.n) - f.panel(first)
	f.cuts = append(f.cuts[:0], 0)
	for w := 1; w <= f.workers; w++ {
		part := math.Sqrt(float64(w) / float64(f.workers)) // a column is as long as its index
		f.cuts = append(f.cuts, f.panel(first)+int(part*float64(panels)+0.5))
	}
}

// panel is the number of panels to the left of a column where one begins, or of all.
func (f *factorisation) panel(column int) int { return (column + f.grid.nr - 1) / f.grid.nr }

// panels returns the first panel that worker w has of those from the diagonal
// of a block row to its end, and how many.
func (f *factorisation) panels(w, row int) (first, count int) {
	first = max(f.cuts[w], f.panel(f.start[row]))
	return first, max(f.cuts[w+1]-first, 0)
}

// part is the most rows of a panel that one task subtracts from.
const part = 80

func (f *factorisation) parts(row int) int {
	return (f.start[row+1] - f.start[row] + part - 1) / part
}

// work does task t of a phase. The tasks of a share are the diagonal block if
// it is the first one, what is to be subtracted, and panels that need the
// diagonal block.
func (f *factorisation) work(t, worker int) {
	w := 0
	for t >= f.bounds[w+1] {
		w++
	}
	t -= f.bounds[w]
	if w == 0 {
		if t < f.diagonals {
			f.diagonalPanel(t * f.grid.nr)
			return
		}
		t -= f.diagonals
	}
	for row := f.from; row <= f.to; row++ {
		parts := f.parts(row)
		first, count := f.panels(w, row)
		if t < count*parts {
			f.subtract(row, (first+t/parts)*f.grid.nr, t%parts, worker)
			return
		}
		t -= count * parts
	}
	first, _ := f.panels(w, f.row+1)
	f.rightPanel((first + t) * f.grid.nr)
}

// subtract subtracts from a part of the rows of a block row, in the panel at column j.
func (f *factorisation) subtract(row, j, t, worker int) {
	g := f.grid
	source := f.row
	if f.factor {
		source--
	}
	buffer := f.buffer(source)
	kb := f.start[source+1] - f.start[source]
	first, end := f.start[row], f.start[row+1]
	length := up((end-first+f.parts(row)-1)/f.parts(row), g.mr)
	from := first + t*length
	n := min(g.nr, f.n-j)
	for i := from; i < min(from+length, end, j+n); i += g.mr {
		g.addTile(false, kb, i, j, min(g.mr, f.n-i), n, &g.strips[buffer][i*side], g.mr, &g.panels[buffer][j*side], worker)
	}
}

// buffer is where a block row is packed: column j from j*side.
func (f *factorisation) buffer(row int) int {
	if f.workers > 1 {
		return row & 1
	}
	return 0
}
