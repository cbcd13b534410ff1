package kernel

// The triangular kernels cut the matrix into blocks of side rows. Within a
// block everything is packed as for a product, in panels of right-hand sides
// and strips of the triangle, so that nearly all arithmetic is the product's
// micro-kernel and only tiles of mr×mr are substituted; between blocks it is
// Gemm and Gram. side is a multiple of every panel width and at most depth.
const side = 240

// triangle is a packed diagonal block of U and the panels that are being
// solved with it.
type triangle struct {
	pool  *Pool
	grid  *grid[float64]
	kb    int       // rows of the block
	back  bool      // solving with U, from the last row; else with Uᵀ, from the first
	strip []float64 // strip s is at s*mr*side: the part of U left of (back: right of) its triangle
	tri   []float64 // the triangles, reciprocals on the diagonal
	panel [][]float64

	// The block of U that is being packed.
	u   []float64
	ldu int

	// The right-hand sides of the block: m columns of B, or rows if right.
	right bool
	m     int
	b     []float64
	ldb   int
	unit  int // last columns of B that are those of an identity matrix

	// Of SolvedSquares: what the elements of a right-hand side are multiplied by, and what is wanted of its solution.
	scales, squares []float64
	rows            [][]float64 // per worker, the solutions of a panel

	runLoad, runSolve func(t, worker int) // bound once

	block []float64 // a block row, for CholeskyInverse
}

func (p *Pool) triangles() *triangle {
	if p.triangle == nil {
		g := p.float64s()
		t := &triangle{pool: p, grid: g, panel: make([][]float64, p.threads), rows: make([][]float64, p.threads)}
		t.runLoad, t.runSolve = t.loadStrip, t.solvePanel
		p.triangle = t
	}
	return p.triangle
}

// reserve makes room for blocks of kb rows: those of few rows are most that a program of small fits has.
func (t *triangle) reserve(kb int) {
	rows := up(kb, t.grid.mr)
	t.strip, t.tri = grow(t.strip, rows*side), grow(t.tri, rows*t.grid.mr)
	for w := range t.panel {
		t.panel[w] = grow(t.panel[w], rows*t.grid.nr)
	}
}

// load packs the upper triangle of the kb×kb block at u, to be used from the
// first row or, if back, from the last.
func (t *triangle) load(back bool, kb int, u []float64, ldu int) {
	t.kb, t.back, t.u, t.ldu = kb, back, u, ldu
	t.reserve(kb)
	strips := (kb + t.grid.mr - 1) / t.grid.mr
	if t.pool.awake > 0 {
		t.pool.Run(strips, t.runLoad)
	} else { // too little to wake them
		for i := range strips {
			t.runLoad(i, 0)
		}
	}
	t.u = nil
}

// loadStrip packs strip s and its triangle.
func (t *triangle) loadStrip(s, _ int) {
	g, u, ldu, kb := t.grid, t.u, t.ldu, t.kb
	mr := g.mr
	i := s * mr
	m := min(mr, kb-i)
	strip := t.strip[i*side:]
	switch {
	case t.back:
		if k := i + mr; k < kb {
			g.packRows(kb-k, m, u[i*ldu+k:], ldu, strip[:(kb-k)*mr], mr)
		}
	case i == 0:
	case m == mr:
		g.strip(i, &u[i], ldu, nil, &strip[0])
	default:
		packColsGo(i, m, u[i:], ldu, strip, mr)
	}
	tri := t.tri[i*mr : (i+mr)*mr]
	clear(tri)
	for r := range mr {
		if r >= m {
			tri[r*mr+r] = 1
			continue
		}
		row := u[(i+r)*ldu+i : (i+r)*ldu+i+m]
		tri[r*mr+r] = 1 / row[r]
		copy(tri[r*mr+r+1:(r+1)*mr], row[r+1:])
	}
}

// solve runs the packed block over m right-hand sides: the columns of b
// (kb×m), the last of which, unit, are those of an identity matrix, or its rows (m×kb).
func (t *triangle) solve(right bool, m, unit int, b []float64, ldb int) {
	t.right, t.m, t.unit, t.b, t.ldb = right, m, unit, b, ldb
	panels := (m + t.grid.nr - 1) / t.grid.nr
	if t.kb*t.kb*m < 1<<18 {
		for i := range panels {
			t.runSolve(i, 0)
		}
	} else {
		t.pool.Run(panels, t.runSolve)
	}
	t.b = nil
}

// solvePanel solves one panel of nr right-hand sides.
func (t *triangle) solvePanel(i, worker int) {
	g := t.grid
	panel := t.panel[worker]
	j := i * g.nr
	n := min(g.nr, t.m-j)
	if t.right {
		g.packRows(t.kb, n, t.b[j*t.ldb:], t.ldb, panel, g.nr)
	} else {
		g.packCols(t.kb, n, t.b[j:], t.ldb, panel)
	}
	clear(panel[t.kb*g.nr : up(t.kb, g.mr)*g.nr])
	if t.squares != nil {
		t.square(panel, j, n, worker)
		return
	}
	t.substitute(panel, max(0, j+t.unit-t.m)/g.mr)
	if t.right {
		g.transpose(n, t.kb, panel, g.nr, t.b[j*t.ldb:], t.ldb)
		return
	}
	for k := range t.kb {
		copy(t.b[k*t.ldb+j:k*t.ldb+j+n], panel[k*g.nr:k*g.nr+n])
	}
}

