package kernel

// packPanel packs nr columns of op(B), and the strips of op(A) with them if
// they are the same numbers times weights.
func (g *grid[T]) packPanel(s, buffer, t, worker int) {
	k0 := s * depth
	kc := min(depth, g.k-k0)
	j := t * g.nr
	panel := g.panels[buffer][j*kc : (j+g.nr)*kc]
	n := min(g.nr, g.cols-j)
	if g.triangular {
		if kc = g.above(k0, kc, j+n); kc == 0 {
			return
		}
	}
	if g.transB {
		g.packRows(kc, n, g.b[(g.j0+j)*g.ldb+k0:], g.ldb, panel, g.nr)
	} else {
		g.packCols(kc, n, g.b[k0*g.ldb+g.j0+j:], g.ldb, panel)
	}
	if !g.same || g.fromPanels {
		return
	}
	w := g.weights(k0, kc, worker)
	for q := 0; q < g.nr && j+q < g.rows; q += g.mr {
		g.strip(kc, &panel[q], g.nr, w, &g.strips[buffer][(j+q)*kc])
	}
}

// packStrips packs nr rows of op(A) as strips of mr.
func (g *grid[T]) packStrips(s, buffer, t, worker int) {
	k0 := s * depth
	kc := min(depth, g.k-k0)
	w := g.weights(k0, kc, worker)
	for q := 0; q < g.nr; q += g.mr {
		i := t*g.nr + q
		if i >= g.rows {
			return
		}
		strip := g.strips[buffer][i*kc : (i+g.mr)*kc]
		m := min(g.mr, g.rows-i)
		switch {
		case !g.transA:
			g.packRows(kc, m, g.a[(g.i0+i)*g.lda+k0:], g.lda, strip, g.mr)
			if w != nil {
				g.strip(kc, &strip[0], g.mr, w, &strip[0])
			}
		case m == g.mr:
			g.strip(kc, &g.a[k0*g.lda+g.i0+i], g.lda, w, &strip[0])
		default:
			packColsGo(kc, m, g.a[k0*g.lda+g.i0+i:], g.lda, strip, g.mr)
			if w != nil {
				g.strip(kc, &strip[0], g.mr, w, &strip[0])
			}
		}
	}
}

// weights are those of a block in the storage type, or nil.
func (g *grid[T]) weights(k0, kc, worker int) *T {
	if g.w == nil {
		return nil
	}
	dst := g.weight[worker]
	for k, v := range g.w[k0 : k0+kc] {
		dst[k] = T(v)
	}
	return &dst[0]
}

// packCols packs n ≤ nr columns of a block of kc rows as a panel.
func (g *grid[T]) packCols(kc, n int, src []T, ld int, dst []T) {
	if n == g.nr {
		g.panel(kc, &src[0], ld, &dst[0])
		return
	}
	packColsGo(kc, n, src, ld, dst, g.nr)
}

// packColsGo packs n columns in rows of width, filled with zeros.
func packColsGo[T float](kc, n int, src []T, ld int, dst []T, width int) {
	for k := range kc {
		row := dst[k*width : k*width+width]
		copy(row[:n], src[k*ld:k*ld+n])
		clear(row[n:])
	}
}

// packRows packs n rows of kc elements as columns of width, filled with zeros.
func (g *grid[T]) packRows(kc, n int, src []T, ld int, dst []T, width int) {
	g.transpose(kc, n, src, ld, dst, width)
	for r := n; r < width; r++ {
		for k := range kc {
			dst[k*width+r] = 0
		}
	}
}

// transpose stores n rows of kc elements as columns, in rows that begin width elements apart.
func (g *grid[T]) transpose(kc, n int, src []T, ld int, dst []T, width int) {
	done := 0
	if g.flip != nil {
		even := kc / g.flipRows * g.flipRows
		for ; even > 0 && done+g.flipRows <= n; done += g.flipRows {
			g.flip(even, &src[done*ld], ld, &dst[done], width)
			for k := even; k < kc; k++ {
				for r := range g.flipRows {
					dst[k*width+done+r] = src[(done+r)*ld+k]
				}
			}
		}
	}
	for r := done; r < n; r++ {
		for k, v := range src[r*ld : r*ld+kc] {
			dst[k*width+r] = v
		}
	}
}
