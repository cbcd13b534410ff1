package kernel

import "math"

// rightPanel solves a panel right of the diagonal block, at column col of A,
// writes it back and leaves it packed, with its strips.
func (f *factorisation) rightPanel(col int) {
	g := f.grid
	nr := g.nr
	top, bottom := f.start[f.row], f.start[f.row+1]
	kb, n := bottom-top, min(nr, f.n-col)
	buffer := f.buffer(f.row)
	x := g.panels[buffer][col*side : (col+nr)*side]
	a := f.a[top*f.lda+col:]
	g.packCols(kb, n, a, f.lda, x)
	if !f.solve(kb, x) {
		return
	}
	for k := range kb {
		copy(a[k*f.lda:k*f.lda+n], x[k*nr:])
	}
	for q := 0; q < n; q += g.mr {
		g.micro.strip(kb, &x[q], nr, nil, &g.strips[buffer][(col+q)*side])
	}
}

// diagonalPanel factors the panel of the diagonal block at its column above,
// as long as what is above its own triangle.
func (f *factorisation) diagonalPanel(above int) {
	g := f.grid
	mr, nr := g.mr, g.nr
	top := f.start[f.row]
	n, rows := min(nr, f.n-top-above), min(nr+above, f.start[f.row+1]-top)
	col := top + above
	x := g.panels[f.buffer(f.row)][col*side : (col+nr)*side]
	a := f.a[top*f.lda+col:]
	if above > 0 {
		g.packCols(above, n, a, f.lda, x)
	}
	// What the last block row lacks in whole tiles is part of an identity.
	for k := above; k < up(rows, mr); k++ {
		row := x[k*nr : (k+1)*nr]
		clear(row)
		if k < rows {
			copy(row[k-above:], a[k*f.lda+k-above:k*f.lda+n])
		} else {
			row[k-above] = 1
		}
	}
	if !f.solve(above, x) {
		return
	}
	for i := above; i < rows; i += mr {
		if bad := f.triangleStep(i, i-above, x); bad < mr {
			f.pivot.CompareAndSwap(int64(f.n), int64(min(top+i+bad, f.n-1)))
			return
		}
	}
	f.ready.Store(int64(col + nr))
	for k := range rows {
		from := max(k-above, 0)
		copy(a[k*f.lda+from:k*f.lda+n], x[k*nr+from:])
	}
}

// solve solves the first rows of a packed panel, of the block row in work,
// when they are ready. It returns false if they will not be, after a failure.
func (f *factorisation) solve(rows int, x []float64) bool {
	top := f.start[f.row]
	for i := 0; i < rows; i += f.grid.mr {
		for spin := 0; f.ready.Load() < int64(top+i+f.grid.mr); spin++ {
			if int(f.pivot.Load()) < f.n || f.pool.failed.Load() != nil {
				return false
			}
			pause(spin)
		}
		f.step(i, x)
	}
	return true
}

// step solves rows i to i+mr of a packed panel by the rows above.
func (f *factorisation) step(i int, x []float64) {
	g := f.grid
	if i > 0 {
		g.tile(i, -1, &f.strip[i*side], g.mr, &x[0], &x[i*g.nr], g.nr, 1)
	}
	g.micro.solve(&f.tri[i*g.mr], &x[i*g.nr])
}

// triangleStep is step for the rows whose triangle is in the panel, at column d:
// their strip and triangle are formed first. It returns the failing pivot of
// the triangle, or mr.
func (f *factorisation) triangleStep(i, d int, x []float64) int {
	g := f.grid
	mr, nr := g.mr, g.nr
	if i > 0 {
		g.micro.strip(i, &x[d], nr, nil, &f.strip[i*side])
		g.tilePart(d, nr, i, -1, &f.strip[i*side], mr, &x[0], &x[i*nr], nr, 1)
	}
	tri := f.tri[i*mr : (i+mr)*mr]
	for r := range mr {
		copy(tri[r*mr:(r+1)*mr], x[(i+r)*nr+d:])
	}
	var root [8]float64
	if bad := factorTile(mr, tri, &root); bad < mr {
		return bad
	}
	g.micro.solve(&tri[0], &x[i*nr])
	// What the last step left below the diagonal is not part of U, and the
	// diagonal came from a rounded reciprocal.
	for r := range mr {
		row := x[(i+r)*nr : (i+r+1)*nr]
		clear(row[:d+r])
		row[d+r] = root[r]
	}
	return mr
}

// factorTile overwrites the upper triangle of an m×m tile with its Cholesky
// factor, reciprocals on the diagonal, zeros below; root holds the diagonal
// itself. It returns the failing pivot, or m.
func factorTile(m int, tile []float64, root *[8]float64) int {
	for i := range m {
		row := tile[i*m : (i+1)*m]
		d := row[i]
		if !(d > 0) || d > math.MaxFloat64 {
			return i
		}
		root[i] = math.Sqrt(d)
		d = 1 / root[i]
		clear(row[:i])
		row[i] = d
		for j := i + 1; j < m; j++ {
			row[j] *= d
		}
		for r := i + 1; r < m; r++ {
			below := tile[r*m : (r+1)*m]
			u := row[r]
			for j := r; j < m; j++ {
				below[j] -= u * row[j]
			}
		}
	}
	return m
}