// substitute solves a packed panel in place. Its first strips, so many, hold zeros, which are passed over; if
// back, there are none.
func (t *triangle) substitute(panel []float64, zeros int) {
	g := t.grid
	mr, nr := g.mr, g.nr
	strips := (t.kb + mr - 1) / mr
	for s := zeros; s < strips; s++ {
		if !t.back {
			i, from := s*mr, zeros*mr
			if i > from {
				g.tile(i-from, -1, &t.strip[i*side+from*mr], mr, &panel[from*nr], &panel[i*nr], nr, 1)
			}
			g.micro.solve(&t.tri[i*mr], &panel[i*nr])
			continue
		}
		i := (strips - 1 - s) * mr
		if k := i + mr; k < t.kb {
			g.tile(t.kb-k, -1, &t.strip[i*side], mr, &panel[k*nr], &panel[i*nr], nr, 1)
		}
		g.micro.solveBack(&t.tri[i*mr], &panel[i*nr])
	}
}

// vectorSolves is the number of right-hand sides up to which solving them one
// by one, each a pass over U at the speed of memory, beats packing.
const vectorSolves = 2

// TrsmLeft computes B := U⁻¹B, or U⁻ᵀB if trans, where U is upper triangular
// n×n and B is n×m. The strict lower triangle of U is not read.
func (p *Pool) TrsmLeft(trans bool, n, m int, u []float64, ldu int, b []float64, ldb int) {
	need("TrsmLeft U", u, n, n, ldu)
	need("TrsmLeft B", b, n, m, ldb)
	if n == 0 || m == 0 {
		return
	}
	if m <= vectorSolves {
		t := p.triangles()
		t.block = grow(t.block, n)
		x := t.block[:n]
		for j := range m {
			for i := range x {
				x[i] = b[i*ldb+j]
			}
			solveVector(trans, n, u, ldu, x)
			for i, v := range x {
				b[i*ldb+j] = v
			}
		}
		return
	}
	t := p.triangles()
	p.hold()
	defer p.release()
	for s := 0; s < n; s += side {
		k := s
		if !trans {
			k = (n - 1 - s) / side * side
		}
		kb := min(side, n-k)
		t.load(!trans, kb, u[k*ldu+k:], ldu)
		t.solve(false, m, 0, b[k*ldb:], ldb)
		if trans {
			if rest := k + kb; rest < n {
				p.Gemm(true, false, n-rest, m, kb, -1, u[k*ldu+rest:], ldu, b[k*ldb:], ldb, 1, b[rest*ldb:], ldb)
			}
		} else if k > 0 {
			p.Gemm(false, false, k, m, kb, -1, u[k:], ldu, b[k*ldb:], ldb, 1, b, ldb)
		}
	}
}

// TrsmRight computes B := B U⁻¹, or B U⁻ᵀ if trans, where U is upper
// triangular n×n and B is m×n. The strict lower triangle of U is not read.
func (p *Pool) TrsmRight(trans bool, m, n int, u []float64, ldu int, b []float64, ldb int) {
	need("TrsmRight U", u, n, n, ldu)
	need("TrsmRight B", b, m, n, ldb)
	if n == 0 || m == 0 {
		return
	}
	if m <= vectorSolves {
		// x U⁻¹ is the row (U⁻ᵀ xᵀ)ᵀ.
		for i := range m {
			solveVector(!trans, n, u, ldu, b[i*ldb:i*ldb+n])
		}
		return
	}
	t := p.triangles()
	p.hold()
	defer p.release()
	for s := 0; s < n; s += side {
		k := s
		if trans {
			k = (n - 1 - s) / side * side
		}
		kb := min(side, n-k)
		t.load(trans, kb, u[k*ldu+k:], ldu)
		t.solve(true, m, 0, b[k:], ldb)
		if !trans {
			if rest := k + kb; rest < n {
				p.Gemm(false, false, m, n-rest, kb, -1, b[k:], ldb, u[k*ldu+rest:], ldu, 1, b[rest:], ldb)
			}
		} else if k > 0 {
			p.Gemm(false, true, m, k, kb, -1, b[k:], ldb, u[k:], ldu, 1, b, ldb)
		}
	}
}

// solveVector overwrites x with U⁻¹x or U⁻ᵀx, reading U once along its rows.
func solveVector(trans bool, n int, u []float64, ldu int, x []float64) {
	if trans {
		for i := range n {
			row := u[i*ldu+i : i*ldu+n]
			x[i] /= row[0]
			Axpy(-x[i], row[1:], x[i+1:n])
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		row := u[i*ldu+i : i*ldu+n]
		x[i] = (x[i] - Dot(row[1:], x[i+1:n])) / row[0]
	}
}
