package kernel

import "math"

// Cholesky factors A = UᵀU in place. Only the upper triangle is read and
// written. If A is not positive definite (or holds NaN) it returns the index
// of the failing pivot and false, and the triangle is left partly overwritten.
func (p *Pool) Cholesky(n int, a []float64, lda int) (pivot int, ok bool) {
	need("Cholesky A", a, n, n, lda)
	if n == 0 {
		return 0, true
	}
	t := p.triangles()
	for k := 0; k < n; k += side {
		kb := min(side, n-k)
		if pivot := t.factor(kb, a[k*lda+k:], lda); pivot < kb {
			return k + pivot, false
		}
		rest := k + kb
		if rest == n {
			break
		}
		t.solve(false, n-rest, a[k*lda+rest:], lda)
		p.float64s().multiply(product[float64]{
			transA: true, upper: true, same: true, m: n - rest, n: n - rest, k: kb, alpha: -1,
			a: a[k*lda+rest:], lda: lda, b: a[k*lda+rest:], ldb: lda, beta: 1, c: a[rest*lda+rest:], ldc: lda,
		})
	}
	return n, true
}

// factor is Cholesky of one block of kb ≤ side rows, and leaves its packed
// triangle for solve. It returns the failing pivot, or kb. The block is packed
// in panels; each strip of mr rows in turn is brought up to date by the rows
// above it (the product's tile), its triangle is factored, and the rows to the
// right are solved with it.
func (t *triangle) factor(kb int, a []float64, lda int) int {
	g := t.grid
	mr, nr := g.mr, g.nr
	t.kb, t.back = kb, false
	t.block = grow(t.block, side*up(kb, nr))
	panel := func(j int) []float64 { return t.block[j*side : (j+nr)*side] }
	rows := up(kb, mr)
	for j := 0; j < kb; j += nr {
		x := panel(j)
		for k := range rows {
			row := x[k*nr : k*nr+nr]
			clear(row)
			if k < kb && k < j+nr {
				from, to := max(k, j), min(kb, j+nr)
				if from < to {
					copy(row[from-j:], a[k*lda+from:k*lda+to])
				}
			}
			if k >= kb && k >= j && k < j+nr {
				row[k-j] = 1
			}
		}
	}
	for i := 0; i < kb; i += mr {
		first := i / nr * nr // the panel that holds the strip's triangle
		diagonal := panel(first)
		strip, tri := t.strip[i*side:], t.tri[i*mr:(i+mr)*mr]
		if i > 0 {
			g.strip(i, &diagonal[i-first], nr, nil, &strip[0])
			for j := first; j < kb; j += nr {
				x := panel(j)
				g.tile(i, -1, &strip[0], &x[0], &x[i*nr], nr, 1)
			}
		}
		for r := range mr {
			copy(tri[r*mr:(r+1)*mr], diagonal[(i+r)*nr+i-first:])
		}
		var root [8]float64
		if bad := factorTile(mr, tri, &root); bad < mr {
			return min(i+bad, kb-1)
		}
		for j := first; j < kb; j += nr {
			g.micro.solve(&tri[0], &panel(j)[i*nr])
		}
		// What the last step left below the diagonal is not part of U, and
		// the diagonal came from a rounded reciprocal.
		for r := range mr {
			row := diagonal[(i+r)*nr : (i+r+1)*nr]
			clear(row[:i-first+r])
			row[i-first+r] = root[r]
		}
	}
	for j := 0; j < kb; j += nr {
		x := panel(j)
		for k := range min(kb, j+nr) {
			from, to := max(k, j), min(kb, j+nr)
			copy(a[k*lda+from:k*lda+to], x[k*nr+from-j:])
		}
	}
	return kb
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

// CholeskyInverse stores the full symmetric C = (UᵀU)⁻¹, where U is upper
// triangular n×n. C must not overlap U. W = U⁻ᵀ is formed in the lower
// triangle of C, and WᵀW, added up by blocks of rows of W, in the upper: n³/3
// multiply-adds in all, and no second matrix.
func (p *Pool) CholeskyInverse(n int, u []float64, ldu int, c []float64, ldc int) {
	need("CholeskyInverse U", u, n, n, ldu)
	need("CholeskyInverse C", c, n, n, ldc)
	if n == 0 {
		return
	}
	for i := range n {
		row := c[i*ldc : i*ldc+n]
		clear(row)
		row[i] = 1
	}
	t := p.triangles()
	for k := 0; k < n; k += side {
		kb := min(side, n-k)
		rest := k + kb
		t.load(false, kb, u[k*ldu+k:], ldu)
		t.solve(false, rest, c[k*ldc:], ldc)
		if rest < n {
			p.Gemm(true, false, n-rest, rest, kb, -1, u[k*ldu+rest:], ldu, c[k*ldc:], ldc, 1, c[rest*ldc:], ldc)
		}
	}
	t.block = grow(t.block, side*n)
	for k := 0; k < n; k += side {
		kb := min(side, n-k)
		rest := k + kb
		w := t.block[:kb*rest]
		for i := range kb {
			row := c[(k+i)*ldc : (k+i)*ldc+rest]
			copy(w[i*rest:(i+1)*rest], row)
			clear(row[k+i:])
		}
		p.Gram(kb, rest, w, rest, nil, c, ldc)
	}
	Symmetrize(n, c, ldc)
}

// Symmetrize copies the upper triangle of A (n×n) to the lower.
func Symmetrize(n int, a []float64, lda int) {
	need("Symmetrize A", a, n, n, lda)
	const tile = 16 // both sides of a tile stay in cache
	for i0 := 0; i0 < n; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(n, i0+tile); i++ {
				row := a[i*lda : i*lda+i]
				for j := j0; j < min(i, j0+tile); j++ {
					row[j] = a[j*lda+i]
				}
			}
		}
	}
}
